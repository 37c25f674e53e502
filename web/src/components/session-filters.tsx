// What the list is narrowed by: which agent as chips, the rest as choices that the server counted.
import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import { count, countedAs, plural } from "../format";
import { icon } from "../icons";
import { useResource } from "../resource";
import { setQuery } from "../router";
import { filterNames, localDay, sinceDays, type Filters } from "../session-list";
import type { Facet, Facets } from "../types";
import { Chips, Icon, Select } from "./ui";

const periods: [string, string][] = [
  ["", "Any time"], ["day", "Since yesterday"], ["week", "Past week"], ["month", "Past month"],
  ["quarter", "Past 3 months"], ["year", "Past year"], ["between", "Custom range"],
];

// What is chosen is always among the choices, also before they came and when the server counts it no more.
function choices(all: string, facets: Facet[] | undefined, chosen: string | undefined): [string, string][] {
  const list = (facets ?? []).map((f): [string, string] => [f.name, `${f.title ?? f.name} (${count(f.sessions)})`]);
  if (chosen && !list.some(([name]) => name === chosen)) list.unshift([chosen, chosen]);
  return [["", all], ...list];
}

// A session that was continued counts once, with the agent that wrote it.
const continuedWords = (o: Facet): string | undefined =>
  o.continuing ? `${plural(o.continuing, "more continues another agent's session", "more continue other agents' sessions")}; counted there`
  : o.continued ? `${count(o.continued)} continued in Talaria` : undefined;

function Days({ filters }: { filters: Filters }): JSX.Element {
  const day = (name: "since" | "until", label: string): JSX.Element => (
    <label class="field">{label}
      <input type="date" value={filters[name] ?? ""} onChange={(e) => setQuery({ [name]: e.currentTarget.value || null })} />
    </label>
  );
  return <div class="days">{day("since", "From")}{day("until", "To")}</div>;
}

function Check({ name, filters, children }: { name: "archived" | "side_chains"; filters: Filters; children: string }): JSX.Element {
  return (
    <label class="check">
      <input type="checkbox" checked={Boolean(filters[name])} onChange={(e) => setQuery({ [name]: e.currentTarget.checked ? "1" : null })} />
      {children}
    </label>
  );
}

export function SessionFilters({ filters }: { filters: Filters }): JSX.Element {
  const { data, reload } = useResource<Facets>("/api/sessions/facets", ["snapshot"]);
  // What is still being read has more to offer soon.
  useEffect(() => {
    if (!data?.partial) return;
    const timer = setTimeout(reload, 2500);
    return () => clearTimeout(timer);
  }, [data, reload]);
  const set = filterNames.filter((n) => filters[n] && n !== "source").length;
  const [open, setOpen] = useState(false);
  const between = Boolean(filters.until || (filters.since && !sinceDays[filters.since]));
  const pickPeriod = (s: string): void =>
    setQuery(s === "between" ? { since: localDay(30), until: localDay(0) } : { since: s, until: null });
  const origins = choices("All", data?.origins, filters.source);
  return (
    <div class={open ? "filters open" : "filters"}>
      <div class="filters-head" title={countedAs}>
        <Chips
          label="Source" value={filters.source ?? ""} onPick={(source) => setQuery({ source })}
          options={origins.map(([id, text]) => {
            const o = data?.origins.find((f) => f.name === id);
            return { id, text: text.replace(/ \([\d,]+\)$/, ""), n: o?.sessions, title: o && continuedWords(o) };
          })}
        />
        <button type="button" class="ghost small more-filters" aria-expanded={open} onClick={() => setOpen(!open)}>
          <Icon name={icon.filter} size={14} /> Filters{set > 0 && ` · ${set}`}
        </button>
      </div>
      <div class="filters-body">
        <Select label="Project" value={filters.project ?? ""} options={choices("All projects", data?.projects, filters.project)} onPick={(project) => setQuery({ project })} />
        <Select
          label="Model" value={filters.model ?? ""}
          options={choices("All models", data?.models, filters.model)} onPick={(model) => setQuery({ model })}
        />
        <Select label="Tool" value={filters.tool ?? ""} options={choices("All tools", data?.tools, filters.tool)} onPick={(tool) => setQuery({ tool })} />
        <Select label="When" value={between ? "between" : (filters.since ?? "")} options={periods} onPick={pickPeriod} />
        <div class="checks">
          <Check name="archived" filters={filters}>Archived</Check>
          <Check name="side_chains" filters={filters}>Sub-agents</Check>
          <button
            type="button" class="ghost small" disabled={!set && !filters.source}
            onClick={() => setQuery(Object.fromEntries(filterNames.map((n) => [n, null])))}
          >Clear</button>
        </div>
        {between && <Days filters={filters} />}
      </div>
    </div>
  );
}
