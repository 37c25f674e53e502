// One night, reviewed like a pull request: what would change, why, what it did to the tasks; then yes, no, or back.
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { ApiError, enc, post } from "../api";
import { Diff } from "../components/diff";
import { between, gain, seconds, stateNames, stateOf, whyNone } from "../components/night-chart";
import { Bar, Code, Empty, Failure, Icon, say, Skeleton, Time, Updating } from "../components/ui";
import { parseDiff } from "../diff";
import { cost, count, lasted, percent, plainTitle, plural, points, short, signed } from "../format";
import { icon } from "../icons";
import { forget, useLate, useResource } from "../resource";
import { link, setQuery, useRoute } from "../router";
import { knownSession } from "../session-list";
import { recall, remember } from "../store";
import type { EditShare, NightDetail, SleepEdit, SleepTask } from "../types";

const trends = {
  improved: { icon: icon.better, text: "better" },
  regressed: { icon: icon.worse, text: "worse" },
  unchanged: { icon: icon.same, text: "the same" },
};
const trend = (before: number, after: number): keyof typeof trends => (after > before ? "improved" : after < before ? "regressed" : "unchanged");

type Trend = keyof typeof trends;
const scoreOf = (a: SleepTask["before"]): number => a?.soft ?? 0;
const trendOf = (t: SleepTask): Trend => (t.before && t.after ? trend(t.before.soft, t.after.soft) : "unchanged");

function Moved({ before, after }: { before: number; after: number }): JSX.Element {
  const t = trends[trend(before, after)];
  return <span class="moved" data-trend={trend(before, after)}><Icon name={t.icon} size={14} label={t.text} /> {points(before)} → <b>{points(after)}</b></span>;
}

function Summary({ n }: { n: NightDetail }): JSX.Element {
  const tally = (s: Trend): number => n.tasks.filter((t) => trendOf(t) === s).length;
  return (
    <section class="panel night-sum" aria-label="What the night found">
      <p class="big-score">{points(n.baseline)} → <b>{points(n.candidate)}</b> <span class="gain" data-trend={trend(0, gain(n))}>{signed(gain(n))}</span> <span class="dim">{between(n)}</span></p>
      {n.tasks.length > 0 && (
        <ul class="tally">
          {(Object.keys(trends) as Trend[]).map((s) => <li key={s} data-trend={s}><Icon name={trends[s].icon} size={14} /> {count(tally(s))} {trends[s].text}</li>)}
        </ul>
      )}
      <ul class="meta">
        <li><span><Time at={seconds(n.started_at)} long />{n.ended_at ? `, for ${lasted(Math.max(1, seconds(n.ended_at) - seconds(n.started_at)))}` : ""}</span></li>
        {n.project && <li><Icon name={icon.folder} size={14} />{n.project}</li>}
        <li>{[n.backend, n.model].filter(Boolean).join(" · ")}</li>
        <li>{plural(n.n_tasks, "task")} of {plural(n.n_sessions, "session")}</li>
        <li>{short(n.tokens)} tokens{n.cost_usd > 0 && `, ${cost(n.cost_usd)}`}</li>
        <li>gate: {n.gate_action.replace(/_/g, " ")}</li>
      </ul>
      {n.no_edits_reason && <p>{whyNone(n.no_edits_reason)}</p>}
    </section>
  );
}

