// The conversations, newest first. Names are searched here; what is not loaded yet is read on for that.
import type { JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import type { Conversation } from "../chat-types";
import { nameOf, type ConversationList } from "../conversations";
import { count, plural } from "../format";
import { icon } from "../icons";
import { useKeys } from "../keys";
import { memo } from "../memo";
import { useLate } from "../resource";
import { go, link, setQuery, useRoute } from "../router";
import { useScrollMemory } from "../scroll";
import { RuntimeMark } from "./runtime-menu";
import { Empty, Failure, FilterBox, Icon, Skeleton, Time, Updating } from "./ui";
import { VirtualList } from "./virtual-list";

const rowHeight = 56;

const Row = memo(function Row({ c, top, current, href, runtime, index }: { c: Conversation; top: number; current: boolean; href: string; runtime: string; index: number }): JSX.Element {
  return (
    <li class="chat-row" style={{ transform: `translateY(${top}px)` }} aria-posinset={index + 1}>
      <a href={href} aria-current={current ? "true" : undefined}>
        <RuntimeMark name={runtime} size={16} />
        <span class="what">{nameOf(c)}</span>
        <span class="line dim">
          <span class="where">{c.running ? <span class="running">answering…</span> : plural(c.messages, "message")}{c.parent_id && " · branch"}</span>
          <Time at={c.updated_ms / 1000} />
        </span>
      </a>
    </li>
  );
});

export function ChatList({ list, id, fallback }: { list: ConversationList; id: string | undefined; fallback: string }): JSX.Element {
  const { query } = useRoute();
  const pane = useRef<HTMLDivElement>(null);
  const late = useLate(list.busy);
  useScrollMemory("chat", list.loaded, pane);
  const text = (query.q ?? "").trim().toLowerCase();
  const rows = text ? list.rows.filter((c) => nameOf(c).toLowerCase().includes(text)) : list.rows;
  const reading = text !== "" && list.next !== null && !list.error;
  useEffect(() => void (reading && !list.busy && list.loadMore()), [reading, list.busy]);
  const at = rows.findIndex((c) => c.id === id);
  const move = (by: number): boolean | void => {
    const to = rows[at < 0 ? 0 : at + by];
    if (!to) return false;
    go(["chat", to.id], query.q ? { q: query.q } : {}, Boolean(id));
  };
  useKeys({ j: () => move(1), k: () => move(-1) });
  useEffect(() => {
    const el = pane.current;
    if (!el || at < 0) return;
    if (at * rowHeight < el.scrollTop) el.scrollTop = at * rowHeight;
    else if ((at + 1) * rowHeight > el.scrollTop + el.clientHeight) el.scrollTop = (at + 1) * rowHeight - el.clientHeight;
  }, [id, list.loaded]);
  return (
    <section class="list-pane chats" aria-label="Conversations">
      <header>
        <div class="title">
          <h1>Chat</h1><Updating on={late && list.loaded} />
          <span class="dim push">{list.loaded && list.rows.length > 0 && `${count(list.rows.length)}${list.next ? "+" : ""}`}</span>
          <a class="button" href={link(["chat"], { new: "1" })} aria-label="New conversation" title="New conversation (c)" aria-current={id ? undefined : "page"}><Icon name={icon.write} size={14} /> New</a>
        </div>
        {(list.rows.length > 0 || text) && <FilterBox value={query.q ?? ""} label="Search conversations" onInput={(q) => setQuery({ q })} onEnter={() => rows[0] && go(["chat", rows[0].id], { q: query.q })} />}
      </header>
      <div class="scroll" ref={pane} tabIndex={0} role="region" aria-label="List of conversations">
        {list.error && !list.loaded && <Failure error={list.error} what="Conversations could not be loaded" retry={list.reload} />}
        {late && !list.loaded && <Skeleton rows={8} kind="rows" />}
        {list.loaded && list.rows.length === 0 && <p class="dim none">Your conversations appear here.</p>}
        {list.loaded && list.rows.length > 0 && rows.length === 0 && !reading && <Empty title="No conversation matches"><button type="button" onClick={() => setQuery({ q: null })}>Show all</button></Empty>}
        <VirtualList
          items={rows} height={rowHeight} pane={pane} label="Conversations"
          onEnd={list.next !== null && !list.busy && !list.error ? list.loadMore : undefined}
          row={(c, i) => <Row key={c.id} c={c} index={i} top={i * rowHeight} current={c.id === id} runtime={c.default_runtime ?? fallback} href={link(["chat", c.id], query.q ? { q: query.q } : {})} />}
        />
        {list.error && list.loaded && <p class="notice bad" role="alert">{list.error.message}. <button type="button" class="small" onClick={list.reload}>Try again</button></p>}
        {reading && <p class="dim none" role="status">Loading more</p>}
      </div>
    </section>
  );
}
