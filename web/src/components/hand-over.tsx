// "Hand over", in the head of a session or a conversation: where it could go, or where it is.
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { ApiError } from "../api";
import { bringBack, cannot, change, isOver, isThere, platformName, roomOf, useHandoffs, useHasHandoffs, usePlatforms, type Handoff } from "../handoffs";
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
  const ask = async (platform: string): Promise<void> => {
    setAsking(true);
    const failed = await change("/api/handoffs", { session_id: session, platform, no_turn: quiet });
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
          const why = cannot(p, data.gateway, ours);
          return (
            <button key={p.name} type="button" disabled={why !== null || asking} onClick={() => void ask(p.name)}>
              <Icon name={platformIcon(p.name)} /><b>{platformName(p.name)}</b>
              <span class="dim">{why ?? (p.enabled ? p.home?.name : "by a gateway of Hermes")}</span>
            </button>
          );
        })}
      </div>
      {data && !data.gateway && <p>Start one with <code>talaria up</code> or <code>talaria gateway run</code>.</p>}
      <label class="check"><input type="checkbox" checked={quiet} onChange={(e) => setQuiet(e.currentTarget.checked)} /> Without a first word of the agent</label>
      <Trouble error={refused} />
    </>
  );
}

export function HandOver({ session, ours }: { session: string; ours: boolean }): JSX.Element | null {
  const has = useHasHandoffs();
  const { data, reload } = useHandoffs(has);
  const last = data?.handoffs.find((h) => h.session_id === session);
  if (!has) return null;
  const there = last && isThere(last);
  return (
    <Fold label={there ? `At ${platformName(last.platform)}` : last && !isOver(last) ? "On its way" : "Hand over"} mark={there ? platformIcon(last.platform) : icon.handoff}>
      {there ? <There h={last} reload={reload} /> : last && !isOver(last) ? <p>It is on its way to <b>{platformName(last.platform)}</b>. <a href={link(["handoffs"])}>See how far</a></p> : <Choose session={session} ours={ours} />}
    </Fold>
  );
}
