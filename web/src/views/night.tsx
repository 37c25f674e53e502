// One night, reviewed like a pull request: the rules with their evidence first, then the diff; adopt, reject, undo.
import type { JSX } from "preact";
import { useMemo, useState } from "preact/hooks";
import { ApiError, enc, post } from "../api";
import { Diff } from "../components/diff";
import { SessionName } from "../components/session-name";
import { StreamText } from "../components/stream-text";
import { between, gain, isSimulated, seconds, Simulated, stateNames, stateOf, verdictOf, whyNone } from "../components/night-chart";
import { Bar, Code, Empty, Failure, Icon, say, Skeleton, Time, Updating } from "../components/ui";
import { parseDiff } from "../diff";
import { cost, count, lasted, percent, plural, points, short, signed } from "../format";
import { icon } from "../icons";
import { forget, useLate, useResource } from "../resource";
import { link, setQuery, useRoute } from "../router";
import { recall, remember } from "../store";
import type { EditShare, NightDetail, SleepEdit, SleepTask } from "../types";

const trends = {
  improved: { icon: icon.better, text: "better" },
  regressed: { icon: icon.worse, text: "worse" },
  unchanged: { icon: icon.same, text: "the same" },
};
const trend = (before: number, after: number): keyof typeof trends => (after > before ? "improved" : after < before ? "regressed" : "unchanged");

type Trend = keyof typeof trends;
// The figures by which the night decided; reports of earlier versions have the answers' own alone.
const before = (t: SleepTask): number => t.score_before ?? t.before?.soft ?? 0;
const after = (t: SleepTask): number => t.score_after ?? t.after?.soft ?? 0;
const trendOf = (t: SleepTask): Trend => (t.before && t.after ? trend(before(t), after(t)) : "unchanged");

function Moved({ task: t }: { task: SleepTask }): JSX.Element {
  const how = trend(before(t), after(t));
  return <span class="moved" data-trend={how}><Icon name={trends[how].icon} size={14} label={trends[how].text} /> {points(before(t))} → <b>{points(after(t))}</b></span>;
}

function Summary({ n }: { n: NightDetail }): JSX.Element {
  const tally = (s: Trend): number => n.tasks.filter((t) => trendOf(t) === s).length;
  return (
    <section class="panel night-sum" aria-label="Summary">
      <p class="big-score">{points(n.baseline)} → <b>{points(n.candidate)}</b> <span class="gain" data-trend={trend(0, gain(n))}>{signed(gain(n))}</span> <span class="dim">{between(n)}</span>{isSimulated(n) && <Simulated />}</p>
      {n.tasks.length > 0 && (
        <ul class="tally">
          {(Object.keys(trends) as Trend[]).map((s) => <li key={s} data-trend={s}><Icon name={trends[s].icon} size={14} /> {count(tally(s))} {trends[s].text}</li>)}
        </ul>
      )}
      <ul class="meta">
        <li><span><Time at={seconds(n.started_at)} long />{n.ended_at ? `, for ${lasted(Math.max(1, seconds(n.ended_at) - seconds(n.started_at)))}` : ""}</span></li>
        {n.project && <li><Icon name={icon.folder} size={14} />{n.project}</li>}
        <li>{[n.backend, n.model].filter(Boolean).join(" · ")}</li>
        <li>{plural(n.n_tasks, "task")} from {plural(n.n_sessions, "session")}</li>
        <li>{short(n.tokens)} tokens{n.cost_usd > 0 && `, ${cost(n.cost_usd)}`}</li>
        <li>{verdictOf(n)}</li>
      </ul>
    </section>
  );
}

// The two answers of a task, side by side.
function Answers({ task: t }: { task: SleepTask }): JSX.Element {
  return (
    <div class="answers">
      {([["Before", t.before, before(t)], ["After", t.after, after(t)]] as const).map(([word, a, score]) => (
        <div key={word}>
          <p class="sub">{word} <span class="dim">{a ? points(score) : "not tried"}{a?.fail_reason && ` · ${a.fail_reason}`}</span></p>
          <Code text={a?.response || "no answer"} />
        </div>
      ))}
    </div>
  );
}

const ops: Record<string, string> = { add: "New rule", replace: "Changed rule", delete: "Removed rule", remove: "Removed rule" };

