// "Hand over", in the head of a session or a conversation: a dialog that asks where to, or says where the session is.
import type { JSX } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import type { ApiError } from "../api";
import { bringBack, cannot, change, isOver, isThere, platformName, roomOf, useHandoffOf, useHasHandoffs, usePlatforms, wrongChat, type Handoff } from "../handoffs";
import { icon, platformIcon } from "../icons";
import { link } from "../router";
import { Icon, say } from "./ui";

function Trouble({ error }: { error: ApiError | null }): JSX.Element | null {
  return error && <p class="notice bad" role="alert"><Icon name={icon.failed} size={14} /> <span>{error.message}. {error.detail}</span></p>;
}

// Where one reads what was handed over: the thread itself, if it is on this machine.
function OpenLink({ h, onGo }: { h: Handoff; onGo?: () => void }): JSX.Element {
  return h.platform === "local"
    ? <a class="button" href={link(roomOf(h))} onClick={onGo}><Icon name={icon.local} size={14} /> Open the thread</a>
    : <a class="button" href={link(["handoffs"])} onClick={onGo}><Icon name={icon.handoff} size={14} /> Show in Handoffs</a>;
}

function There({ h, reload, close }: { h: Handoff; reload(): void; close(): void }): JSX.Element {
  const [error, setError] = useState<ApiError | null>(null);
  const back = async (): Promise<void> => {
    const failed = await bringBack(h.session_id);
    setError(failed);
    if (!failed) say("Brought back to the terminal");
    reload();
  };
  return (
    <>
      <p>This session is already in <b>{platformName(h.platform)}</b>. The agent answers there until you bring it back.</p>
      <Trouble error={error} />
      <footer>
        <button type="button" onClick={() => void back()}><Icon name={icon.undo} size={14} /> Bring back to the terminal</button>
        <OpenLink h={h} onGo={close} />
      </footer>
    </>
  );
}

// What became of a handoff that was just begun here.
function Sent({ h, close }: { h: Handoff | undefined; close(): void }): JSX.Element {
  const failed = h?.state === "failed" || h?.state === "cancelled";
  return (
    <>
      {!h || !isOver(h)
        ? <p role="status" class="doing"><i />{h ? `Handing over to ${platformName(h.platform)}…` : "Handing over…"}</p>
        : failed
          ? <p class="notice bad" role="alert"><Icon name={icon.failed} size={14} /> <span>Not delivered{h.error && `: ${h.error}`}</span></p>
          : <p role="status">Delivered to <b>{platformName(h.platform)}</b>.</p>}
      <footer>
        <button type="button" onClick={close}>Close</button>
        {h && isThere(h) ? <OpenLink h={h} onGo={close} /> : <a class="button" href={link(["handoffs"])} onClick={close}><Icon name={icon.handoff} size={14} /> Show in Handoffs</a>}
      </footer>
    </>
  );
}

function Choose({ session, ours, onAsked, close }: { session: string; ours: boolean; onAsked(): void; close(): void }): JSX.Element {
  const { data, error, reload } = usePlatforms();
  const [refused, setRefused] = useState<ApiError | null>(null);
  const [quiet, setQuiet] = useState(false);
  const [asking, setAsking] = useState(false);
  const [chat, setChat] = useState("");
  const [wrong, setWrong] = useState("");
  const [picked, setPicked] = useState("");
  const can = data?.platforms.filter((p) => cannot(p, data.gateway, ours, chat) === null) ?? [];
  const platform = can.find((p) => p.name === picked)?.name ?? can.find((p) => p.name === "local")?.name ?? can[0]?.name ?? "";
  const ask = async (): Promise<void> => {
    const words = wrongChat(platform, chat);
    setRefused(null);
    setWrong(words ? `Not a chat of ${platformName(platform)}: ${words}` : "");
    if (words) return;
    setAsking(true);
    const failed = await change("/api/handoffs", { session_id: session, platform, no_turn: quiet, ...(chat && { target: chat }) });
    setAsking(false);
    setRefused(failed);
    if (!failed) onAsked();
  };
  return (
    <form onSubmit={(e) => { e.preventDefault(); void ask(); }}>
      <p class="dim">The conversation continues there with its whole history. One place has it at a time; you can bring it back.</p>
      {error && !data && <p class="notice bad" role="alert">{error.message}. <button type="button" class="small" onClick={reload}>Try again</button></p>}
      <fieldset class="platform-choice">
        <legend>Platform</legend>
        {data?.platforms.map((p) => {
          const why = cannot(p, data.gateway, ours, chat);
          return (
            <label key={p.name} data-off={why !== null || undefined}>
              <input type="radio" name="platform" value={p.name} checked={p.name === platform} disabled={why !== null || asking} onChange={() => { setPicked(p.name); setWrong(""); }} />
              <Icon name={platformIcon(p.name)} /><b>{platformName(p.name)}</b>
              <span class="dim">{why ?? (chat || (p.enabled ? p.home?.name : "through Hermes' gateway"))}</span>
            </label>
          );
        })}
      </fieldset>
      {data && !data.gateway && <p>No gateway is running. Start one with <code>talaria up</code>.</p>}
      <label class="field">Chat
        <input value={chat} placeholder="default: home channel" maxLength={200} spellcheck={false} autocomplete="off" aria-invalid={wrong !== ""} aria-describedby={wrong ? "wrong-chat" : undefined} onInput={(e) => { setChat(e.currentTarget.value.trim()); setWrong(""); }} />
      </label>
      {wrong && <p class="bad" id="wrong-chat" role="alert">{wrong}</p>}
      <label class="check"><input type="checkbox" checked={quiet} onChange={(e) => setQuiet(e.currentTarget.checked)} /> Don't let the agent speak first</label>
      <Trouble error={refused} />
      <footer>
        <button type="button" onClick={close}>Cancel</button>
        <button type="submit" class="primary" disabled={!platform || asking}><Icon name={icon.handoff} size={14} /> Hand over{platform && ` to ${platformName(platform)}`}</button>
      </footer>
    </form>
  );
}

