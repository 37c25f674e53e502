// The local chat: channels and threads on the left, the room that is open on the right.
import type { JSX } from "preact";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { useGrowing } from "../components/composer";
import { StreamText } from "../components/stream-text";
import { Empty, Failure, Icon, Skeleton, Time, Updating } from "../components/ui";
import { onEvent } from "../events";
import { plainTitle, plural } from "../format";
import { bringBack, isThere, useHandoffs } from "../handoffs";
import { icon } from "../icons";
import { useKeys } from "../keys";
import { roomName, useRoom, useWords, type LocalMessage, type LocalRoomRow } from "../local-room";
import { memo } from "../memo";
import { useLate, useResource, type Resource } from "../resource";
import { go, link, up, useRoute } from "../router";
import { useStickyEnd } from "../scroll";
import { say } from "../components/ui";

// -- the list ------------------------------------------------------------------------------------------------

// Asked for again only where a room or a message is new; words that grow are the room's own matter.
function useRooms<T>(path: string): Resource<T> {
  const rows = useResource<T>(path, ["status"]);
  useEffect(() => onEvent("local", (news) => (news as { rooms?: boolean } | null)?.rooms && rows.reload()), [rows.reload]);
  return rows;
}

function RoomLink({ row, href, current, mark }: { row: LocalRoomRow; href: string; current: boolean; mark: string }): JSX.Element {
  return (
    <li>
      <a class="room" href={href} aria-current={current ? "true" : undefined}>
        <Icon name={mark} />
        <span class="what">{plainTitle(row.title)}</span>
        <span class="line dim"><span class="where">{plural(row.messages, "message")}</span>{row.last_ms > 0 && <Time at={row.last_ms / 1000} />}</span>
      </a>
    </li>
  );
}

function Rooms({ channels, threads, channel, thread }: { channels: Resource<{ channels: LocalRoomRow[] }>; threads: Resource<{ threads: LocalRoomRow[] }>; channel: string; thread: string }): JSX.Element {
  const error = channels.error ?? threads.error;
  const late = useLate(threads.busy);
  const rows = threads.data?.threads ?? [];
  const at = rows.findIndex((t) => t.id === thread);
  const move = (by: number): boolean | void => {
    const to = rows[at < 0 ? 0 : at + by];
    if (!to) return false;
    go(["handoffs", "local", to.id], {}, thread !== "");
  };
  useKeys({ j: () => move(1), k: () => move(-1) });
  return (
    <section class="list-pane chats" aria-label="Rooms">
      <header><div class="title"><a class="button small ghost" href={link(["handoffs"])} aria-label="Back to handoffs"><Icon name={icon.back} /></a><h1>Local chat</h1><Updating on={late && threads.data !== undefined} /></div></header>
      <div class="scroll" tabIndex={0} role="region" aria-label="List of rooms">
        {error && !threads.data && <Failure error={error} what="The threads could not be loaded" retry={() => { channels.reload(); threads.reload(); }} />}
        {late && !threads.data && <Skeleton rows={4} kind="rows" />}
        <ul aria-label="Channels">{channels.data?.channels.map((c) => <RoomLink key={c.id} row={c} mark={icon.local} current={thread === "" && c.id === channel} href={link(["handoffs", "local"], { channel: c.id === "home" ? null : c.id, open: "1" })} />)}</ul>
        {rows.length > 0 && <h2>Threads</h2>}
        <ul aria-label="Threads">{rows.map((t) => <RoomLink key={t.id} row={t} mark={icon.thread} current={t.id === thread} href={link(["handoffs", "local", t.id])} />)}</ul>
        {threads.data && rows.length === 0 && <p class="dim none">A session that you hand over to the local chat gets a thread here.</p>}
      </div>
    </section>
  );
}

// -- the room -----------------------------------------------------------------------------------------------------

const Said = memo(function Said({ m }: { m: LocalMessage }): JSX.Element {
  if (m.author !== "talaria") {
    return <article class="said-by-user" aria-label="You"><div class="bubble"><StreamText text={m.text} breaks /></div><footer class="dim"><Time at={m.created_ms / 1000} long /></footer></article>;
  }
  return (
    <article class="said-by-agent" aria-label="Talaria" data-message={m.id}>
      <header><Icon name={icon.agent} size={14} /><b>Talaria</b><span class="dim push"><Time at={m.created_ms / 1000} long /></span></header>
      <StreamText text={m.text} breaks />
    </article>
  );
});

