import type { JSX } from "preact";
import { useEffect, useMemo, useState } from "preact/hooks";
import { ApiError, badgePaths, post } from "../api";
import { BadgeCard } from "../components/badge-card";
import { FirstRun } from "../components/first-run";
import { latest, Recent, ScanBar, Score } from "../components/score";
import { Share } from "../components/share";
import { Chips, Empty, Failure, FilterBox, Icon, Select, Skeleton, Updating } from "../components/ui";
import { onEvent, scan } from "../events";
import { countedAs, originName, plural } from "../format";
import { icon } from "../icons";
import { useLate, useResource } from "../resource";
import { setQuery, useRoute } from "../router";
import { useScrollMemory } from "../scroll";
import { useStore } from "../store";
import { tiers, type Achievement, type Achievements, type Tier } from "../types";

const sorts: Record<string, [string, (a: Achievement, b: Achievement) => number]> = {
  catalogue: ["Catalogue order", () => 0],
  tier: ["Highest tier", (a, b) => rank(b) - rank(a) || b.progress_pct - a.progress_pct],
  near: ["Closest to next tier", (a, b) => nearness(b) - nearness(a)],
  recent: ["Latest unlock", (a, b) => (b.unlocked_at ?? 0) - (a.unlocked_at ?? 0)],
  name: ["Name", (a, b) => a.name.localeCompare(b.name)],
};
const rank = (a: Achievement): number => (a.unlocked ? (a.tier ? tiers.indexOf(a.tier) + 1 : 2.5) : 0);
// What is complete or hidden is nearest to nothing.
const nearness = (a: Achievement): number => (a.state === "secret" || a.progress_pct >= 100 ? -1 : a.progress_pct);

const states: [string, string][] = [["", "All"], ["unlocked", "Unlocked"], ["discovered", "In progress"], ["secret", "Secret"]];

// While a scan runs without an event stream that tells of it, asking now and then still moves the page on.
const pollMs = 4000;

// What the figures are counted over, and by whom: a click counts one agent's sessions alone.
function Counted({ data, source }: { data: Achievements; source: string }): JSX.Element {
  const all = Object.entries(data.sources ?? {}).filter(([id, n]) => n > 0 || id === source);
  const total = data.sources ? Object.values(data.sources).reduce((a, b) => a + b, 0) : data.scan_meta.sessions_total;
  return (
    <div class="counted">
      <p class="dim" title={countedAs}>Counted over {plural(source ? (data.sources?.[source] ?? data.scan_meta.sessions_total) : total, "session")}{source ? ` of ${originName(source)}` : ""}.</p>
      {(all.length > 1 || source !== "") && (
        <Chips
          label="Source" value={source} onPick={(id) => setQuery({ source: id })}
          options={[{ id: "", text: "All sources" }, ...all.map(([id, n]) => ({ id, text: originName(id), n }))]}
        />
      )}
    </div>
  );
}

