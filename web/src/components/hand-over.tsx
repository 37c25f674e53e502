// "Hand over", in the head of a session or a conversation: where it could go, or where it is.
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { ApiError } from "../api";
import { bringBack, cannot, change, isOver, isThere, platformName, roomOf, useHandoffOf, useHasHandoffs, usePlatforms, wrongChat, type Handoff } from "../handoffs";
import { icon, platformIcon } from "../icons";
import { go, link } from "../router";
import { Fold, Icon, say } from "./ui";

function Trouble({ error }: { error: ApiError | null }): JSX.Element | null {
  return error && <p class="notice bad" role="alert"><Icon name={icon.failed} size={14} /> <span>{error.message}. {error.detail}</span></p>;
}

function There({ h, reload }: { h: Handoff; reload(): void }): JSX.Element {
  const [error, setError] = useState<ApiError | null>(null);
  const back = async (): Promise<void> => {
    const failed = await bringBack(h.session_id);
    setError(failed);
    if (!failed) say("It is the terminal's again");
    reload();
  };
  return (
    <>
      <p>This session goes on at <b>{platformName(h.platform)}</b>; it is answered there until it is brought back.</p>
      <Trouble error={error} />
      <p class="row-of">
        {h.platform === "local" && <a class="button" href={link(roomOf(h))}><Icon name={icon.local} size={14} /> Open the thread</a>}
        <button type="button" onClick={() => void back()}><Icon name={icon.undo} size={14} /> Bring back to the terminal</button>
      </p>
    </>
  );
}

function Choose({ session, ours }: { session: string; ours: boolean }): JSX.Element {
  const { data, error, reload } = usePlatforms();
  const [refused, setRefused] = useState<ApiError | null>(null);
  const [quiet, setQuiet] = useState(false);
  const [asking, setAsking] = useState(false);
  const [chat, setChat] = useState("");
  const [wrong, setWrong] = useState("");
  const ask = async (platform: string): Promise<void> => {
    const words = wrongChat(platform, chat);
    setRefused(null);
    setWrong(words ? `Not a chat of ${platformName(platform)}: ${words}` : "");
    if (words) return;
    setAsking(true);
    const failed = await change("/api/handoffs", { session_id: session, platform, no_turn: quiet, ...(chat && { target: chat }) });
    setAsking(false);
    setRefused(failed);
    if (!failed) go(["handoffs"]);
  };
  return (
    <>
      <p class="dim">The session goes on there, with all that was said. One place has it at any time.</p>
      {error && !data && <p class="notice bad" role="alert">{error.message}. <button type="button" class="small" onClick={reload}>Try again</button></p>}
      <div class="platform-choice">
        {data?.platforms.map((p) => {
          const why = cannot(p, data.gateway, ours, chat);
          return (
            <button key={p.name} type="button" disabled={why !== null || asking} onClick={() => void ask(p.name)}>
              <Icon name={platformIcon(p.name)} /><b>{platformName(p.name)}</b>
              <span class="dim">{why ?? (chat || (p.enabled ? p.home?.name : "by a gateway of Hermes"))}</span>
            </button>
          );
        })}
      </div>
      {data && !data.gateway && <p>Start one with <code>talaria up</code> or <code>talaria gateway run</code>.</p>}
      <label class="chat-there">Chat there <input value={chat} placeholder="home channel" maxLength={200} spellcheck={false} autocomplete="off" aria-invalid={wrong !== ""} aria-describedby={wrong ? "wrong-chat" : undefined} onInput={(e) => { setChat(e.currentTarget.value.trim()); setWrong(""); }} /></label>
      {wrong && <p class="bad" id="wrong-chat" role="alert">{wrong}</p>}
      <label class="check"><input type="checkbox" checked={quiet} onChange={(e) => setQuiet(e.currentTarget.checked)} /> Without a first word of the agent</label>
      <Trouble error={refused} />
    </>
  );
}

// In place of a composer's hint: a conversation that goes on elsewhere is not written to from here.
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
      <p role="status"><Icon name={platformIcon(h.platform)} size={14} /> <span>This conversation goes on at <b>{platformName(h.platform)}</b>.</span></p>
      <p class="row-of">
        {h.platform === "local" && <a class="button" href={link(roomOf(h))}>Open the thread</a>}
        <button type="button" disabled={asking} onClick={() => void back()}><Icon name={icon.undo} size={14} /> Take it back</button>
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

export function HandOver({ session, ours }: { session: string; ours: boolean }): JSX.Element | null {
  const has = useHasHandoffs();
  const { data, reload } = useHandoffOf(session, has);
  const last = data?.handoffs[0];
  if (!has) return null;
  const there = last && isThere(last);
  return (
    <Fold label={there ? `At ${platformName(last.platform)}` : last && !isOver(last) ? "On its way" : "Hand over"} mark={there ? platformIcon(last.platform) : icon.handoff}>
      {there ? <There h={last} reload={reload} /> : last && !isOver(last) ? <p>It is on its way to <b>{platformName(last.platform)}</b>. <a href={link(["handoffs"])}>See how far</a></p> : <Choose session={session} ours={ours} />}
    </Fold>
  );
}