function Write({ channel, thread, onSent }: { channel: string; thread: string; onSent(): void }): JSX.Element {
  const words = useWords(channel, thread, onSent);
  const box = useRef<HTMLTextAreaElement>(null);
  useGrowing(box, words.text);
  useLayoutEffect(() => void (matchMedia("(hover: hover)").matches && box.current?.focus({ preventScroll: true })), []);
  useKeys({ i: () => box.current?.focus() });
  return (
    <form class="composer" aria-label="Message" onSubmit={(e) => { e.preventDefault(); words.send(); }}>
      {words.error && (
        <p class="notice bad" role="alert"><Icon name={icon.failed} size={14} /><span>{words.error.trouble === "network" ? "Not sent yet: the server does not answer. It will be sent when the connection is back." : `${words.error.message}. ${words.error.detail}`}</span></p>
      )}
      {words.waits && <p class="notice" role="status">Not sent yet: the thread is still loading. It will be sent right after.</p>}
      <div class="box one-line">
        <textarea
          ref={box} rows={1} value={words.text} aria-label="Message" placeholder="Write a message" maxLength={60_000} readOnly={words.sending}
          onInput={(e) => words.write(e.currentTarget.value)}
          onKeyDown={(e) => {
            if (e.key !== "Enter" || e.shiftKey || e.isComposing) return;
            e.preventDefault();
            words.send();
          }}
        />
        <button type="submit" class="primary send" aria-label="Send" title="Send (Enter)" disabled={!words.text.trim() || words.sending}><Icon name={icon.send} /></button>
      </div>
    </form>
  );
}

// The session that lives in this thread, if any.
function Lives({ thread }: { thread: string }): JSX.Element | null {
  const { data, reload } = useHandoffs();
  const h = data?.handoffs.find((x) => x.platform === "local" && x.thread === thread);
  if (!data) return null;
  if (!data.gateway) return <span class="warn">No gateway running: messages are not answered</span>;
  if (!h) return null;
  const back = async (): Promise<void> => {
    const failed = await bringBack(h.session_id);
    say(failed ? `${failed.message}. ${failed.detail}` : "Brought back to the terminal");
    reload();
  };
  return (
    <>
      <a class="button small" href={link(["sessions", h.session_id])}>Session</a>
      {isThere(h)
        ? <button type="button" class="small" onClick={() => void back()}><Icon name={icon.undo} size={14} /> Bring back to the terminal</button>
        : <span class="dim">The session was brought back</span>}
    </>
  );
}

function RoomPane({ channel, thread, title }: { channel: string; thread: string; title: string }): JSX.Element {
  const room = useRoom(channel, thread);
  const late = useLate(channel !== "" && !room.loaded && !room.error);
  const last = room.messages.at(-1);
  const { pane, away, toEnd } = useStickyEnd(`${channel} ${thread}`, `${last?.id} ${last?.text.length} ${room.typing}`);
  return (
    <section class="chat-pane" aria-label="Room">
      <header class="chat-head">
        <button type="button" class="ghost small back" aria-label="Back to the list" onClick={() => (thread ? up() : go(["handoffs", "local"]))}><Icon name={icon.back} /></button>
        <h1>{title}</h1><span class="push row-of"><Lives thread={thread} /></span>
      </header>
      <div class="messages" ref={pane} tabIndex={0} role="region" aria-label="Messages">
        <div class="inner" aria-live="polite">
          {late && <Skeleton rows={4} kind="lines" />}
          {room.error && !room.loaded && <Failure error={room.error} what={room.error.status === 404 ? "Thread not found" : "The thread could not be loaded"} retry={room.reload} />}
          {room.earlier && <button type="button" class="ghost" onClick={room.loadEarlier}>Earlier messages</button>}
          {room.loaded && !last && <Empty title={thread ? "No messages yet" : "A chat on this machine"} mark={icon.local}><p>{thread ? "Write the first one." : "A message here starts a new session. Sessions that you hand over get their own thread."}</p></Empty>}
          {room.messages.map((m) => <Said key={m.id} m={m} />)}
          {room.typing && <p class="doing" role="status"><i />Talaria is typing</p>}
          {room.error && room.loaded && <p class="notice" role="status">Not up to date: {room.error.message}. <button type="button" class="small" onClick={room.reload}>Try again</button></p>}
        </div>
      </div>
      <div class="below">
        {away && <button type="button" class="to-end" onClick={toEnd}><Icon name={icon.toEnd} size={14} /> To the end</button>}
        <Write channel={channel} thread={thread} onSent={() => { room.reload(); toEnd(); }} />
      </div>
    </section>
  );
}

export function LocalChat({ thread }: { thread: string }): JSX.Element {
  const { query } = useRoute();
  const channels = useRooms<{ channels: LocalRoomRow[] }>("/api/local/channels");
  const threads = useRooms<{ threads: LocalRoomRow[] }>("/api/local/threads");
  const row = threads.data?.threads.find((t) => t.id === thread);
  const channel = thread ? (row?.channel ?? "") : (query.channel ?? "home");
  const lost = thread !== "" && threads.data !== undefined && !row && !threads.busy;
  const title = thread ? (row ? plainTitle(row.title) : "") : (channels.data?.channels.find((c) => c.id === channel)?.title ?? "");
  return (
    <main class={thread || query.open ? "chat-view open" : "chat-view"} tabIndex={-1}>
      <Rooms channels={channels} threads={threads} channel={channel} thread={thread} />
      {lost
        ? <section class="chat-pane" aria-label="Room"><Empty title="Thread not found"><p>It may have been deleted with its handoff.</p><a class="button" href={link(["handoffs"])}>Go to Handoffs</a></Empty></section>
        : <RoomPane key={roomName(channel, thread)} channel={channel} thread={thread} title={title} />}
    </main>
  );
}
