// A turn as it happens, and as it was: what the runtime was given, what it did, what that took.
import type { ComponentChildren, JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import { ask, enc } from "../api";
import type { Attachment, Receipts, TaskGraph } from "../chat-types";
import { count, lasted, plainTitle, plural, short, size } from "../format";
import { icon } from "../icons";
import { useLate, useResource } from "../resource";
import { link } from "../router";
import type { RunState, Step } from "../run";
import { mainArgument, parseObject } from "../transcript";
import type { Session } from "../types";
import { ApprovalCard } from "./approval";
import { GraphPicture } from "./graph-picture";
import { RuntimeMark, runtimeName } from "./runtime-menu";
import { Fields } from "./tool-call";
import { Bar, Code, Icon, Skeleton } from "./ui";

// Seconds since then, while it runs.
export function Ticking({ since }: { since: number }): JSX.Element {
  const [, tick] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => tick((n) => n + 1), 500);
    return () => clearInterval(timer);
  }, []);
  const seconds = Math.floor((Date.now() - since) / 1000);
  return <span class="ticking">{seconds > 0 ? `${seconds < 60 ? `${seconds} s` : lasted(seconds)}` : ""}</span>;
}

function Section({ name, mark, aside, children }: { name: string; mark: string; aside?: ComponentChildren; children?: ComponentChildren }): JSX.Element {
  return (
    <section class="part" aria-label={name}>
      <h3><Icon name={mark} size={14} />{name}<span class="dim push">{aside}</span></h3>
      {children}
    </section>
  );
}

const modes: Record<string, [string, string]> = {
  new: ["new thread", "The runtime started its own thread for this conversation."],
  resumed: ["resumed", "The runtime resumed its own thread of this conversation."],
  rotated: ["new handle", "The runtime resumed under a new handle."],
  lost: ["thread lost", "The runtime's thread was gone; it received the conversation so far."],
};

const verdicts: Record<string, string> = { completed: "Done", failed: "Failed", cancelled: "Stopped", truncated: "Cut off at a limit" };

function Head({ run }: { run: RunState }): JSX.Element {
  const mode = run.continuity || run.meta?.continuity.mode || "";
  const [word, why] = modes[mode] ?? [mode, ""];
  return (
    <header class="panel-head">
      <p>
        {run.meta && <RuntimeMark name={run.meta.runtime} />}
        <b>{run.meta ? runtimeName(run.meta.runtime) : "This turn"}</b>
        {run.model && <span class="dim">{run.model}</span>}
        <span class="push ending" data-status={run.done?.status ?? "running"}>
          {run.done ? `${verdicts[run.done.status] ?? run.done.status}, ${lasted(run.done.elapsed_ms / 1000)}` : run.meta ? <Ticking since={run.meta.ts} /> : ""}
        </span>
      </p>
      {word && <p class="dim"><span class="type" title={why}>{word}</span>{run.version && <span>version {run.version}</span>}</p>}
      {run.line === "lost" && <p class="dim" role="status">Connection lost. Reconnecting…</p>}
    </header>
  );
}

const kinds: Record<string, string> = { user: "memory", summary: "summary", recalled: "passage", brain: "note", skills: "skill", graph: "step", recent: "turn" };

function ReceiptRow({ r, most }: { r: Receipts["receipts"][number]; most: number }): JSX.Element {
  const session = r.kind === "recalled" ? (r.id.split("/")[0] ?? "") : "";
  const { data } = useResource<Session>(session ? `/api/sessions/${enc(session)}` : null);
  return (
    <li>
      <span class="type">{kinds[r.kind] ?? r.kind}</span>
      <span class="of">{session ? <a href={link(["sessions", session])} title={r.id}>{data ? plainTitle(data.title) : r.id}</a> : r.id}</span>
      <span class="score" title={`score ${r.score}`}>{r.score.toFixed(2)}</span>
      <span class="why dim">{r.reason}</span>
      <Bar pct={most > 0 ? (r.score / most) * 100 : 0} label={`Score of ${r.id}`} />
    </li>
  );
}

