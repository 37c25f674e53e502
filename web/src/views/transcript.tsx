import type { JSX, RefObject } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { badgePaths, enc } from "../api";
import { Medal } from "../components/badge-card";
import { MakeTemplate } from "../components/make-template";
import { Markdown } from "../components/markdown";
import { SessionName } from "../components/session-name";
import { tokens } from "../components/session-row";
import { Cut, ToolCallRow } from "../components/tool-call";
import { Activity } from "../components/activity";
import { SessionActions } from "../components/session-actions";
import { CopyButton, Failure, Icon, Skeleton, Time } from "../components/ui";
import { cost, count, exact, originName, plainTitle, plural, short, spent, unknownTime, isTime } from "../format";
import { icon, sourceIcon } from "../icons";
import { useKeys } from "../keys";
import { useLate, useResource } from "../resource";
import { link, up, useRoute } from "../router";
import { useScrollMemory } from "../scroll";
import { paintWords } from "../search";
import { knownSession } from "../session-list";
import { entries, useMessages, type Entry } from "../transcript";
import type { Achievement, Session, Status } from "../types";

function when(start: number, at: number): string {
  if (!isTime(at)) return unknownTime;
  if (!isTime(start)) return "";
  const after = spent(start, at);
  return after && at - start >= 1 ? `+${after}` : "start";
}

function Turn({ entry, unfold, target, href, start, side }: {
  entry: Entry;
  unfold: boolean;
  target: number;
  href: string;
  start: number;
  side: "" | "first" | "on"; // of a side chain: its first turn, or a later one
}): JSX.Element {
  const { message: m, calls } = entry;
  const gone = !m.active ? (m.compacted ? "compacted" : "rewound") : "";
  // Compaction leaves its summary in the user's name.
  const summary = m.role === "user" && (m.content ?? "").startsWith("[CONTEXT COMPACTION");
  const role = summary ? "summary" : m.role;
  const names: Record<string, string> = { summary: "Summary of earlier messages", user: "You", assistant: "Agent", tool: m.tool_name ?? "tool" };
  const hasText = Boolean(m.content?.trim());
  return (
    <article class={m.id === target ? "turn target" : "turn"} data-role={role} data-gone={gone || undefined} data-side={side || undefined} id={`m-${m.id}`}>
      {side === "first" && <p class="side-name"><Icon name={icon.side} size={12} /> Sub-agent</p>}
      {hasText && (
        <header>
          <Icon name={role === "user" ? icon.user : m.role === "assistant" ? icon.agent : icon.note} size={14} />
          <b>{names[role] ?? role}</b>
          <span class="dim">{gone}</span>
          <a class="dim" href={href} title={exact(m.timestamp)}>{when(start, m.timestamp)}</a>
        </header>
      )}
      {hasText && (m.html ? <Markdown html={m.html} /> : <p class="plain">{m.content}</p>)}
      {hasText && <Cut message={m} />}
      {calls.length > 0 && <div class="calls">{calls.map((c, i) => <ToolCallRow key={c.call.id ?? i} item={c} unfold={unfold} target={target} />)}</div>}
    </article>
  );
}

function Messages({ session, part, pane, onNext }: {
  session: Session;
  part: string;
  pane: RefObject<HTMLElement | null>;
  onNext: JSX.Element;
}): JSX.Element {
  const { query } = useRoute();
  const target = Number(query.m ?? 0);
  const pages = useMessages(session.id, part, target);
  const late = useLate(pages.busy && !pages.loaded);
  const [unfold, setUnfold] = useState(false);
  const list = useMemo(() => entries(pages.messages), [pages.messages]);
  const end = useRef<HTMLDivElement>(null);
  // A link to a message knows its place better than memory does.
  useScrollMemory(`session ${part}`, pages.loaded && !target, pane);

  useEffect(() => {
    if (!end.current || pages.next === null || pages.busy || pages.error) return;
    const seen = new IntersectionObserver((e) => e.some((x) => x.isIntersecting) && pages.loadMore(), { root: pane.current, rootMargin: "1200px" });
    seen.observe(end.current);
    return () => seen.disconnect();
  });
  useEffect(() => {
    if (!target || !pages.loaded) return;
    const el = document.getElementById(`m-${target}`);
    if (!el) return;
    // Turns out of sight have a guessed height until they are near: the place is right only after a few frames.
    let frame = 0;
    const settle = (left: number): void => {
      el.scrollIntoView({ block: el.offsetHeight > (pane.current?.clientHeight ?? 0) ? "start" : "center" });
      if (left > 0) frame = requestAnimationFrame(() => settle(left - 1));
    };
    settle(4);
    paintWords(el, query.q ?? "");
    return () => {
      cancelAnimationFrame(frame);
      paintWords(null, "");
    };
  }, [target, pages.loaded, pages.busy]);
  const lost = target > 0 && pages.loaded && !pages.busy && pages.next === null && !pages.messages.some((m) => m.id === target);

  const jump = (by: 1 | -1): boolean | void => {
    const el = pane.current;
    if (!el) return false;
    const edge = el.getBoundingClientRect().top + 12;
    const tops = [...el.querySelectorAll<HTMLElement>('.turn[data-role="user"]')].map((t) => t.getBoundingClientRect().top - edge);
    const to = by > 0 ? tops.find((t) => t > 4) : tops.filter((t) => t < -4).pop();
    if (to !== undefined) el.scrollTop += to;
  };
  useKeys({ n: () => jump(1), p: () => jump(-1), x: () => setUnfold(!unfold) });

  return (
    <>
      {pages.messages.length > 3 && <Activity messages={pages.messages} list={list} />}
      {late && <Skeleton rows={6} kind="lines" />}
      {lost && <p class="notice" role="status">The linked message is not in this part.</p>}
      {list.map((e, i) => (
        <Turn
          key={e.message.id} entry={e} unfold={unfold} start={pages.messages[0]!.timestamp} target={target}
          side={!e.message.side_chain ? "" : list[i - 1]?.message.side_chain ? "on" : "first"}
          href={link(["sessions", session.id], { ...query, part, m: e.message.id })}
        />
      ))}
      {pages.error && <Failure error={pages.error} what={pages.loaded ? "The rest could not be loaded" : "The transcript could not be loaded"} retry={pages.loadMore} />}
      {pages.loaded && list.length === 0 && !pages.error && <p class="dim">No messages in this part.</p>}
      <div ref={end} class="end">
        {pages.busy && pages.loaded && <span class="dim" role="status">Loading more</span>}
        {!pages.busy && pages.loaded && pages.next === null && onNext}
      </div>
    </>
  );
}

