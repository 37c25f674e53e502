// A room of the local chat: what was said in it, kept up to date by the event stream, and what is being written.
// Whatever grew since the answer before is asked for; words that are sent have a key, so that they arrive once.
import { useEffect, useRef, useState } from "preact/hooks";
import { ApiError, enc, getAlone, postOnce } from "./api";
import { onEvent } from "./events";
import { newKey } from "./outbox";
import { recall, remember } from "./store";

export interface LocalMessage {
  id: number;
  author: string;
  text: string;
  created_ms: number;
  edited_ms: number;
}

interface Answer {
  messages: LocalMessage[];
  earlier: boolean;
  changed_ms: number;
  typing_until_ms: number;
}

export interface Room {
  messages: LocalMessage[];
  loaded: boolean;
  earlier: boolean; // there is more above
  typing: boolean;
  error: ApiError | null;
  reload(): void;
  loadEarlier(): void;
}

export interface LocalRoomRow {
  id: string;
  title: string;
  channel: string;
  messages: number;
  last_ms: number;
}

const merged = (old: LocalMessage[], news: LocalMessage[]): LocalMessage[] => {
  const all = new Map(old.map((m) => [m.id, m]));
  // What has not changed stays the same object, so it is not drawn again.
  for (const m of news) {
    const was = all.get(m.id);
    if (!was || was.text !== m.text || was.edited_ms !== m.edited_ms) all.set(m.id, m);
  }
  return [...all.values()].sort((a, b) => a.id - b.id);
};

// channel "": not known yet.
export function useRoom(channel: string, thread: string): Room {
  const path = `/api/local/messages?channel=${enc(channel)}&thread=${enc(thread)}`;
  const [state, setState] = useState<Omit<Room, "reload" | "loadEarlier">>({ messages: [], loaded: false, earlier: false, typing: false, error: null });
  const it = useRef({ ask: (): void => undefined, more: (): void => undefined });
  const now = useRef(state);
  now.current = state;

  useEffect(() => {
    setState({ messages: [], loaded: false, earlier: false, typing: false, error: null });
    if (!channel) return;
    const stop = new AbortController();
    let since = 0;
    let busy = false;
    let again = false;
    let quiet: ReturnType<typeof setTimeout> | undefined;
    const take = (a: Answer, first: boolean): void => {
      since = Math.max(since, a.changed_ms);
      const left = a.typing_until_ms - Date.now();
      clearTimeout(quiet);
      if (left > 0) quiet = setTimeout(() => setState((s) => ({ ...s, typing: false })), left);
      setState((s) => ({ messages: merged(s.messages, a.messages), loaded: true, earlier: first ? a.earlier : s.earlier, typing: left > 0, error: null }));
    };
    // One question at a time; what changes meanwhile makes one more.
    const ask = async (): Promise<void> => {
      if (busy) return void (again = true);
      busy = true;
      do {
        again = false;
        try {
          const first = since === 0;
          take(await getAlone<Answer>(first ? path : `${path}&since=${since}`, stop.signal), first);
        } catch (cause) {
          if (stop.signal.aborted) return;
          setState((s) => ({ ...s, error: cause as ApiError }));
        }
      } while (again);
      busy = false;
    };
    it.current = {
      ask: () => void ask(),
      more: () => {
        const before = now.current.messages[0]?.id;
        if (before === undefined) return;
        getAlone<Answer>(`${path}&before=${before}`, stop.signal).then(
          (a) => setState((s) => ({ ...s, messages: merged(s.messages, a.messages), earlier: a.earlier })),
          (cause) => stop.signal.aborted || setState((s) => ({ ...s, error: cause as ApiError })),
        );
      },
    };
    void ask();
    const off = ["local", "status", "reconnect"].map((name) => onEvent(name, it.current.ask));
    return () => {
      stop.abort();
      clearTimeout(quiet);
      off.forEach((fn) => fn());
    };
  }, [path, channel]);
  return { ...state, reload: () => it.current.ask(), loadEarlier: () => it.current.more() };
}

export interface Words {
  text: string;
  waits: boolean; // for the room to be known
  sending: boolean;
  error: ApiError | null;
  write(text: string): void;
  send(): void;
}

interface Kept {
  text: string;
  key: string; // of what was sent and not answered
}

// A room's name, the same before and after the channel of its thread is known.
export const roomName = (channel: string, thread: string): string => (thread ? `thread ${thread}` : `channel ${channel}`);

// Words stay until the server has them; a line that breaks on the way sends them again when it is back. What is sent
// while the channel is not known yet goes out when it is.
export function useWords(channel: string, thread: string, onSent: () => void): Words {
  const place = `local draft ${roomName(channel, thread)}`;
  const stored = (): Kept => {
    try {
      return { text: "", key: "", ...(JSON.parse(recall(place) ?? "{}") as Partial<Kept>) };
    } catch {
      return { text: "", key: "" };
    }
  };
  const [kept, setKept] = useState<Kept>(stored);
  const [way, setWay] = useState<{ sending: boolean; error: ApiError | null }>({ sending: false, error: null });
  const [waits, setWaits] = useState(false);
  const put = (next: Kept): void => {
    remember(place, next.text ? JSON.stringify(next) : null);
    setKept(next);
  };
  const send = async (): Promise<void> => {
    const text = kept.text.trim();
    if (!text || way.sending) return;
    setWaits(!channel);
    if (!channel) return;
    const key = kept.key || newKey();
    put({ ...kept, key });
    setWay({ sending: true, error: null });
    try {
      await postOnce("/api/local/messages", { channel, thread, text }, key);
      put({ text: "", key: "" });
      setWay({ sending: false, error: null });
      onSent();
    } catch (cause) {
      setWay({ sending: false, error: cause as ApiError });
    }
  };
  const latest = useRef(send);
  latest.current = send;
  useEffect(() => void (waits && channel && latest.current()), [waits, channel]);
  const trouble = way.error?.trouble;
  useEffect(() => (trouble === "network" ? onEvent("reconnect", () => void latest.current()) : undefined), [trouble]);
  return {
    ...kept,
    ...way,
    waits,
    // Other words are another message.
    write: (text) => { put({ text, key: "" }); setWaits(false); setWay({ sending: false, error: null }); },
    send: () => void send(),
  };
}
