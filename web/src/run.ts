// A run as the page sees it: its events made into one state, however often the line breaks. Every event has a number;
// one that was seen is dropped, and a missing one, or text that does not join on, means: take it up again.
import { useEffect, useState } from "preact/hooks";
import { ask, signedOut } from "./api";
import type { Chunk, Done, Metadata, Progress, RunError, Usage } from "./chat-types";
import { onEvent } from "./events";
import { readFrames, type Frame } from "./sse";

export interface Step extends Progress {
  key: string;
  ended: number; // when, or 0
}

export interface RunState {
  id: string;
  last: number; // number of the last event that was taken
  line: "open" | "lost" | "over" | "gone"; // gone: its events are kept no longer
  meta: Metadata | null;
  segments: string[];
  bytes: number;
  steps: Step[];
  thinking: string;
  usage: Usage | null;
  model: string;
  version: string;
  continuity: string;
  error: RunError | null;
  done: Done | null;
}

const fresh = (id: string): RunState => ({
  id, last: 0, line: "open", meta: null, segments: [], bytes: 0, steps: [], thinking: "", usage: null, model: "", version: "", continuity: "", error: null, done: null,
});

const encoder = new TextEncoder();
const silentMs = 45_000; // three heartbeats
const backoff = (attempt: number): number => (attempt === 0 ? 50 : Math.min(10_000, 300 * 2 ** attempt));

class Torn extends Error {}

// Stages that say something once and are not worth a row of their own.
const silent = new Set(["accepted", "persist", "usage", "session", "thinking"]);

const isOver = (p: Progress): boolean => ["completed", "failed", "degraded"].includes(p.status);

// A tool's later words belong to the row of its beginning, an answer to its question.
function addStep(s: RunState, p: Progress): void {
  const key = p.stage === "tool" ? `tool ${p.call_id ?? p.tool}` : p.stage;
  const joins = p.stage === "tool" || (p.stage === "approval" && isOver(p));
  const open = joins ? s.steps.findLast((x) => x.key === key && !x.ended) : undefined;
  const ended = isOver(p) ? p.ts : 0;
  if (open) Object.assign(open, p, { ts: open.ts, approval: open.approval, ended });
  else s.steps.push({ ...p, key, ended });
}

function progress(s: RunState, p: Progress): void {
  if (p.stage === "thinking") s.thinking += p.text ?? "";
  if (p.usage) s.usage = p.usage;
  if (p.model) s.model = p.model;
  if (p.runtime_version) s.version = p.runtime_version;
  if (p.stage === "session" && p.detail && !p.label) s.continuity = p.detail;
  if (!silent.has(p.stage) || p.label) addStep(s, p);
}

function chunk(s: RunState, c: Chunk): void {
  if (c.offset !== s.bytes) throw new Torn();
  s.segments[c.segment] = (s.segments[c.segment] ?? "") + c.text;
  s.bytes += encoder.encode(c.text).length;
}

// Whether it was news.
export function take(s: RunState, frame: Frame): boolean {
  const data = JSON.parse(frame.data) as { seq: number };
  if (data.seq <= s.last) return false;
  if (data.seq !== s.last + 1) throw new Torn();
  if (frame.event === "metadata") s.meta = data as unknown as Metadata;
  else if (frame.event === "progress") progress(s, data as unknown as Progress);
  else if (frame.event === "chunk") chunk(s, data as unknown as Chunk);
  else if (frame.event === "error") s.error = data as unknown as RunError;
  else if (frame.event === "done") s.done = data as unknown as Done;
  s.last = data.seq;
  return true;
}

// Told of every run that came to its end while it was followed.
const endings = new Set<(id: string) => void>();
export function onRunEnd(fn: (id: string) => void): () => void {
  endings.add(fn);
  return () => endings.delete(fn);
}

export class Run {
  state: RunState;
  private watchers = new Set<() => void>();
  private stop: AbortController | null = null;
  private users = 0;
  private frame = 0;
  private wake: () => void = () => undefined;

