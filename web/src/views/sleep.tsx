// Sleep: past nights with their scores, and what the next one would cost and could detect.
import type { JSX } from "preact";
import { useEffect, useLayoutEffect, useState } from "preact/hooks";
import { ApiError, post } from "../api";
import { FirstRun } from "../components/first-run";
import { between, gain, isSimulated, NightChart, nightPath, seconds, Simulated, stateNames, stateOf, verdictOf, whyNone } from "../components/night-chart";
import { Bar, Empty, Failure, Icon, Skeleton, Time, Updating } from "../components/ui";
import { onEvent } from "../events";
import { cost, count, plural, points, project, short, signed } from "../format";
import { icon } from "../icons";
import { useLate, useResource } from "../resource";
import { go, link, useRoute } from "../router";
import { useScrollMemory } from "../scroll";
import type { Night, NightOutcome, SleepPage, Sleeping, Worth } from "../types";
import { NightView } from "./night";

function Figure({ n, word }: { n: string; word: string }): JSX.Element {
  return <span><b>{n}</b>{word}</span>;
}

function WorthPanel({ worth: w }: { worth: Worth }): JSX.Element {
  return (
    <section class="panel worth" aria-label="Before the next night">
      <div class="row"><h2>Before the next night</h2><span class="type">{verdicts[w.verdict] ?? w.verdict}</span></div>
      <p>{w.text.charAt(0).toUpperCase() + w.text.slice(1)}</p>
      <span class="figure-row">
        <Figure n={count(w.sessions)} word={w.sessions === 1 ? "session" : "sessions"} />
        <Figure n={count(w.tasks)} word={w.tasks === 1 ? "task" : "tasks"} />
        <Figure n={count(w.recurring)} word="repeated" />
        <Figure n={count(w.checkable)} word="checkable" />
      </span>
      <p class="dim">
        {w.backend === "mock"
          ? "Simulated answers: free, no model is used."
          : <>Up to {count(w.max_calls)} calls and {short(w.max_tokens)} tokens{w.max_cost_usd !== null && <>, <b>{cost(w.max_cost_usd)}</b></>}.</>}
        {" "}Automated sessions and single questions do not count.
      </p>
    </section>
  );
}

const verdicts: Record<string, string> = { worth: "Worth running", thin: "Few tasks", nothing: "Nothing to learn yet" };

function Running({ now }: { now: Sleeping }): JSX.Element {
  if (now.elsewhere) return <section class="scan" role="status"><p><b>A night is already running in another process</b></p></section>;
  const { night, phase = "", done = 0, total = 0 } = now;
  return (
    <section class="scan" role="status">
      <p><b>{night ? `Night ${night}` : "Night"}: {phase}</b><span>{total ? `${count(done)} of ${count(total)}` : ""}</span></p>
      <Bar pct={total ? (done / total) * 100 : 0} label="Progress of the night" />
    </section>
  );
}

// The outcome of the last night if the list does not show it: a dry run, or a night without a task.
function Outcome({ last: o }: { last: NightOutcome }): JSX.Element | null {
  if (o.staging) return null;
  const found = o.n_edits ? `${plural(o.n_edits, "edit")} would raise the score from ${points(o.baseline)} to ${points(o.candidate)}` : whyNone(o.no_edits_reason).replace(/\.$/, "");
  return <p class="notice" role="status"><Icon name={icon.sleep} size={14} /> <span>{o.dry_run ? "Dry run" : `Night ${o.night}`}: {plural(o.n_tasks, "task")} of {plural(o.n_sessions, "session")}. {found}. {o.dry_run ? "Nothing was saved." : ""}</span></p>;
}

function NightRow({ n }: { n: Night }): JSX.Element {
  const state = stateOf(n);
  return (
    <li>
      <a class="night-row" href={link(nightPath(n))} data-night={state}>
        <span class="which"><b>Night {n.night}</b><span class="dim">{n.project && <>{project(n.project)} · </>}<Time at={seconds(n.started_at)} long /></span></span>
        <span class="scores"><span>{points(n.baseline)} → <b>{points(n.candidate)}</b></span><span class="dim">{n.no_edits_reason ? "no change" : `${signed(gain(n))} ${n.interval ? `(${between(n)})` : ""}`}</span></span>
        <span class="spent"><span>{n.cost_usd > 0 ? cost(n.cost_usd) : `${short(n.tokens)} tokens`}</span><span class="dim">{plural(n.n_tasks, "task")} from {plural(n.n_sessions, "session")}</span></span>
        <span class="marks">{isSimulated(n) && <Simulated />}<span class="verdict" title={verdictOf(n)}>{stateNames[state]}</span></span>
      </a>
    </li>
  );
}

