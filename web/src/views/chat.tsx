// Chat: conversations on the left, the one that is open in the middle, and how its turns were made on the right.
import type { JSX } from "preact";
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { ApiError, enc, patch, post, remove } from "../api";
import { Boundary } from "../components/boundary";
import { ChatList } from "../components/chat-list";
import { AgentTurn, SettledTurn, SettledUser, UserTurn, type TurnActions } from "../components/chat-turn";
import { Composer } from "../components/composer";
import { HandOver } from "../components/hand-over";
import { RuntimeMark, useRuntimes } from "../components/runtime-menu";
import { TurnPanel } from "../components/turn-panel";
import { CopyButton, Failure, Fold, Icon, say, Skeleton, Updating } from "../components/ui";
import type { Attachment, ChatMessage, Conversation } from "../chat-types";
import { dropConversation, going, nameOf, putConversation, runningIn, tellNews, useConversation, useConversations, type Conversing } from "../conversations";
import { upright } from "../direction";
import { icon } from "../icons";
import { useKeys } from "../keys";
import { addFiles, again, forgetDraft, submit, useDraft, write } from "../outbox";
import { useLate } from "../resource";
import { go, setQuery, up, useRoute } from "../router";
import { useRun, type RunState } from "../run";
import { useStickyEnd } from "../scroll";
import { createStore, recall, remember, useStore } from "../store";

// Whether the panel is wanted; on small screens it is over the conversation and begins closed.
const wide = matchMedia("(min-width: 1100px)");
export const panelOpen = createStore(wide.matches && recall("panel") !== "closed");
function setPanel(open: boolean): void {
  if (wide.matches) remember("panel", open ? null : "closed");
  panelOpen.set(open);
}

export async function stopRun(run: string): Promise<void> {
  await post(`/api/runs/${enc(run)}/cancel`).catch((cause: ApiError) => say(`${cause.message}. ${cause.detail}`));
}

export async function branchFrom(id: string, through?: number): Promise<void> {
  try {
    const made = await post<Conversation>(`/api/conversations/${enc(id)}/branch`, through ? { through } : {});
    putConversation(made);
    tellNews(made.id);
    go(["chat", made.id]);
    say("Branched: the other conversation is unchanged");
  } catch (cause) {
    const error = cause as ApiError;
    say(`${error.message}. ${error.detail}`);
  }
}

// -- head ----------------------------------------------------------------------------------------------------

function Title({ c }: { c: Conversation }): JSX.Element {
  const { query } = useRoute();
  const [editing, setEditing] = useState(false);
  const [error, setError] = useState<ApiError | null>(null);
  const save = async (title: string): Promise<void> => {
    if (title.trim() === (c.title ?? "")) return setEditing(false);
    try {
      const changed = await patch<Conversation>(`/api/conversations/${enc(c.id)}`, { title: title.trim() });
      putConversation(changed);
      tellNews(c.id);
      setError(null);
      setEditing(false);
    } catch (cause) {
      setError(cause as ApiError);
    }
  };
  // Asked for from the palette. The field has the focus before the next key.
  useLayoutEffect(() => {
    if (!query.rename) return;
    setEditing(true);
    setQuery({ rename: null });
  }, [query.rename]);
  const box = useRef<HTMLInputElement>(null);
  useLayoutEffect(() => void (editing && box.current?.select()), [editing]);
  if (!editing) return <h1><button type="button" class="ghost rename" title="Rename" onClick={() => setEditing(true)}>{nameOf(c)}<Icon name={icon.rename} size={12} label="rename" /></button></h1>;
  return (
    <form class="renaming" onSubmit={(e) => { e.preventDefault(); void save(box.current!.value); }}>
      <input ref={box} defaultValue={c.title ?? c.first_words ?? ""} aria-label="Title" maxLength={200} onKeyDown={(e) => { if (e.key === "Escape") { e.preventDefault(); setEditing(false); } }} />
      <button type="submit">Rename</button>
      <button type="button" class="ghost" onClick={() => setEditing(false)}>Cancel</button>
      {error && <span class="bad" role="alert">{error.message}. {error.detail}</span>}
    </form>
  );
}

