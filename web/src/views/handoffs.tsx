// Handoffs: sessions on their way, with every step and its time; the platforms they go to; what did not arrive.
import type { ComponentChildren, JSX } from "preact";
import { useLayoutEffect, useState } from "preact/hooks";
import { ApiError, enc } from "../api";
import { BeginHandoff } from "../components/pick-session";
import { Empty, Failure, Icon, Skeleton, Time, Updating } from "../components/ui";
import { count, lasted, plainTitle, plural } from "../format";
import { bringBack, change, isOver, isThere, platformName, roomOf, useHandoffs, useLetters, useParked, usePlatforms, way, type Handoff, type Platform } from "../handoffs";
import { icon, platformIcon } from "../icons";
import { useLate } from "../resource";
import { link, useRoute } from "../router";
import { useScrollMemory } from "../scroll";
import { LocalChat } from "./local-chat";

// -- one handoff ---------------------------------------------------------------------------------------------

function Steps({ h }: { h: Handoff }): JSX.Element {
  const at = new Map(h.steps.map((s) => [s.state, s.at_ms]));
  const failed = h.state === "failed" || h.state === "cancelled";
  const reached = way.findLastIndex(([state]) => at.has(state));
  return (
    <ol class="way" aria-label="Steps">
      {way.map(([state, word], i) => {
        const when = at.get(state);
        const how = when !== undefined ? "past" : failed && i === reached + 1 ? "failed" : !failed && i === reached + 1 ? "next" : "open";
        return (
          <li key={state} data-how={how} aria-current={how === "next" ? "step" : undefined}>
            <i />
            <span>{word}{how === "failed" && <span class="sr"> {h.state}</span>}</span>
            <small>{when === undefined ? "" : i === 0 ? <Time at={when / 1000} /> : `+${lasted((when - h.requested_ms) / 1000)}`}</small>
          </li>
        );
      })}
    </ol>
  );
}

// A handoff in a word; `last` is the latest of its session.
function stateWord(h: Handoff, last: boolean): string {
  if (h.state === "done") return !last ? "Done" : isThere(h) ? "Delivered" : "Returned";
  if (h.cancelling) return "Cancelling";
  return h.state === "failed" ? "Failed" : h.state === "cancelled" ? "Cancelled" : "In progress";
}

function Waits({ h, gateway }: { h: Handoff; gateway: boolean }): JSX.Element | null {
  if (isOver(h)) return h.error ? <p class="why" role="note">{h.error}</p> : null;
  if (h.error) return <p class="why" role="note">{h.error}. Retrying automatically ({plural(h.attempt, "attempt")} so far).</p>;
  return h.state === "queued" && !gateway ? <p class="dim">Waiting for a gateway. Start one with <code>talaria up</code>.</p> : null;
}

function Card({ h, last, gateway, reload }: { h: Handoff; last: boolean; gateway: boolean; reload(): void }): JSX.Element {
  const [error, setError] = useState<ApiError | null>(null);
  const [busy, setBusy] = useState(false);
  const act = async (what: Promise<ApiError | null>): Promise<void> => {
    setBusy(true);
    setError(await what);
    setBusy(false);
    reload();
  };
  const mayCancel = ["queued", "claimed", "prepared"].includes(h.state) && !h.cancelling;
  const mayRetry = last && (h.state === "failed" || h.state === "cancelled");
  const there = last && isThere(h);
  const title = h.title === null ? h.session_id : plainTitle(h.title);
  return (
    <li class="panel handoff" data-state={there ? "there" : isOver(h) ? h.state : "moving"}>
      <header>
        <Icon name={platformIcon(h.platform)} size={18} />
        <h2>{h.title === null ? <span class="dim">{title} (deleted)</span> : <a href={link(h.ours ? ["chat", h.session_id] : ["sessions", h.session_id])}>{title}</a>}</h2>
        <span class="dim to">to {platformName(h.platform)}{h.target !== "home" && `, ${h.target}`}</span>
        <span class="word">{stateWord(h, last)}</span>
      </header>
      <Steps h={h} />
      <Waits h={h} gateway={gateway} />
      {error && <p class="notice bad" role="alert"><Icon name={icon.failed} size={14} /> <span>{error.message}. {error.detail}</span></p>}
      {(mayCancel || mayRetry || there) && (
        <footer class="row-of">
          {there && h.platform === "local" && <a class="button" href={link(roomOf(h))}><Icon name={icon.local} size={14} /> Open the thread</a>}
          {there && <button type="button" disabled={busy} onClick={() => void act(bringBack(h.session_id))}><Icon name={icon.undo} size={14} /> Bring back to the terminal</button>}
          {mayRetry && <button type="button" disabled={busy} onClick={() => void act(change(`/api/handoffs/${enc(h.id)}/retry`))}><Icon name={icon.retry} size={14} /> Try again</button>}
          {mayCancel && <button type="button" disabled={busy} onClick={() => void act(change(`/api/handoffs/${enc(h.id)}/cancel`))}><Icon name={icon.close} size={14} /> Cancel</button>}
        </footer>
      )}
    </li>
  );
}