// Live figures come by event; a new phase, or the end, asks for the whole again.
function useSleeping(page: SleepPage | undefined, reload: () => void): Sleeping | null {
  const [live, setLive] = useState<Sleeping | null>(null);
  useEffect(() => onEvent("sleep", (value) => {
    const next = value as Sleeping;
    setLive((old) => {
      if (old?.phase !== next.phase || next.phase === "changed") reload();
      return next;
    });
  }), [reload]);
  useEffect(() => void (page && !page.running && setLive(null)), [page]);
  return page?.running ? (live ?? page.running) : null;
}

function Overview(): JSX.Element {
  const { data, error, busy, reload } = useResource<SleepPage>("/api/sleep");
  const worth = useResource<Worth>("/api/sleep/worth");
  const late = useLate(busy);
  const running = useSleeping(data, reload);
  const [trouble, setTrouble] = useState<ApiError | null>(null);
  const [asked, setAsked] = useState(false);
  const run = async (dry: boolean): Promise<void> => {
    setAsked(true);
    setTrouble(null);
    await post("/api/sleep/run", { dry_run: dry }).then(reload, (cause: ApiError) => setTrouble(cause));
    setAsked(false);
  };
  const waits = data?.nights.filter((n) => stateOf(n) === "review") ?? [];
  const nothing = data && data.nights.length === 0;
  return (
    <>
      <header class="title">
        <h1>Sleep</h1>
        <Updating on={late && data !== undefined} />
        {data?.schedules[0] && <span class="dim schedule">{data.schedules[0].when}{data.schedules.length > 1 && ` and ${count(data.schedules.length - 1)} more`}</span>}
        <span class="push row-of">
          <button type="button" disabled={!data || running !== null || asked} onClick={() => void run(true)}>Dry run</button>
          <button type="button" class="primary" disabled={!data || running !== null || asked} onClick={() => void run(false)}><Icon name={icon.sleep} size={14} /> Run a night</button>
        </span>
      </header>
      {trouble && <p class="notice bad" role="alert"><Icon name={icon.failed} size={14} /> The night did not start: {trouble.message}. {trouble.detail}</p>}
      {error && !data && <Failure error={error} what="Nights could not be loaded" retry={reload} />}
      {late && !data && <Skeleton rows={5} kind="lines" />}
      {data?.last_error && !running && <p class="notice bad" role="alert"><Icon name={icon.failed} size={14} /> The last night failed: {data.last_error}. The next one resumes it.</p>}
      {running && <Running now={running} />}
      {data?.last && !running && <Outcome last={data.last} />}
      {waits.length > 0 && (
        <a class="notice review-me" href={link(nightPath(waits[0]!))}>
          <Icon name={icon.sleep} size={14} /> <span><b>Night {waits[0]!.night}</b> proposes a change that scored {signed(gain(waits[0]!))} points{isSimulated(waits[0]!) && " (simulated)"}. Nothing changes until you adopt it.</span><b>Review</b>
        </a>
      )}
      {nothing && worth.data?.sessions === 0 && (
        <FirstRun title="Skills that improve overnight">A night replays tasks that you repeat with a changed skill and proposes the changes that help. Nothing changes until you adopt it. No sessions yet.</FirstRun>
      )}
      {nothing && worth.data?.sessions !== 0 && (
        <Empty title="Skills that improve overnight" mark={icon.sleep}>
          <p>A night is one run of sleep: it replays tasks that you repeat with a changed skill and proposes the changes that help. Nothing changes until you adopt it. A dry run saves nothing, but a real model still costs its tokens.</p>
        </Empty>
      )}
      <div class={data?.nights.length ? "sleep-top" : ""}>
        {data && data.nights.length > 0 && (
          <section class="panel" aria-label="Score before and after">
            <div class="row"><h2>Score before and after</h2><span class="dim">0 to 100; band: 95 % interval of the gain</span></div>
            <NightChart nights={data.nights} onPick={(n) => go(nightPath(n))} />
          </section>
        )}
        {data && worth.data && worth.data.sessions > 0 && <WorthPanel worth={worth.data} />}
      </div>
      {worth.error && !worth.data && !error && <p class="notice bad" role="alert">The estimate for the next night could not be loaded: {worth.error.message}. <button type="button" class="small" onClick={worth.reload}>Try again</button></p>}
      {data && data.nights.length > 0 && <ul class="night-list" aria-label="Nights">{data.nights.map((n) => <NightRow key={n.staging} n={n} />)}</ul>}
    </>
  );
}

export function SleepView(): JSX.Element {
  const { path } = useRoute();
  const sub = path[1];
  const pane = useScrollMemory<HTMLElement>(`sleep ${sub ?? ""}`, true);
  useLayoutEffect(() => pane.current?.focus({ preventScroll: true }), [sub]);
  return <main class="page" ref={pane} tabIndex={-1}>{sub ? <NightView key={sub} name={sub} /> : <Overview />}</main>;
}