function DeleteButton({ c }: { c: Conversation }): JSX.Element {
  const dialog = useRef<HTMLDialogElement>(null);
  const [error, setError] = useState<ApiError | null>(null);
  const run = async (): Promise<void> => {
    going.add(c.id);
    try {
      await remove(`/api/conversations/${enc(c.id)}`);
      dropConversation(c.id);
      forgetDraft(c.id);
      go(["chat"], {}, true);
      tellNews(c.id);
    } catch (cause) {
      going.delete(c.id);
      setError(cause as ApiError);
    }
  };
  return (
    <>
      <button type="button" class="ghost small" aria-label="Delete" title="Delete this conversation" onClick={() => dialog.current?.showModal()}><Icon name={icon.remove} size={14} /></button>
      <dialog ref={dialog} aria-labelledby="delete-chat" onKeyDown={(e) => e.key === "Escape" && e.stopPropagation()}>
        <h2 id="delete-chat">Delete this conversation?</h2>
        <p><b>{nameOf(c)}</b> is deleted with its messages, files and turn details. This cannot be undone.</p>
        {error && <p class="notice bad" role="alert">{error.message}. {error.detail}</p>}
        <footer>
          <button type="button" onClick={() => dialog.current?.close()}>Keep it</button>
          <button type="button" class="danger primary" onClick={() => void run()}>Delete</button>
        </footer>
      </dialog>
    </>
  );
}

// Which runtimes have a thread of this conversation, and under what handle each.
function Threads({ c }: { c: Conversation }): JSX.Element | null {
  const all = Object.entries(c.agent_state?.runtimes ?? {});
  if (!all.length) return null;
  return (
    <Fold label={`Threads ${all.length}`} mark={icon.thread}>
      <p class="dim">Each runtime resumes its own thread; none sees another's handle.</p>
      <dl class="threads">
        {all.map(([name, handle]) => (
          <div key={name} data-active={name === c.agent_state?.active}>
            <dt><RuntimeMark name={name} /><b>{name}</b>{name === c.agent_state?.active && <span class="type">spoke last</span>}</dt>
            <dd class="mono" tabIndex={0}>{typeof handle === "string" ? handle : JSON.stringify(handle)}</dd>
          </div>
        ))}
      </dl>
    </Fold>
  );
}

function Head({ c, busy, panel }: { c: Conversation; busy: boolean; panel: boolean }): JSX.Element {
  return (
    <header class="chat-head">
      <button type="button" class="ghost small back" aria-label="Back to the list" onClick={up}><Icon name={icon.back} /></button>
      <Title c={c} />
      <Updating on={busy} />
      <Threads c={c} />
      <HandOver session={c.id} ours small />
      <CopyButton text={c.id} label="Copy the conversation's id" />
      <DeleteButton c={c} />
      <button type="button" class="ghost small" aria-label="Details" title="Details (])" aria-pressed={panel} onClick={() => setPanel(!panel)}><Icon name={icon.panel} size={14} /></button>
    </header>
  );
}

// -- messages ------------------------------------------------------------------------------------------------

function Messages({ o, running, live, shown, known, actions, inPanel }: {
  o: Conversing;
  running: string | null;
  live: RunState | null;
  shown: string | null; // the run in the panel
  known: RunState | null; // its state
  actions: TurnActions;
  inPanel: boolean;
}): JSX.Element {
  const byMessage = useMemo(() => {
    const map = new Map<string, Attachment[]>();
    for (const a of o.attachments) if (a.kind === "file" && a.message_id) map.set(a.message_id, [...(map.get(a.message_id) ?? []), a]);
    return map;
  }, [o.attachments]);
  const none = useRef<Attachment[]>([]).current;
  const stateOf = (m: ChatMessage): RunState | null => (m.run_id === null ? null : m.run_id === live?.id ? live : m.run_id === known?.id ? known : null);
  const pending = o.sent && !o.messages.some((m) => m.run_id === o.sent!.run) ? o.sent : null;
  const end = o.messages.length - 1;
  return (
    <>
      {o.messages.map((m, i) => {
        if (m.role === "user") return <SettledUser key={m.id} text={m.content} files={byMessage.get(m.id) ?? none} at={m.created_ms} />;
        const run = stateOf(m);
        const busy = m.status === "running" || (run !== null && m.run_id === running);
        const Turn = busy || run ? AgentTurn : SettledTurn;
        return <Turn key={m.id} message={m} run={run} actions={actions} last={i === end && !running && !pending} current={m.run_id === shown && inPanel} inPanel={inPanel && m.run_id === shown} sent={m.created_ms} />;
      })}
      {pending && <UserTurn key="sent" text={pending.text} files={o.attachments.filter((a) => pending.files.includes(a.id))} at={pending.at} />}
      {pending && <AgentTurn key="coming" message={null} run={live} actions={actions} last={false} current={false} inPanel={inPanel} sent={pending.at} />}
    </>
  );
}