// What the dialog says of one session: where it is, how far it is, or where it could go.
export function HandOverSteps({ session, ours, close }: { session: string; ours: boolean; close(): void }): JSX.Element {
  const { data, reload } = useHandoffOf(session);
  const [asked, setAsked] = useState(false);
  const last = data?.handoffs[0];
  if (asked) return <Sent h={last} close={close} />;
  if (last && isThere(last)) return <There h={last} reload={reload} close={close} />;
  if (last && !isOver(last)) return <Sent h={last} close={close} />;
  return <Choose session={session} ours={ours} onAsked={() => { setAsked(true); reload(); }} close={close} />;
}

// A modal dialog that is in the document only while it is open.
export function Modal({ title, onClose, children }: { title: string; onClose(): void; children: JSX.Element | (JSX.Element | null | false)[] }): JSX.Element {
  const box = useRef<HTMLDialogElement>(null);
  useLayoutEffect(() => {
    box.current?.showModal();
    const opened = document.activeElement as HTMLElement | null;
    return () => opened?.blur?.();
  }, []);
  return (
    <dialog
      ref={box} class="modal" aria-label={title} onClose={onClose} onClick={(e) => e.target === box.current && box.current?.close()}
      onKeyDown={(e) => e.key === "Escape" && e.stopPropagation()}
    >
      <header><h2>{title}</h2><button type="button" class="ghost small" aria-label="Close" onClick={() => box.current?.close()}><Icon name={icon.close} size={14} /></button></header>
      {children}
    </dialog>
  );
}

// In place of a composer's hint: a conversation that continues elsewhere is not written to from here.
export function Away({ h, reload }: { h: Handoff; reload(): void }): JSX.Element {
  const [error, setError] = useState<ApiError | null>(null);
  const [asking, setAsking] = useState(false);
  const back = async (): Promise<void> => {
    setAsking(true);
    setError(await bringBack(h.session_id));
    setAsking(false);
    reload();
  };
  return (
    <div class="away">
      <p role="status"><Icon name={platformIcon(h.platform)} size={14} /> <span>This conversation continues in <b>{platformName(h.platform)}</b>.</span></p>
      <p class="row-of">
        {h.platform === "local" && <a class="button" href={link(roomOf(h))}>Open the thread</a>}
        <button type="button" disabled={asking} onClick={() => void back()}><Icon name={icon.undo} size={14} /> Bring it back</button>
      </p>
      <Trouble error={error} />
    </div>
  );
}

// Where a session is now, if not here.
export function useAway(session: string): { away: Handoff | null; reload(): void } {
  const { data, reload } = useHandoffOf(session, useHasHandoffs() && session !== "");
  const last = data?.handoffs[0];
  return { away: last && isThere(last) ? last : null, reload };
}

export function HandOver({ session, ours, small = false }: { session: string; ours: boolean; small?: boolean }): JSX.Element | null {
  const has = useHasHandoffs();
  const { data } = useHandoffOf(session, has);
  const [open, setOpen] = useState(false);
  const last = data?.handoffs[0];
  if (!has) return null;
  const there = last && isThere(last);
  const label = there ? `In ${platformName(last.platform)}` : last && !isOver(last) ? "In progress" : "Hand over";
  return (
    <>
      <button type="button" class={small ? "ghost small wordy" : ""} title={label} aria-haspopup="dialog" aria-expanded={open} onClick={() => setOpen(true)}>
        <Icon name={there ? platformIcon(last.platform) : icon.handoff} size={14} /> <span>{label}</span>
      </button>
      {open && <Modal title="Hand over" onClose={() => setOpen(false)}><HandOverSteps session={session} ours={ours} close={() => setOpen(false)} /></Modal>}
    </>
  );
}
