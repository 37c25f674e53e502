import type { JSX } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { ApiError, enc, remove } from "../api";
import { ExampleList } from "../components/examples";
import { FirstRun } from "../components/first-run";
import { MakeTemplate } from "../components/make-template";
import { SessionRow } from "../components/session-row";
import { meaning, StudyChart } from "../components/study-chart";
import { TryInjection } from "../components/try-injection";
import { Code, Empty, Failure, FilterBox, Icon, Skeleton, Time, Updating } from "../components/ui";
import { VirtualList } from "../components/virtual-list";
import { count, plainTitle, plural } from "../format";
import { icon } from "../icons";
import { forget, useLate, useResource } from "../resource";
import { go, link, setQuery, useRoute } from "../router";
import { useScrollMemory } from "../scroll";
import { knownSession, noFilters, rowHeight, useSessionList } from "../session-list";
import type { Home, Session, Study, TemplateRow, TemplateShow } from "../types";

function Segments({ at }: { at: "" | "study" }): JSX.Element {
  return (
    <nav class="seg" aria-label="Templates and study">
      <a href={link(["templates"])} aria-current={at === "" ? "page" : undefined}>Library</a>
      <a href={link(["templates", "study"])} aria-current={at === "study" ? "page" : undefined}>Study</a>
    </nav>
  );
}

function From({ session, plain }: { session: string | null; plain?: boolean }): JSX.Element {
  const known = session ? knownSession(session) : undefined;
  const asked = useResource<Session>(session && !known && !plain ? `/api/sessions/${enc(session)}` : null);
  if (!session) return <span class="from">no source session</span>;
  const s = known ?? asked.data;
  const body = <><Icon name={icon.sessions} size={14} /><span>{s ? plainTitle(s.title) : session}</span></>;
  return plain ? <span class="from">{body}</span> : <a class="from" href={link(["sessions", session])}>{body}</a>;
}

function Figures({ of }: { of: [number, string][] }): JSX.Element {
  return <span class="figure-row">{of.map(([n, word]) => <span key={word}><b>{count(n)}</b>{word}</span>)}</span>;
}

function NoTemplates(): JSX.Element {
  const { data } = useResource<{ homes: Home[] }>("/api/status");
  if (!data) return <Skeleton rows={1} kind="lines" />;
  if (data.homes.every((h) => !h.sessions)) {
    return (
      <FirstRun title="Start from what worked">
        A template is a set of tool calls that worked, added to the start of a new session. Templates are made from past sessions; there are none yet.
      </FirstRun>
    );
  }
  return (
    <Empty title="Start from what worked" mark={icon.templates}>
      <p>A template is a set of tool calls that worked in a past session, added to the start of a new one. Let Talaria pick the best sessions:</p>
      <Code text="talaria templates harvest" label="Copy the command" />
      <button type="button" class="primary" onClick={() => go(["templates", "new"])}>Make one from a session</button>
    </Empty>
  );
}

// Titles of source sessions, from the list that the Sessions tab keeps anyway.
function Titles({ onCame }: { onCame(): void }): null {
  const { loaded } = useSessionList(noFilters);
  useEffect(() => void (loaded && onCame()), [loaded]);
  return null;
}

function Library(): JSX.Element {
  const { query } = useRoute();
  const [, titlesCame] = useState(0);
  const { data, error, busy, reload } = useResource<{ templates: TemplateRow[] }>("/api/templates");
  const late = useLate(busy);
  const text = (query.q ?? "").toLowerCase();
  const shown = data?.templates.filter((t) => !text || `${t.name} ${t.type} ${t.description}`.toLowerCase().includes(text)) ?? [];
  return (
    <>
      <header class="title">
        <h1>Templates</h1><Updating on={late && data !== undefined} />
        <span class="push"><Segments at="" /></span>
        <button type="button" onClick={() => go(["templates", "new"])}><Icon name={icon.add} size={14} /> New</button>
      </header>
      {error && !data && <Failure error={error} what="Templates could not be loaded" retry={reload} />}
      {late && !data && <Skeleton rows={6} kind="cards" />}
      {data && data.templates.length > 0 && <div class="toolbar"><FilterBox value={query.q ?? ""} label="Filter templates" onInput={(q) => setQuery({ q })} /></div>}
      {data && data.templates.length === 0 && <NoTemplates />}
      {data && data.templates.length > 0 && shown.length === 0 && (
        <Empty title="No template matches"><button type="button" onClick={() => setQuery({ q: null })}>Show all</button></Empty>
      )}
      {data && data.templates.length > 0 && <Titles onCame={() => titlesCame((n) => n + 1)} />}
      <ul class="cards">
        {shown.map((t) => (
          <li key={t.name}>
            <a class="template-card" href={link(["templates", t.name])}>
              <span class="row"><span class="type" data-type={t.type}>{t.type}</span><Time at={t.created_at} long /></span>
              <h2>{t.name}</h2>
              <Figures of={[[t.examples, t.examples === 1 ? "example" : "examples"], [t.usage_count, t.usage_count === 1 ? "use" : "uses"]]} />
              <From session={t.source_session_id} plain />
            </a>
          </li>
        ))}
      </ul>
    </>
  );
}