// -- one conversation ------------------------------------------------------------------------------------------

function DropZone({ id, children }: { id: string; children: JSX.Element[] }): JSX.Element {
  const [over, setOver] = useState(0);
  const has = (e: DragEvent): boolean => Boolean(e.dataTransfer?.types.includes("Files"));
  return (
    <section
      class="chat-pane" aria-label="Conversation"
      onDragEnter={(e) => has(e) && setOver((n) => n + 1)} onDragLeave={(e) => has(e) && setOver((n) => Math.max(0, n - 1))}
      onDragOver={(e) => has(e) && e.preventDefault()}
      onDrop={(e) => { if (!has(e)) return; e.preventDefault(); setOver(0); void addFiles(id, [...e.dataTransfer!.files]); }}
    >
      {children}
      {over > 0 && <div class="drop-here"><p><Icon name={icon.clip} /> Drop files to add them</p></div>}
    </section>
  );
}

function Talk({ id }: { id: string }): JSX.Element {
  const o = useConversation(id);
  const panel = useStore(panelOpen);
  const running = runningIn(o);
  const live = useRun(running ?? o.sent?.run ?? null);
  const lastRun = o.sent?.run ?? o.messages.findLast((m) => m.run_id)?.run_id ?? null;
  const [picked, setPicked] = useState<string | null>(null);
  const shown = picked && o.messages.some((m) => m.run_id === picked) ? picked : lastRun;
  const known = useRun(shown);
  const late = useLate(o.busy);
  const draft = useDraft(id);
  // A new turn is what one wants to see.
  useLayoutEffect(() => setPicked(null), [running]);
  useEffect(() => void (o.conversation && (document.title = `${upright(nameOf(o.conversation))} · Talaria`)), [o.conversation]);
  const { pane, away, toEnd } = useStickyEnd(id, `${o.messages.length} ${o.sent?.run} ${live?.last}`);

  const actions = useMemo<TurnActions>(() => ({
    retry: (m) => {
      const asked = latest.current.messages.find((x) => x.role === "user" && x.run_id === m.run_id);
      if (!asked) return;
      const files = latest.current.attachments.filter((a) => a.kind === "file" && a.message_id === asked.id).map((a) => a.id);
      void again(id, asked.content, files);
    },
    branch: (seq) => void branchFrom(id, seq),
    look: (run) => { setPicked(run); setPanel(!(panelOpen.get() && run === shownNow.current)); },
  }), [id]);
  const latest = useRef(o);
  latest.current = o;
  const shownNow = useRef(shown);
  shownNow.current = shown;
  useKeys({ "]": () => setPanel(!panel), i: () => document.querySelector<HTMLElement>(".composer textarea")?.focus() });

  const pick = (name: string): void => {
    patch<Conversation>(`/api/conversations/${enc(id)}`, { runtime: name }).then((c) => { putConversation(c); tellNews(id); }, (cause: ApiError) => say(`${cause.message}. ${cause.detail}`));
  };
  // What was just begun here goes on here, also where the line broke before it could be read back.
  if (o.error && !o.loaded && !o.sent) {
    return (
      <DropZone id={id}>
        <button type="button" class="ghost small back alone" aria-label="Back to the list" onClick={up}><Icon name={icon.back} /></button>
        <Failure error={o.error} what={o.error.status === 404 ? "Conversation not found" : "This conversation could not be loaded"} retry={o.reload} />
      </DropZone>
    );
  }
  return (
    <>
      <DropZone id={id}>
        {o.conversation ? <Head c={o.conversation} busy={late && o.loaded} panel={panel} /> : <header class="chat-head" />}
        <div class="messages" ref={pane} tabIndex={0} role="region" aria-label="Messages">
          <div class="inner">
            {late && !o.loaded && <Skeleton rows={5} kind="lines" />}
            {o.loaded && o.messages.length === 0 && !o.sent && <p class="dim none">No messages yet.</p>}
            <Messages o={o} running={running} live={live} shown={shown} known={known} actions={actions} inPanel={panel} />
            {o.error && <p class="notice" role="status">Not up to date: {o.error.message}. <button type="button" class="small" onClick={o.reload}>Try again</button></p>}
          </div>
        </div>
        <div class="below">
          {away && <button type="button" class="to-end" onClick={toEnd}><Icon name={icon.toEnd} size={14} /> {running ? "Follow" : "Jump to latest"}</button>}
          <Composer
            id={id} runtime={draft.runtime || o.conversation?.default_runtime || o.conversation?.agent_state?.active || null} template={o.conversation?.template ?? null} running={running !== null}
            onPickRuntime={pick} onStop={() => running && void stopRun(running)}
          />
        </div>
      </DropZone>
      {panel && (
        <aside class="turn-panel" aria-label="Details" tabIndex={0}>
          <div class="panel-top"><h2>Details</h2>{picked && <button type="button" class="small ghost" onClick={() => setPicked(null)}>Latest turn</button>}<button type="button" class="ghost small" aria-label="Close the panel" onClick={() => setPanel(false)}><Icon name={icon.close} size={14} /></button></div>
          {known ? <TurnPanel key={known.id} run={known} attachments={o.attachments} /> : o.loaded && <p class="dim part">Shows the context, skills and tools of each turn.</p>}
        </aside>
      )}
    </>
  );
}