// -- platforms -------------------------------------------------------------------------------------------------

const links: Record<string, string> = { connected: "connected", connecting: "connecting", reconnecting: "reconnecting", refused: "rejected: check the token" };

function linkWord(p: Platform, gateway: boolean): string {
  if (p.link) return links[p.link] ?? p.link;
  return !p.enabled ? "not set up" : gateway ? "not connected" : "no gateway";
}

function PlatformRow({ p, gateway }: { p: Platform; gateway: boolean }): JSX.Element {
  const word = linkWord(p, gateway);
  return (
    <li class="platform" data-link={p.link ?? "none"}>
      <Icon name={platformIcon(p.name)} />
      <b>{p.name === "local" ? <a href={link(["handoffs", "local"])}>{platformName(p.name)}</a> : platformName(p.name)}</b>
      <span class="word">{word}{p.link === "connected" && p.account && ` as ${p.account}`}</span>
      {p.enabled && (
        <span class="dim facts">
          {p.home ? `Home: ${p.home.name || p.home.chat_id}` : "No home channel (type /sethome in a chat)"}
          {p.inbox + p.outbox > 0 && ` · ${plural(p.inbox, "message")} in, ${count(p.outbox)} out, for ${lasted(p.lag_ms / 1000)}`}
        </span>
      )}
      {!p.enabled && p.missing && <span class="dim facts">{p.missing}</span>}
      {p.error && <span class="why">{p.error} · <Time at={p.error_ms / 1000} long /></span>}
    </li>
  );
}

function Platforms(): JSX.Element {
  const { data, error, reload } = usePlatforms();
  return (
    <section class="panel" aria-label="Platforms">
      <div class="row"><h2>Platforms</h2>{data && <span class="dim">{data.gateway ? "Gateway running" : "No gateway running"}</span>}</div>
      {error && !data && <p class="notice bad" role="alert">Platforms could not be loaded: {error.message}. <button type="button" class="small" onClick={reload}>Try again</button></p>}
      {data && !data.gateway && <p>Handoffs wait until a gateway runs. <code>talaria up</code> starts it together with the page.</p>}
      {data?.trouble && <p class="notice bad" role="alert"><Icon name={icon.failed} size={14} /> <span>{data.trouble}</span></p>}
      <ul>{data?.platforms.map((p) => <PlatformRow key={p.name} p={p} gateway={data.gateway} />)}</ul>
    </section>
  );
}

// -- what did not arrive --------------------------------------------------------------------------------------------

function Lost({ name, what, children }: { name: string; what: string; children: ComponentChildren }): JSX.Element {
  return <section class="panel" aria-label={name}><div class="row"><h2>{name}</h2></div><p class="dim">{what}</p><ul class="lost-list">{children}</ul></section>;
}