function DeleteButton({ name }: { name: string }): JSX.Element {
  const dialog = useRef<HTMLDialogElement>(null);
  const [error, setError] = useState<ApiError | null>(null);
  const run = async (): Promise<void> => {
    try {
      await remove(`/api/templates/${enc(name)}`);
      forget("/api/templates");
      forget(`/api/templates/${enc(name)}`);
      go(["templates"], {}, true);
    } catch (cause) {
      setError(cause as ApiError);
    }
  };
  return (
    <>
      <button type="button" class="danger" onClick={() => dialog.current?.showModal()}><Icon name={icon.remove} size={14} /> Delete</button>
      <dialog ref={dialog} aria-labelledby="delete-title" onKeyDown={(e) => e.key === "Escape" && e.stopPropagation()}>
        <h2 id="delete-title">Delete this template?</h2>
        <p><b>{name}</b> is deleted. The session it was made from is kept.</p>
        {error && <p class="notice bad" role="alert">{error.message}. {error.detail}</p>}
        <footer>
          <button type="button" onClick={() => dialog.current?.close()}>Keep it</button>
          <button type="button" class="danger primary" onClick={run}>Delete</button>
        </footer>
      </dialog>
    </>
  );
}

function Detail({ name }: { name: string }): JSX.Element {
  const { data, error, busy, reload } = useResource<TemplateShow>(`/api/templates/${enc(name)}`);
  const late = useLate(busy);
  const t = data?.template;
  return (
    <>
      <header class="title">
        <a class="button" href={link(["templates"])} aria-label="All templates"><Icon name={icon.back} size={14} /></a>
        <h1>{name}</h1><Updating on={late && data !== undefined} />
        {t && <span class="push"><DeleteButton name={name} /></span>}
      </header>
      {error && !data && <Failure error={error} what="This template could not be opened" retry={reload} />}
      {late && !data && <Skeleton rows={5} kind="lines" />}
      {t && (
        <div class="template-detail">
          <section aria-label="Examples">
            <p>What a new session receives: a note, then each call with its result.</p>
            <ExampleList examples={t.examples} />
          </section>
          <aside aria-label="About this template">
            <div class="panel">
              <div class="row">
                <span class="type" data-type={t.task_type}>{t.task_type}</span>
                <span class="dim"><Time at={t.created_at} long prefix="created " /></span>
              </div>
              <Figures of={[[t.examples.length, "examples"], [data.tokens, "tokens"], [t.usage_count, t.usage_count === 1 ? "use" : "uses"]]} />
              {t.description && <p class="dim">{t.description}</p>}
              <From session={t.source_session_id} />
            </div>
            <TryInjection name={name} />
          </aside>
        </div>
      )}
    </>
  );
}

function NewTemplate(): JSX.Element {
  const { query } = useRoute();
  const list = useSessionList(noFilters);
  const pane = useRef<HTMLDivElement>(null);
  const text = (query.q ?? "").toLowerCase();
  const shown = list.rows.filter((s) => s.tool_calls > 0 && `${s.title ?? ""} ${s.cwd ?? ""}`.toLowerCase().includes(text));
  const chosen = query.session ? knownSession(query.session) : undefined;
  return (
    <>
      <header class="title">
        <a class="button" href={link(["templates"])} aria-label="All templates"><Icon name={icon.back} size={14} /></a>
        <h1>New template</h1>
      </header>
      {query.session ? (
        <>
          <p>From <b>{chosen ? plainTitle(chosen.title) : query.session}</b> <a href={link(["templates", "new"])}>Choose another</a></p>
          <MakeTemplate session={query.session} />
        </>
      ) : (
        <>
          <p>Choose a session that went well. {list.loaded && <span class="dim">{plural(shown.length, "session")} with tool calls</span>}</p>
          <div class="toolbar"><FilterBox value={query.q ?? ""} label="Filter sessions" onInput={(q) => setQuery({ q })} /></div>
          {list.error && !list.loaded && <Failure error={list.error} what="Sessions could not be loaded" retry={list.reload} />}
          <div class="picker"><div class="scroll" ref={pane} tabIndex={0} role="region" aria-label="Sessions to choose from">
            <VirtualList
              items={shown} height={rowHeight} pane={pane} label="Sessions" onEnd={list.more && !list.busy && !list.error ? list.loadMore : undefined}
              row={(s, i) => (
                <SessionRow key={s.id} session={s} index={i} top={i * rowHeight} current={false} href={link(["templates", "new"], { session: s.id })} />
              )}
            />
          </div></div>
        </>
      )}
    </>
  );
}

function StudyPage(): JSX.Element {
  const { data, error, busy, reload } = useResource<Study>("/api/templates/study");
  const late = useLate(busy);
  const top = data ? Math.max(0.1, Math.ceil(Math.max(...data.kinds.flatMap((k) => k.deciles.map((d) => d.high ?? 0)), 0) * 10) / 10) : 1;
  return (
    <>
      <header class="title"><h1>Templates</h1><Updating on={late && data !== undefined} /><span class="push"><Segments at="study" /></span></header>
      {error && !data && <Failure error={error} what="The study could not be loaded" retry={reload} />}
      {late && !data && <Skeleton rows={3} kind="cards" />}
      {data && (
        <div class="study">
          <h2>Tool failures over the course of a session</h2>
          <p class="study-sentence">{meaning(data.kinds)}</p>
          <p class="dim">Share of failed tool calls in each tenth of a session, over {plural(data.sessions, "session")}. The band is the 95 % interval.</p>
          <div class="charts">{data.kinds.map((k, i) => <StudyChart key={k.kind} kind={k} top={top} n={i} />)}</div>
          <p class="method">{data.method}</p>
        </div>
      )}
    </>
  );
}

export function TemplatesView(): JSX.Element {
  const { path } = useRoute();
  const sub = path[1];
  const pane = useScrollMemory<HTMLElement>(`templates ${sub ?? ""}`, true);
  useLayoutEffect(() => pane.current?.focus({ preventScroll: true }), [sub]);
  return (
    <main class="page" ref={pane} tabIndex={-1}>
      {sub === "study" ? <StudyPage /> : sub === "new" ? <NewTemplate /> : sub ? <Detail key={sub} name={sub} /> : <Library />}
    </main>
  );
}
