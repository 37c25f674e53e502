// One message of a conversation; the last one may still be coming in.
import type { ComponentChildren, JSX } from "preact";
import type { Attachment, ChatMessage, RunError } from "../chat-types";
import { size } from "../format";
import { icon } from "../icons";
import { memo } from "../memo";
import { useResource } from "../resource";
import { knownRun, type RunState } from "../run";
import { ApprovalCard, asked } from "./approval";
import { RuntimeMark, runtimeName } from "./runtime-menu";
import { StreamText } from "./stream-text";
import { brief, Ticking } from "./turn-panel";
import { CopyButton, Icon, SaveLink, Time } from "./ui";

// What went wrong, in words, and what one can do.
const troubles: Record<string, [string, string]> = {
  runtime_unavailable: ["The runtime is not available", "Start it, or choose another one below the message."],
  runtime_auth: ["The runtime rejected the key", "The key is missing or wrong. Check the runtime's configuration, or choose another runtime."],
  runtime_rejected: ["The runtime rejected the request", "Its message is above. Another model or a shorter message may work."],
  upstream_error: ["The model provider failed", "This is often temporary. Try again."],
  empty_response: ["The answer was empty", "Try again, or rephrase the question."],
  stream_truncated: ["The answer was cut off", "The part that arrived is kept. Try again for the whole answer."],
  protocol_violation: ["Unexpected answer from the runtime", "Its trace is in Details; a newer version of the runtime may help."],
  timeout_connect: ["The runtime did not answer in time", "Is it running? Try again, or choose another one."],
  timeout_first: ["No answer in time", "The runtime may be busy. Try again."],
  timeout_idle: ["The answer stopped", "The part that arrived is kept. Try again."],
  timeout_total: ["The answer took too long", "The part that arrived is kept. A smaller request may work."],
  rate_limited: ["Too many requests", "Wait a moment, then try again."],
  context_too_large: ["The conversation is too long for the model", "Branch from an earlier message, or start a new conversation."],
  approval_denied: ["The action was denied", "Try again and allow it, or ask for something else."],
  approval_timeout: ["The approval timed out", "Try again and answer the question."],
  store_unavailable: ["The turn could not be saved", "Check that the disk is not full."],
  continuity_lost: ["The runtime lost its thread", "Try again: a new thread starts with the conversation so far."],
  internal: ["Something went wrong in Talaria", "Try again. What came is kept."],
};

export function Trouble({ error, code, children }: { error: RunError | null; code: string; children?: ComponentChildren }): JSX.Element {
  const [title, todo] = troubles[code] ?? ["The turn failed", "Try again."];
  return (
    <div class="trouble" role="alert">
      <p><Icon name={icon.failed} size={14} /><b>{title}</b>{code && <code>{code}</code>}</p>
      {error?.message && <p class="plain">{error.message}{error.http_status ? ` (HTTP ${error.http_status})` : ""}</p>}
      <p class="dim">{todo}</p>
      {children && <div class="row-of">{children}</div>}
    </div>
  );
}

export function UserTurn({ text, files, at, onBranch }: { text: string; files: Attachment[]; at: number; onBranch?: JSX.Element | undefined }): JSX.Element {
  return (
    <article class="said-by-user" aria-label="You">
      <div class="bubble">
        <p class="plain">{text}</p>
        {files.length > 0 && (
          <ul class="file-chips" aria-label="Files">
            {files.map((f) => <li key={f.id}><SaveLink path={`/api/attachments/${encodeURIComponent(f.id)}`} name={f.name ?? "file"}><Icon name={icon.file} size={12} /><span class="name">{f.name}</span><span class="dim">{size(f.size)}</span></SaveLink></li>)}
          </ul>
        )}
      </div>
      <footer class="dim"><Time at={at / 1000} long /><CopyButton text={text} label="Copy your message" />{onBranch}</footer>
    </article>
  );
}

const doing: Record<string, string> = { approval: "Waiting for your approval", retry: "Retrying", compaction: "Compacting context", subagent: "Sub-agent working", plan: "Planning" };

// One line of what it is doing right now; it always has its place while the turn runs.
function Activity({ run, sent }: { run: RunState | null; sent: number }): JSX.Element {
  const open = run?.steps.findLast((s) => !s.ended && (s.stage === "tool" || s.stage === "approval"));
  const last = run?.steps.at(-1);
  const what = run?.line === "lost" ? "Connection lost. Reconnecting…"
    : open?.stage === "tool" ? `Using ${open.tool ?? "a tool"}${brief(open) ? `: ${brief(open)}` : ""}`
    : open ? doing.approval!
    : last && doing[last.stage] && last.stage !== "approval" ? doing[last.stage]!
    : run?.thinking && !run.bytes ? "Thinking"
    : run?.bytes ? "Writing" : run?.meta ? "Waiting for the answer" : "Sending";
  return <p class="doing" role="status"><i />{what}<Ticking since={run?.meta?.ts ?? sent} /></p>;
}