const ideas = ["What did I work on last week?", "Which commands failed most often, and why?", "What was decided about the deploy?"];

function Beginning({ first }: { first: boolean }): JSX.Element {
  const runtimes = useRuntimes();
  const d = useDraft("");
  const chosen = d.runtime || runtimes.data?.default || "";
  return (
    <DropZone id="">
      <header class="chat-head"><button type="button" class="ghost small back" aria-label="Back to the list" onClick={() => go(["chat"])}><Icon name={icon.back} /></button></header>
      <div class="messages beginning">
        <div class="inner">
          <div class="state">
            <Icon name={icon.chat} size={24} />
            <h1>{first ? "Chat with your whole history as context" : "New conversation"}</h1>
            <p>{first ? "Talaria adds relevant memory, notes and past sessions to each message, and shows you what it added. You can switch the runtime at any time." : "Talaria adds relevant passages from your past sessions to each message."}</p>
            {chosen === "offline" && <p>{runtimes.data?.default === "offline" && "No model is configured yet. "}The <b>Offline</b> runtime answers with quotes from your history.</p>}
            <ul class="ideas">{ideas.map((text) => <li key={text}><button type="button" onClick={() => { write("", { text }); void submit(""); }}>{text}</button></li>)}</ul>
          </div>
        </div>
      </div>
      <div class="below"><Composer id="" runtime={null} template={null} running={false} onPickRuntime={() => undefined} onStop={() => undefined} /></div>
    </DropZone>
  );
}

export function ChatView(): JSX.Element {
  const { path, query } = useRoute();
  const id = path[1];
  const list = useConversations();
  const runtimes = useRuntimes();
  const panel = useStore(panelOpen);
  useKeys({ c: () => go(["chat"], { new: "1" }) });
  const first = list.loaded && list.rows.length === 0;
  // At phone width either the list or what is open.
  const name = `chat-view${id || query.new || first ? " open" : ""}${id && panel ? " with-panel" : ""}`;
  return (
    <main class={name} tabIndex={-1}>
      <ChatList list={list} id={id} fallback={runtimes.data?.default ?? "offline"} />
      {id ? <Boundary at={id} what="This conversation" inside><Talk key={id} id={id} /></Boundary> : <Beginning first={first} />}
    </main>
  );
}