export function AchievementsView(): JSX.Element {
  const { query } = useRoute();
  const { data, error, busy, reload, change } = useResource<Achievements>(badgePaths.list(query.source), ["snapshot"]);
  const progress = useStore(scan);
  const late = useLate(busy);
  const [fresh, setFresh] = useState(new Set<string>());
  const [rescanning, setRescanning] = useState(false);
  const [trouble, setTrouble] = useState<ApiError | null>(null);
  const pane = useScrollMemory<HTMLElement>("achievements", data !== undefined);

  // A badge appears the moment it is earned; the snapshot that follows has the exact figures.
  useEffect(() => onEvent("unlock", (value) => {
    const { id, name, tier } = value as { id: string; name?: string; tier: Tier | null };
    setFresh((old) => new Set(old).add(id));
    change((d) => ({
      ...d,
      achievements: d.achievements.map((a) => a.id === id
        ? { ...a, name: name ?? a.name, unlocked: true, discovered: true, state: "unlocked", tier, unlocked_at: a.unlocked_at ?? Math.floor(Date.now() / 1000) }
        : a),
    }));
  }), [change]);

  const mode = data?.scan_meta.mode;
  const first = mode === "pending" || mode === "in_progress";
  useEffect(() => {
    if (!first || busy) return;
    const timer = setTimeout(reload, pollMs);
    return () => clearTimeout(timer);
  }, [first, busy, data, progress, reload]);

  const rescan = async (): Promise<void> => {
    setRescanning(true);
    setTrouble(null);
    try {
      await post(badgePaths.rescan);
      reload();
    } catch (cause) {
      setTrouble(cause as ApiError);
    }
    setRescanning(false);
  };

  const failed = trouble ? `${trouble.message}. ${trouble.detail}` : data?.error;
  const all = data?.achievements ?? [];
  const category = query.category ?? "";
  const state = query.state ?? "";
  const text = (query.q ?? "").toLowerCase();
  const sort = query.sort && sorts[query.sort] ? query.sort : "catalogue";
  const matches = (a: Achievement, c: string, s: string): boolean =>
    (!c || a.category === c) && (!s || a.state === s) &&
    (!text || (a.state !== "secret" && `${a.name} ${a.description} ${a.category}`.toLowerCase().includes(text)));
  const shown = useMemo(() => all.filter((a) => matches(a, category, state)).sort(sorts[sort]![1]), [all, category, state, text, sort]);
  const categories = [...new Set(all.map((a) => a.category))];
  const scanned = progress ?? (first ? { done: data?.scan_meta.sessions_scanned_so_far ?? 0, total: data?.scan_meta.sessions_expected_total ?? 0 } : null);

  return (
    <main class="page" ref={pane} tabIndex={-1}>
      <header class="title">
        <h1>Achievements</h1>
        <Updating on={data !== undefined && !first && ((data.is_stale && !data.error) || data.scan_meta.status?.state === "running" || late)} />
        <button
          type="button" class="push" disabled={!all.some((a) => a.unlocked)} aria-expanded={query.share !== undefined}
          onClick={() => setQuery({ share: query.share === undefined ? "score" : null })}
        >
          <Icon name={icon.share} size={14} /> Share
        </button>
        <button type="button" onClick={rescan} disabled={rescanning || first}>
          <Icon name={icon.rescan} size={14} /> {rescanning ? "Scanning…" : "Rescan"}
        </button>
      </header>
      {data && query.share !== undefined && all.some((a) => a.unlocked) && <Share data={data} badge={query.share} />}
      {error && !data && <Failure error={error} what="Achievements could not be loaded" retry={reload} />}
      {failed && (
        <p class="notice bad" role="alert"><Icon name={icon.failed} size={14} /> The last scan failed: {failed} These are the figures from before; rescan to try again.</p>
      )}
      {late && !data && <Skeleton rows={9} kind="cards" />}
      {data && !first && data.scan_meta.sessions_total === 0 && mode !== "failed" && (
        <FirstRun title="Achievements from your history">Sixty achievements, awarded from all your agent sessions. No sessions yet.</FirstRun>
      )}
      {data && (first || data.scan_meta.sessions_total > 0 || mode === "failed") && (
        <>
          {scanned && (first || progress) ? <ScanBar done={scanned.done} total={scanned.total} first={first} /> : null}
          <Score data={data} />
          <Counted data={data} source={query.source ?? ""} />
          <Recent items={first ? all.filter((a) => a.unlocked) : latest(all, 12)} fresh={fresh} />
          <div class="toolbar">
            <FilterBox value={query.q ?? ""} label="Filter achievements" onInput={(q) => setQuery({ q })} />
            <Chips
              label="State" value={state} onPick={(s) => setQuery({ state: s })}
              options={states.map(([id, t]) => ({ id, text: t, n: all.filter((a) => matches(a, category, id)).length }))}
            />
            <Select
              label="Sort" value={sort} options={Object.entries(sorts).map(([id, [name]]) => [id, name])}
              onPick={(s) => setQuery({ sort: s === "catalogue" ? null : s })}
            />
          </div>
          <Chips
            label="Category" value={category} onPick={(c) => setQuery({ category: c })}
            options={[{ id: "", text: "All categories" }, ...categories.map((c) => ({ id: c, text: c, n: all.filter((a) => matches(a, c, state)).length }))]}
          />
          <h2 class="sr">All achievements</h2>
          <ul class="badges">{shown.map((a) => <BadgeCard key={a.id} item={a} fresh={fresh.has(a.id)} />)}</ul>
          {shown.length === 0 && (
            <Empty title="No achievement matches these filters">
              <button type="button" onClick={() => setQuery({ q: null, state: null, category: null })}>Show all</button>
            </Empty>
          )}
        </>
      )}
    </main>
  );
}