  constructor(id: string) {
    this.state = fresh(id);
  }

  // At most once a frame, however fast the words come.
  private draw(): void {
    if (this.frame) return;
    this.frame = requestAnimationFrame(() => {
      this.frame = 0;
      for (const fn of [...this.watchers]) fn();
    });
  }

  watch(fn: () => void): () => void {
    this.watchers.add(fn);
    this.users++;
    this.follow(null);
    return () => {
      this.watchers.delete(fn);
      // Who comes straight back finds the line still open.
      setTimeout(() => --this.users === 0 && this.leave(), 40);
    };
  }

  private leave(): void {
    this.stop?.abort();
    this.stop = null;
  }

  // `first`: the answer of the POST that began it, which is its stream.
  follow(first: Response | null): void {
    if (this.over() || (this.stop && !first)) return;
    this.leave();
    const stop = (this.stop = new AbortController());
    this.loop(first, stop.signal).finally(() => this.stop === stop && (this.stop = null));
  }

  // Whether somebody looks at it: then it stays the same one.
  looked(): boolean {
    return this.users > 0;
  }

  over(): boolean {
    return this.state.done !== null || this.state.line === "gone";
  }

  private async loop(response: Response | null, signal: AbortSignal): Promise<void> {
    const off = onEvent("reconnect", () => this.wake());
    for (let attempt = 0; !signal.aborted && !this.over(); attempt++) {
      const before = this.state.last;
      await this.read(response, signal).catch((cause) => {
        if (cause instanceof Torn) this.state = fresh(this.state.id);
      });
      response = null;
      if (signal.aborted || this.over()) break;
      if (this.state.last > before) attempt = 0;
      this.state.line = "lost";
      this.draw();
      await new Promise<void>((done) => {
        this.wake = done;
        signal.addEventListener("abort", () => done(), { once: true });
        setTimeout(done, backoff(attempt));
      });
    }
    off();
    if (!signal.aborted && this.state.line !== "gone") this.state.line = "over";
    this.draw();
  }

  private async read(given: Response | null, signal: AbortSignal): Promise<void> {
    const silence = new AbortController();
    let timer = setTimeout(() => silence.abort(), silentMs);
    const both = AbortSignal.any([signal, silence.signal]);
    try {
      const response = given ?? (await ask(`/api/runs/${encodeURIComponent(this.state.id)}/events?after=${this.state.last}`, both));
      if (response.status === 401) signedOut.set(true);
      if (response.status === 204 || response.status === 404) this.state.line = "gone";
      if (response.status !== 200 || !response.body) return;
      for await (const frame of readFrames(response.body, both, () => {
        clearTimeout(timer);
        timer = setTimeout(() => silence.abort(), silentMs);
      })) {
        if (signal.aborted) return;
        this.state.line = "open";
        if (take(this.state, frame)) this.draw();
        if (this.state.done) return endings.forEach((fn) => fn(this.state.id));
      }
    } finally {
      clearTimeout(timer);
      silence.abort(); // whatever is left of it
    }
  }
}

const runs = new Map<string, Run>();
const keepAtMost = 40;

export function runOf(id: string): Run {
  let run = runs.get(id);
  if (!run) {
    runs.set(id, (run = new Run(id)));
    const left = runs.size > keepAtMost && [...runs].find(([which, r]) => which !== id && !r.looked());
    if (left) runs.delete(left[0]);
  }
  return run;
}

// What is known of a run without asking.
export const knownRun = (id: string): RunState | null => runs.get(id)?.state ?? null;

// The state of a run that is looked at; it is followed for as long as somebody does.
export function useRun(id: string | null): RunState | null {
  const [, draw] = useState(0);
  useEffect(() => (id ? runOf(id).watch(() => draw((n) => n + 1)) : undefined), [id]);
  return id ? runOf(id).state : null;
}