function LostRow({ platform, text, why, at, path, reload }: { platform: string; text: string; why: string; at: number; path: string; reload(): void }): JSX.Element {
  const [error, setError] = useState<ApiError | null>(null);
  const retry = async (): Promise<void> => {
    setError(await change(path));
    reload();
  };
  return (
    <li>
      <Icon name={platformIcon(platform)} size={14} />
      <span class="what">{text || "(unreadable)"}</span>
      <button type="button" class="small" onClick={() => void retry()}><Icon name={icon.retry} size={14} /> Try again</button>
      <span class="why">{error ? `${error.message}. ${error.detail}` : why} · <Time at={at / 1000} long /></span>
    </li>
  );
}

function Undelivered(): JSX.Element {
  const letters = useLetters();
  const parked = useParked();
  return (
    <>
      {letters.data && letters.data.letters.length > 0 && (
        <Lost name="Undelivered messages" what="The platform rejected these messages.">
          {letters.data.letters.map((l) => <LostRow key={l.id} platform={l.platform} text={l.text} why={`${l.error ?? "not delivered"}, ${plural(l.attempt, "attempt")}`} at={l.created_ms} path={`/api/outbox/${enc(l.id)}/retry`} reload={letters.reload} />)}
        </Lost>
      )}
      {parked.data && parked.data.messages.length > 0 && (
        <Lost name="Parked messages" what="Every attempt to answer these messages failed.">
          {parked.data.messages.map((m) => <LostRow key={m.seq} platform={m.platform} text={m.text} why={m.reason ?? plural(m.attempt, "attempt")} at={m.received_ms} path={`/api/inbox/${m.seq}/retry`} reload={parked.reload} />)}
        </Lost>
      )}
    </>
  );
}

// -- the board ---------------------------------------------------------------------------------------------------------

function Board(): JSX.Element {
  const { data, error, busy, reload } = useHandoffs();
  const late = useLate(busy);
  const seen = new Set<string>();
  const cards = (data?.handoffs ?? []).map((h) => {
    const last = !seen.has(h.session_id);
    seen.add(h.session_id);
    return { h, last };
  });
  // What is under way stands first, then what is elsewhere now.
  const rank = ({ h, last }: (typeof cards)[number]): number => (!isOver(h) ? 0 : last && (isThere(h) || h.state === "failed") ? 1 : 2);
  cards.sort((a, b) => rank(a) - rank(b));
  return (
    <>
      <header class="title">
        <h1>Handoffs</h1>
        <Updating on={late && data !== undefined} />
        <span class="push row-of"><BeginHandoff /><a class="button" href={link(["handoffs", "local"])}><Icon name={icon.local} size={14} /> Local chat</a></span>
      </header>
      <div class="handoff-page">
        <section aria-label="Handoffs">
          {error && !data && <Failure error={error} what="Handoffs could not be loaded" retry={reload} />}
          {late && !data && <Skeleton rows={4} kind="lines" />}
          {data && cards.length === 0 && (
            <Empty title="Move a session between terminal and chat" mark={icon.handoff}>
              <p>Start in the terminal, continue on your phone, bring it back. The local chat works without an account.</p>
              <BeginHandoff primary />
            </Empty>
          )}
          <ul class="handoffs" aria-live="polite">{cards.map(({ h, last }) => <Card key={h.id} h={h} last={last} gateway={data!.gateway} reload={reload} />)}</ul>
        </section>
        <aside aria-label="Platforms and undelivered messages">
          <Platforms />
          <Undelivered />
        </aside>
      </div>
    </>
  );
}

export function HandoffsView(): JSX.Element {
  const { path } = useRoute();
  const local = path[1] === "local";
  const pane = useScrollMemory<HTMLElement>("handoffs", true);
  useLayoutEffect(() => pane.current?.focus({ preventScroll: true }), [local]);
  return local ? <LocalChat thread={path[2] ?? ""} /> : <main class="page" ref={pane} tabIndex={-1}><Board /></main>;
}