// One rule: what it says, why, the tasks that it moved with both answers, and the sessions it was learned from.
function Rule({ edit: e, share, tasks = [], reason }: { edit: SleepEdit; share?: EditShare; tasks?: SleepTask[]; reason?: boolean }): JSX.Element {
  const moved = tasks.filter((t) => share?.moved_tasks.includes(t.id));
  return (
    <li class="edit" data-op={e.op}>
      <header>
        <span class="type">{ops[e.op] ?? e.op}</span><span class="dim">{share?.skill || e.target}</span>
        {share && (
          <span class="gain-share"><Bar pct={share.share * 100} label="Share of the gain" /><b>{percent(share.share)}</b> of the gain</span>
        )}
      </header>
      {e.content && <p class="rule-text">{e.content}</p>}
      {e.anchor && <p class="anchor"><span class="dim">{e.content ? "Replaces: " : ""}</span><del>{e.anchor}</del></p>}
      {e.rationale && (reason ? <p class="reason"><Icon name={icon.failed} size={14} /> {e.rationale}</p> : <p class="dim">{e.rationale}</p>)}
      {moved.map((t) => (
        <details key={t.id} class="proof">
          <summary><Icon name={icon.right} size={14} /><span>{t.intent}</span><Moved task={t} /></summary>
          <Answers task={t} />
        </details>
      ))}
      {share && share.sessions.length > 0 && (
        <p class="seen-in"><span class="dim">Learned from</span> {share.sessions.map((id) => <SessionName key={id} id={id} />)}</p>
      )}
    </li>
  );
}

function Changes({ n, picked, onPick }: { n: NightDetail; picked: Set<string>; onPick(name: string, on: boolean): void }): JSX.Element {
  const [split, setSplit] = useState(recall("diff") !== "unified" && innerWidth > 720);
  const choose = (on: boolean): void => {
    remember("diff", on ? null : "unified");
    setSplit(on);
  };
  const open = canAdopt(n);
  if (!n.skills.length && !n.edits.length && !n.rejected_edits.length) return <Empty title="Nothing to review" mark={icon.sleep}><p>{n.no_edits_reason ? whyNone(n.no_edits_reason) : "No rule passed validation."}</p></Empty>;
  return (
    <>
      {n.edits.length > 0 && <><h2>{plural(n.edits.length, "rule")}</h2><ul class="edits">{n.edits.map((e, i) => <Rule key={i} edit={e} share={n.edit_shares[i]} tasks={n.tasks} />)}</ul></>}
      {n.skills.length > 0 && <h2>Changes to files</h2>}
      {n.skills.length > 0 && (
        <div class="row-of diff-how" role="group" aria-label="How changes are shown">
          <button type="button" class="chip" aria-pressed={split} onClick={() => choose(true)}>Side by side</button>
          <button type="button" class="chip" aria-pressed={!split} onClick={() => choose(false)}>Unified</button>
        </div>
      )}
      {n.skills.map((s) => {
        const { added, removed } = parseDiff(s.diff);
        return (
          <section key={s.skill_name} class="skill" aria-label={s.skill_name}>
            <header>
              {open && <input type="checkbox" aria-label={`Adopt ${s.skill_name}`} checked={picked.has(s.skill_name)} onChange={(e) => onPick(s.skill_name, e.currentTarget.checked)} />}
              <h2>{s.skill_name}</h2><span class="dim mono path">{s.live_path}</span>
              <span class="delta"><span class="plus">+{count(added)}</span> <span class="minus">−{count(removed)}</span></span>
              {s.adopted && <span class="type">adopted</span>}
              {open && s.live_state === "changed" && <span class="type warn">changed since the night</span>}
            </header>
            <Diff text={s.diff} split={split && removed > 0} name={s.skill_name} />
          </section>
        );
      })}
      {n.rejected_edits.length > 0 && (
        <details class="rejected"><summary>{plural(n.rejected_edits.length, "rule")} tried and not proposed</summary><ul class="edits">{n.rejected_edits.map((e, i) => <Rule key={i} edit={e} reason />)}</ul></details>
      )}
    </>
  );
}

const splits: Record<string, string> = { train: "training", val: "validation", test: "final test" };

function Task({ task: t }: { task: SleepTask }): JSX.Element {
  const [open, setOpen] = useState(false);
  return (
    <li class="task">
      <button type="button" aria-expanded={open} onClick={() => setOpen(!open)}>
        <Icon name={icon.right} size={14} />
        <span class="intent">{t.intent}</span>
        <span class="dim">{splits[t.split] ?? t.split} · {t.reference_kind}</span>
        <Moved task={t} />
      </button>
      {open && (
        <Answers task={t} />
      )}
    </li>
  );
}

function Tasks({ tasks }: { tasks: SleepTask[] }): JSX.Element {
  if (!tasks.length) return <Empty title="No task was replayed" />;
  // Tasks that moved first, those that got worse before those that got better.
  const order = { regressed: 0, improved: 1, unchanged: 2 };
  return <ul class="tasks">{[...tasks].sort((a, b) => order[trendOf(a)] - order[trendOf(b)]).map((t) => <Task key={t.id} task={t} />)}</ul>;
}