function Context({ run, id }: { run: RunState; id: string | null }): JSX.Element | null {
  const { data, error } = useResource<Receipts>(id && `/api/attachments/${enc(id)}`);
  const c = run.meta?.context;
  if (!c) return null;
  const counts = ([["memory entry", "memory entries", c.user], ["summary", "summaries", c.summary], ["retrieved passage", "retrieved passages", c.recalled], ["note", "notes", c.brain]] as const).filter(([, , n]) => n > 0);
  // What was chosen for this request comes first; memory is given always, and waits in a fold.
  const items = data?.receipts.filter((r) => !["skills", "graph"].includes(r.kind)) ?? [];
  const chosen = items.filter((r) => r.kind !== "user");
  const always = items.filter((r) => r.kind === "user");
  const trouble = run.steps.filter((s) => s.status === "degraded" && ["context", "skills", "graph"].includes(s.stage));
  const most = (kind: string): number => Math.max(...items.filter((r) => r.kind === kind).map((r) => r.score));
  return (
    <Section name="Context added" mark={icon.context} aside={c.tokens > 0 ? `${count(c.tokens)} tokens` : ""}>
      <p class="dim">{counts.length ? counts.map(([one, many, n]) => plural(n, one, many)).join(", ") : "Nothing besides the conversation itself."}{c.truncated && " Some did not fit."}</p>
      {chosen.length > 0 && <ul class="receipts">{chosen.map((r, i) => <ReceiptRow key={i} r={r} most={most(r.kind)} />)}</ul>}
      {always.length > 0 && (
        <details>
          <summary>Your memory (always added)</summary>
          <ul class="receipts">{always.map((r, i) => <ReceiptRow key={i} r={r} most={most(r.kind)} />)}</ul>
        </details>
      )}
      {error && !data && <p class="bad">{error.message}</p>}
      {trouble.map((s) => <p key={s.key} class="warn">No {s.stage}: {s.detail ?? "failed"}</p>)}
    </Section>
  );
}

function Skills({ run, id }: { run: RunState; id: string | null }): JSX.Element | null {
  const { data } = useResource<Receipts>(id && `/api/attachments/${enc(id)}`);
  const list = run.meta?.skills ?? [];
  if (!list.length) return null;
  const most = Math.max(...list.map((s) => s.score));
  const why = (name: string): string => data?.receipts.find((r) => r.kind === "skills" && r.id === name)?.reason ?? "";
  const out = data?.parts.skills?.omitted;
  const left = ([["less relevant", out?.score], ["for other platforms", out?.platform], ["switched off", out?.disabled]] as const).filter(([, n]) => n);
  return (
    <Section name="Skills considered" mark={icon.skill} aside={count(list.length)}>
      <ul class="receipts">
        {list.map((s) => (
          <li key={s.name}>
            <span class="type" data-confidence={s.confidence}>{s.confidence}</span><span class="of">{s.name}</span><span class="score">{s.score.toFixed(2)}</span>
            {why(s.name) && <span class="why dim">{why(s.name)}</span>}
            <Bar pct={most > 0 ? (s.score / most) * 100 : 0} label={`Score of ${s.name}`} />
          </li>
        ))}
      </ul>
      {left.length > 0 && <p class="dim">Left out: {left.map(([word, n]) => `${count(n ?? 0)} ${word}`).join(", ")}.</p>}
    </Section>
  );
}

function Graph({ run, id }: { run: RunState; id: string | null }): JSX.Element | null {
  const { data } = useResource<TaskGraph>(id && `/api/attachments/${enc(id)}`);
  const g = run.meta?.graph;
  if (!g || g.nodes < 2) return null;
  return (
    <Section name="Task graph" mark={icon.graph} aside={`${plural(g.nodes, "step")}, ${plural(g.waves, "wave")}`}>
      {data ? <GraphPicture graph={data} /> : <p class="dim">{g.decision === "parallel" ? "Can run in parallel." : "One after the other."}</p>}
    </Section>
  );
}

const stageNames: Record<string, string> = { retry: "Retry", compaction: "Context compacted", subagent: "Sub-agent", plan: "Plan", notice: "Notice", session: "Session", approval: "Approval", context: "Context" };

// The argument that matters, as in a transcript.
export const brief = (s: Step): string => mainArgument(parseObject(s.args_preview), s.args_preview ?? "");

function ToolRow({ step: s, over }: { step: Step; over: boolean }): JSX.Element {
  const [open, setOpen] = useState(false);
  const outcome = s.status === "failed" ? "failed" : s.ended ? "worked" : over ? "unknown" : "running";
  const took = s.duration_ms ?? (s.ended ? s.ended - s.ts : -1);
  return (
    <div class="call" data-outcome={outcome}>
      <button type="button" aria-expanded={open} onClick={() => setOpen(!open)}>
        <Icon name={icon.right} size={14} />
        <b>{s.tool ?? "tool"}</b>
        <span class="argument">{brief(s)}</span>
        <span class="time">{outcome === "running" ? <Ticking since={s.ts} /> : took >= 0 ? lasted(took / 1000) : ""}</span>
        <span class="mark" title={outcome}><Icon name={outcome === "worked" ? icon.worked : outcome === "failed" ? icon.failed : icon.unknown} size={14} label={outcome} /></span>
      </button>
      {open && (
        <div class="unfolded">
          <p class="sub">Arguments</p><Fields text={s.args_preview ?? ""} empty="none" />
          <p class="sub">Result</p><Fields text={s.result_preview ?? ""} empty={outcome === "running" ? "not yet" : "none"} />
        </div>
      )}
    </div>
  );
}