function Meta({ s }: { s: Session }): JSX.Element {
  const took = spent(s.started_at, s.last_active);
  return (
    <ul class="meta">
      <li data-origin={s.origin}><Icon name={sourceIcon(s.source, s.origin)} size={14} />{s.origin ? originName(s.origin) : s.source}{s.origin && s.source !== s.origin && ` · ${s.source}`}</li>
      {s.model && <li>{s.model}</li>}
      {s.cwd && <li title={s.cwd}><Icon name={icon.folder} size={14} />{s.cwd}</li>}
      {(s.branch ?? s.git_branch) && <li><Icon name={icon.branch} size={14} />{s.branch ?? s.git_branch}</li>}
      <li><span><Time at={s.started_at} long />{took && `, for ${took}`}</span></li>
      <li>{plural(s.messages, "message")}</li>
      <li>{plural(s.tool_calls, "tool call")}</li>
      {tokens(s) > 0 && <li title={`${count(s.input_tokens ?? 0)} in, ${count(s.output_tokens ?? 0)} out`}>{short(tokens(s))} tokens</li>}
      <li>{s.cost_usd === null ? "cost unknown" : cost(s.cost_usd)}</li>
    </ul>
  );
}

// The sessions before and after this one. A file that is gone leaves its id.
function Thread({ s }: { s: Session }): JSX.Element | null {
  if (!s.continues && !s.continued_in) return null;
  return (
    <ul class="meta" aria-label="Continued sessions">
      {s.continues && <li><Icon name={icon.back} size={14} /><span>Continues <SessionName id={s.continues.session_id} /> ({originName(s.continues.origin)})</span></li>}
      {s.continued_in && <li><Icon name={icon.right} size={14} /><span>Continued in <SessionName id={s.continued_in} /></span></li>}
    </ul>
  );
}

export function Transcript({ id }: { id: string }): JSX.Element {
  const chats = useResource<Status>("/api/status").data?.features?.includes("chat");
  const { query } = useRoute();
  const asked = useResource<Session>(`/api/sessions/${enc(id)}`);
  const badges = useResource<{ badges: Achievement[] }>(badgePaths.session(id), ["snapshot"]);
  const s = asked.data ?? knownSession(id);
  const part = s && (s.parts.find((p) => p.id === (query.part ?? id)) ?? s.parts[0]);
  const pane = useRef<HTMLElement>(null);
  const index = s && part ? s.parts.indexOf(part) : -1;
  const next = s?.parts[index + 1];
  const making = query.template === "1";
  const toPart = (partId: string): string => link(["sessions", s?.id ?? id], { ...query, m: null, part: partId });

  return (
    <section class="detail-pane" aria-label="Transcript" ref={pane} tabIndex={0}>
      {asked.error && !s && <Failure error={asked.error} what="This session could not be opened" retry={asked.reload} />}
      {s && part && (
        <div class="transcript">
          <header class="session-head">
            <div class="title">
              <button type="button" class="ghost small back" aria-label="Back to the list" onClick={up}><Icon name={icon.back} /></button>
              <h1>{plainTitle(s.title)}</h1>
              <CopyButton text={s.id} label="Copy the session's id" />
              <SessionActions s={s} chats={chats ?? false} reload={asked.reload} />
            </div>
            <Meta s={s} />
            <Thread s={s} />
            {s.parts.length > 1 && (
              <nav aria-label="Parts of the session" class="parts">
                <ol>{s.parts.map((p, i) => (
                  <li key={p.id}>
                    <a href={toPart(p.id)} aria-current={p.id === part.id ? "step" : undefined} title={p.id}>Part {i + 1} <span class="dim">{count(p.messages)}</span></a>
                    {i < s.parts.length - 1 && <span class="dim why">{p.end_reason ?? "then"}</span>}
                  </li>
                ))}</ol>
              </nav>
            )}
            {badges.data && badges.data.badges.length > 0 && (
              <ul class="session-badges" aria-label="Achievements this session would earn by itself">
                {badges.data.badges.slice(0, 8).map((b) => <li key={b.id} title={b.description}><Medal item={b} size={20} />{b.name}</li>)}
              </ul>
            )}
            {making && <MakeTemplate session={s.id} onClose={up} />}
          </header>
          <Messages
            key={part.id} session={s} part={part.id} pane={pane}
            onNext={next ? <a class="button" href={toPart(next.id)}>Continue with part {index + 2}</a> : <span class="dim">End of the session</span>}
          />
        </div>
      )}
    </section>
  );
}