// The report as Markdown, with the tasks by their names: their ids mean nothing to a reader.
function Report({ n }: { n: NightDetail }): JSX.Element {
  const text = useMemo(() => n.tasks.reduce((md, t) => {
    const name = t.intent.replace(/[\\`*_{}[\]()#+!|<>~]/g, "\\$&");
    return md.replaceAll(t.id.replace(/[-_.]/g, "\\$&"), name).replaceAll(t.id, name);
  }, n.report_md), [n]);
  return (
    <div class="report panel">
      <StreamText text={text} />
      {n.notes.length > 0 && <><h2>Notes</h2><ul class="notes">{n.notes.map((t, i) => <li key={i}>{t}</li>)}</ul></>}
    </div>
  );
}

// An undone night can be adopted again.
const canAdopt = (n: NightDetail): boolean => stateOf(n) === "review" || (stateOf(n) === "undone" && n.skills.length > 0);

const tabs: [string, string][] = [["", "Changes"], ["tasks", "Tasks"], ["report", "Report"]];

export function NightView({ name }: { name: string }): JSX.Element {
  const { query } = useRoute();
  const path = `/api/sleep/nights/${enc(name)}`;
  const { data, error, busy, reload } = useResource<{ proposal: NightDetail }>(path);
  const n = data?.proposal;
  const late = useLate(busy);
  const [left, setLeft] = useState(new Set<string>()); // skills not to adopt
  const [sure, setSure] = useState(false);
  const [doing, setDoing] = useState(false);
  const [trouble, setTrouble] = useState<ApiError | null>(null);
  const picked = new Set(n?.skills.map((s) => s.skill_name).filter((s) => !left.has(s)));
  const act = async (to: string, body: unknown, done: string): Promise<void> => {
    setDoing(true);
    setTrouble(null);
    try {
      await post(to, body);
      say(done);
    } catch (cause) {
      setTrouble(cause as ApiError);
    }
    setDoing(false);
    setSure(false);
    forget("/api/sleep");
    reload();
  };
  const pick = (skill: string, on: boolean): void => {
    const next = new Set(left);
    if (on) next.delete(skill);
    else next.add(skill);
    setLeft(next);
  };
  const state = n && stateOf(n);
  const tab = tabs.some(([id]) => id === query.view) ? query.view! : "";
  const all = left.size === 0;
  return (
    <>
      <header class="title">
        <a class="button" href={link(["sleep"])} aria-label="All nights"><Icon name={icon.back} size={14} /></a>
        <h1>Night {n?.night ?? name}</h1>
        {state && <span class="verdict" data-night={state}>{stateNames[state]}</span>}
        <Updating on={late && n !== undefined} />
        <span class="push row-of">
          {state === "review" && !sure && <button type="button" class="danger" disabled={doing} onClick={() => setSure(true)}>Reject</button>}
          {state === "review" && sure && <><button type="button" onClick={() => setSure(false)}>Keep it</button><button type="button" class="danger primary" disabled={doing} onClick={() => void act(`${path}/reject`, {}, "Rejected")}>Reject the proposal</button></>}
          {n && canAdopt(n) && !sure && (
            <button type="button" class="primary" disabled={doing || picked.size === 0} onClick={() => void act(`${path}/adopt`, all ? { all: true } : { skills: [...picked] }, "Adopted")}>
              <Icon name={icon.check} size={14} /> {all ? (state === "undone" ? "Adopt again" : "Adopt") : `Adopt ${picked.size} of ${n.skills.length}`}
            </button>
          )}
          {state === "adopted" && <button type="button" disabled={doing} onClick={() => void act("/api/sleep/undo", { night: name }, "Adoption undone")}><Icon name={icon.undo} size={14} /> Undo</button>}
        </span>
      </header>
      {trouble && <p class="notice bad" role="alert"><Icon name={icon.failed} size={14} /> {trouble.message}. {trouble.detail}</p>}
      {error && !n && <Failure error={error} what="This night could not be loaded" retry={reload} />}
      {late && !n && <Skeleton rows={5} kind="lines" />}
      {n && (
        <>
          <Summary n={n} />
          <nav class="seg" aria-label="Parts of the review">
            {tabs.map(([id, text]) => (
              <a key={id} href={link(["sleep", name], { view: id })} aria-current={id === tab ? "page" : undefined}
                onClick={(e) => { e.preventDefault(); setQuery({ view: id }); }}>{text}{id === "tasks" && ` ${count(n.tasks.length)}`}</a>
            ))}
          </nav>
          {tab === "" && <Changes n={n} picked={picked} onPick={pick} />}
          {tab === "tasks" && <Tasks tasks={n.tasks} />}
          {tab === "report" && <Report n={n} />}
        </>
      )}
    </>
  );
}