function Edit({ edit: e, share, tasks = [], reason }: { edit: SleepEdit; share?: EditShare; tasks?: SleepTask[]; reason?: boolean }): JSX.Element {
  const moved = tasks.filter((t) => share?.moved_tasks.includes(t.id));
  return (
    <li class="edit" data-op={e.op}>
      <header>
        <span class="type">{e.op}</span><span class="dim">{share?.skill || e.target}</span>
        {share && (
          <span class="gain-share"><Bar pct={share.share * 100} label="Share of the gain" /><b>{percent(share.share)}</b> of the gain</span>
        )}
      </header>
      {e.anchor && <p class="anchor"><del>{e.anchor}</del></p>}
      {e.content && <p class="content"><ins>{e.content}</ins></p>}
      {e.rationale && (reason ? <p class="reason"><Icon name={icon.failed} size={14} /> {e.rationale}</p> : <p class="dim">{e.rationale}</p>)}
      {moved.length > 0 && <ul class="edit-tasks" aria-label="Tasks that moved">{moved.map((t) => <li key={t.id}><span>{t.intent}</span><Moved before={scoreOf(t.before)} after={scoreOf(t.after)} /></li>)}</ul>}
      {share && share.sessions.length > 0 && (
        <p class="seen-in"><span class="dim">Seen in</span> {share.sessions.map((id) => {
          const s = knownSession(id);
          return <a key={id} href={link(["sessions", id])}>{s ? plainTitle(s.title) : id}</a>;
        })}</p>
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
  const open = stateOf(n) === "review";
  if (!n.skills.length && !n.edits.length && !n.rejected_edits.length) return <Empty title="Nothing was changed" mark={icon.sleep}><p>{n.no_edits_reason ? whyNone(n.no_edits_reason) : "No edit came through."}</p></Empty>;
  return (
    <>
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
              {open && s.live_state === "changed" && <span class="type warn">changed since</span>}
            </header>
            <Diff text={s.diff} split={split} name={s.skill_name} />
          </section>
        );
      })}
      {n.edits.length > 0 && <><h2>{plural(n.edits.length, "edit")}, and what each did</h2><ul class="edits">{n.edits.map((e, i) => <Edit key={i} edit={e} share={n.edit_shares[i]} tasks={n.tasks} />)}</ul></>}
      {n.rejected_edits.length > 0 && (
        <details class="rejected"><summary>{plural(n.rejected_edits.length, "edit")} tried and left out</summary><ul class="edits">{n.rejected_edits.map((e, i) => <Edit key={i} edit={e} reason />)}</ul></details>
      )}
    </>
  );
}

function Task({ task: t }: { task: SleepTask }): JSX.Element {
  const [open, setOpen] = useState(false);
  return (
    <li class="task">
      <button type="button" aria-expanded={open} onClick={() => setOpen(!open)}>
        <Icon name={icon.right} size={14} />
        <span class="intent">{t.intent}</span>
        <span class="dim">{t.split} · {t.reference_kind}</span>
        <Moved before={scoreOf(t.before)} after={scoreOf(t.after)} />
      </button>
      {open && (
        <div class="answers">
          {([["Before", t.before], ["After", t.after]] as const).map(([word, a]) => (
            <div key={word}>
              <p class="sub">{word} <span class="dim">{a ? points(a.soft) : "not tried"}{a?.fail_reason && ` · ${a.fail_reason}`}</span></p>
              <Code text={a?.response || "no answer"} />
            </div>
          ))}
        </div>
      )}
    </li>
  );
}

function Tasks({ tasks }: { tasks: SleepTask[] }): JSX.Element {
  if (!tasks.length) return <Empty title="No task was replayed" />;
  // What moved first, the bad news before the good.
  const order = { regressed: 0, improved: 1, unchanged: 2 };
  return <ul class="tasks">{[...tasks].sort((a, b) => order[trendOf(a)] - order[trendOf(b)]).map((t) => <Task key={t.id} task={t} />)}</ul>;
}

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
          {state === "review" && !sure && (
            <button type="button" class="primary" disabled={doing || picked.size === 0} onClick={() => void act(`${path}/adopt`, all ? { all: true } : { skills: [...picked] }, "Adopted")}>
              <Icon name={icon.check} size={14} /> {all ? "Adopt" : `Adopt ${picked.size} of ${n!.skills.length}`}
            </button>
          )}
          {state === "adopted" && <button type="button" disabled={doing} onClick={() => void act("/api/sleep/undo", { night: name }, "As it was before")}><Icon name={icon.undo} size={14} /> Undo</button>}
        </span>
      </header>
      {trouble && <p class="notice bad" role="alert"><Icon name={icon.failed} size={14} /> {trouble.message}. {trouble.detail}</p>}
      {error && !n && <Failure error={error} what="This night could not be opened" retry={reload} />}
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
          {tab === "report" && <div class="report"><Code text={n.report_md} />{n.notes.length > 0 && <><h2>Notes</h2><ul class="notes">{n.notes.map((t, i) => <li key={i}>{t}</li>)}</ul></>}</div>}
        </>
      )}
    </>
  );
}