export interface TurnActions {
  retry(m: ChatMessage): void;
  branch(seq: number): void;
  look(run: string): void;
}

// How a turn failed: by its events where they are known, else by what is kept of its run.
function Failed({ message: m, run, retry }: { message: ChatMessage | null; run: RunState | null; retry: JSX.Element | null }): JSX.Element | null {
  const { data } = useResource<{ error_code: string | null }>(run?.done || !m?.run_id ? null : `/api/runs/${encodeURIComponent(m.run_id)}`);
  const code = run?.error?.code ?? data?.error_code ?? "";
  return code || m?.status === "failed" ? <Trouble error={run?.error ?? null} code={code}>{retry}</Trouble> : null;
}

const notes: Record<string, string> = { cancelled: "Stopped", partial: "Incomplete" };

function splitAt(text: string, starts: number[]): string[] {
  const bytes = new TextEncoder().encode(text);
  return starts.map((at, i) => new TextDecoder().decode(bytes.subarray(at, starts[i + 1])));
}

// Agents speak before and after their tools: each time is a passage of its own.
function Passages({ run: given, id, text, starts }: { run: RunState | null; id: string | null; text: string; starts: number[] | null }): JSX.Element {
  const run = given ?? (id ? knownRun(id) : null);
  // What was read back may be ahead of the events.
  const whole = run !== null && run.segments.join("") === text;
  const parts = whole ? run.segments.filter((s) => s) : starts ? splitAt(text, starts) : [text];
  return <>{parts.map((s, i) => <StreamText key={i} text={s} />)}</>;
}

export function AgentTurn({ message: m, run, actions, last, current, inPanel, sent = 0 }: {
  message: ChatMessage | null; // null: admitted, not read back yet
  run: RunState | null; // where its events are known
  actions: TurnActions;
  last: boolean;
  current: boolean; // shown in the panel
  inPanel: boolean; // the panel is in sight: what is asked is asked there
  sent?: number;
}): JSX.Element {
  const live = m === null || m.status === "running" ? run?.done === null || run === null : false;
  const settled = m !== null && m.status !== "running";
  const text = settled ? m.content : (run?.segments.join("") ?? "");
  const runtime = m?.runtime ?? run?.meta?.runtime ?? "";
  const status = settled ? m.status : run?.done ? (run.done.status === "completed" ? "complete" : run.done.status) : "running";
  const failed = status === "failed" || status === "partial";
  const question = run ? asked(run) : undefined;
  return (
    <article class="said-by-agent" aria-label={runtime ? runtimeName(runtime) : "Agent"} aria-busy={live} data-status={status}>
      <header>
        {runtime && <RuntimeMark name={runtime} />}<b>{runtime ? runtimeName(runtime) : "Agent"}</b>
        {m?.model && <span class="dim">{m.model}</span>}
        <span class="dim">{notes[status] ?? ""}</span>
        {m && settled && <span class="dim push"><Time at={(m.finished_ms || m.created_ms) / 1000} long /></span>}
      </header>
      {text && <Passages run={run} id={m?.run_id ?? null} text={text} starts={settled ? m.passages : null} />}
      {live && question && !inPanel && run && <ApprovalCard key={question.approval?.id} run={run} step={question} />}
      {live && <Activity run={run} sent={sent} />}
      {failed && <Failed message={m} run={run} retry={m && last ? <button type="button" onClick={() => actions.retry(m)}><Icon name={icon.retry} size={14} /> Try again</button> : null} />}
      {settled && m && (
        <footer>
          {text && <CopyButton text={text} label="Copy the answer" />}
          {last && status !== "failed" && <button type="button" class="ghost small" title="Sends the same message again" aria-label="Retry" onClick={() => actions.retry(m)}><Icon name={icon.retry} size={14} /></button>}
          <button type="button" class="ghost small" title="A new conversation with everything up to here" aria-label="Branch from here" onClick={() => actions.branch(m.seq)}><Icon name={icon.branch} size={14} /></button>
          {m.run_id && <button type="button" class="ghost small details" aria-pressed={current} onClick={() => actions.look(m.run_id!)}><Icon name={icon.panel} size={14} /> Details</button>}
        </footer>
      )}
    </article>
  );
}

// Old turns do not change: a long conversation is drawn once, not at every word of its last answer.
export const SettledTurn = memo(AgentTurn);
export const SettledUser = memo(UserTurn);