function StepRow({ run, step: s }: { run: RunState; step: Step }): JSX.Element {
  if (s.stage === "tool") return <ToolRow step={s} over={run.done !== null} />;
  if (s.stage === "approval" && s.status === "waiting" && !run.done) return <ApprovalCard run={run} step={s} />;
  const what = s.stage === "retry" && s.attempt ? `Retry ${s.attempt}` : (stageNames[s.stage] ?? s.stage);
  return (
    <p class="event" data-stage={s.stage}>
      <b>{what}</b> <span class="dim">{[s.label, s.approval?.command, s.detail].filter(Boolean).join(": ")}</span>
    </p>
  );
}

function Steps({ run }: { run: RunState }): JSX.Element | null {
  const rows = run.steps.filter((s) => !["skills", "graph"].includes(s.stage) && !(s.stage === "context" && !s.label));
  const tools = rows.filter((s) => s.stage === "tool").length;
  if (!rows.length) return null;
  return (
    <Section name="Steps" mark={icon.tools} aside={tools ? plural(tools, "tool call") : ""}>
      <div class="steps">{rows.map((s, i) => <StepRow key={i} run={run} step={s} />)}</div>
    </Section>
  );
}

function Spent({ run }: { run: RunState }): JSX.Element | null {
  const u = run.done?.usage ?? run.usage;
  if (!run.done && !u) return null;
  const rows: [string, string][] = [];
  if (u && u.total > 0) {
    rows.push(["in", short(u.input)], ["out", short(u.output)]);
    if (u.reasoning) rows.push(["thinking", short(u.reasoning)]);
    if (u.cached) rows.push(["cached", short(u.cached)]);
  }
  if (run.done?.ttft_ms !== undefined) rows.push(["first token", lasted(run.done.ttft_ms / 1000)]);
  if (run.done) rows.push(["total", lasted(run.done.elapsed_ms / 1000)]);
  return (
    <Section name="Tokens and time" mark={icon.time} aside={u && u.total > 0 ? `${u.estimated ? "about " : ""}${count(u.total)} tokens` : ""}>
      <dl class="spent">{rows.map(([k, v]) => <div key={k}><dt>{k}</dt><dd>{v}</dd></div>)}</dl>
    </Section>
  );
}

function Thinking({ text }: { text: string }): JSX.Element | null {
  if (!text) return null;
  return (
    <details class="part thinking">
      <summary><Icon name={icon.thinking} size={14} />Thinking<span class="dim push">{plural(text.trim().split(/\s+/).length, "word")}</span><Icon name={icon.right} size={14} /></summary>
      <p class="plain dim">{text}</p>
    </details>
  );
}

// Text of an attachment, asked for when it is unfolded.
function Raw({ a, name }: { a: Attachment; name: string }): JSX.Element {
  const [text, setText] = useState<string | null>(null);
  const [failed, setFailed] = useState(false);
  const load = (open: boolean): void => {
    if (!open || text !== null) return;
    ask(`/api/attachments/${enc(a.id)}`).then(async (r) => (r.ok ? setText(await r.text()) : setFailed(true)), () => setFailed(true));
  };
  return (
    <details class="part" onToggle={(e) => load(e.currentTarget.open)}>
      <summary><Icon name={icon.note} size={14} />{name}<span class="dim push">{size(a.size)}</span><Icon name={icon.right} size={14} /></summary>
      {failed ? <p class="bad">Could not be loaded.</p> : text !== null && (a.kind === "error_detail" ? <Fields text={text} empty="empty" /> : <Code text={text} />)}
    </details>
  );
}

export function TurnPanel({ run, attachments }: { run: RunState; attachments: Attachment[] }): JSX.Element {
  const mine = attachments.filter((a) => a.run_id === run.id);
  const idOf = (kind: Attachment["kind"]): string | null => mine.find((a) => a.kind === kind)?.id ?? null;
  const raw = (kind: Attachment["kind"], name: string): JSX.Element | null => {
    const a = mine.find((x) => x.kind === kind);
    return a ? <Raw key={a.id} a={a} name={name} /> : null;
  };
  const late = useLate(!run.meta);
  if (run.line === "gone") return <p class="dim part">The details of this turn are no longer kept.</p>;
  if (!run.meta) return late ? <Skeleton rows={4} kind="lines" /> : <></>;
  return (
    <>
      <Head run={run} />
      <Context run={run} id={idOf("context_receipt")} />
      <Skills run={run} id={idOf("context_receipt")} />
      <Graph run={run} id={idOf("task_graph")} />
      <Steps run={run} />
      <Thinking text={run.thinking} />
      <Spent run={run} />
      {raw("error_detail", "Error details from the runtime")}
      {raw("runtime_trace", "Runtime trace")}
    </>
  );
}
