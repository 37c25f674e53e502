// What is being written, for each conversation, and how it goes out. Words stay in the draft until the server has
// taken them in; a line that breaks on the way sends them again when it is back, under the same key, so a turn
// that did arrive is not made twice.
import { ApiError, enc, post, postStream } from "./api";
import type { Conversation } from "./chat-types";
import { openOf, putConversation, tellNews, updateOpen } from "./conversations";
import { onEvent } from "./events";
import { go, route } from "./router";
import { runOf } from "./run";
import { createStore, recall, remember, useStore, type Store } from "./store";

export interface DraftFile {
  id: string;
  name: string;
  size: number;
}

export interface Draft {
  text: string;
  files: DraftFile[];
  runtime: string; // "": the conversation's own
  model: string;
  template: string;
  key: string; // of what was sent and not answered
  // Not kept:
  sending: boolean;
  waits: boolean; // for the line, or for the turn before it; goes out by itself then
  uploading: string[];
  error: ApiError | null;
}

const empty: Draft = { text: "", files: [], runtime: "", model: "", template: "", key: "", sending: false, waits: false, uploading: [], error: null };
const drafts = new Map<string, Store<Draft>>();
const place = (id: string): string => `draft ${id}`;

function stored(id: string): Draft {
  try {
    const { text = "", files = [], runtime = "", model = "", template = "", key = "" } = JSON.parse(recall(place(id)) ?? "{}") as Partial<Draft>;
    return { ...empty, text, files, runtime, model, template, key };
  } catch {
    return empty;
  }
}

// id "": the conversation that does not exist yet.
export function draftOf(id: string): Store<Draft> {
  let d = drafts.get(id);
  if (!d) drafts.set(id, (d = createStore(stored(id))));
  return d;
}
export const useDraft = (id: string): Draft => useStore(draftOf(id));

function put(id: string, part: Partial<Draft>): void {
  const d = { ...draftOf(id).get(), ...part };
  draftOf(id).set(d);
  const { text, files, runtime, model, template, key } = d;
  const blank = !text && !files.length && !runtime && !model && !template;
  remember(place(id), blank ? null : JSON.stringify({ text, files, runtime, model, template, key }));
}

// What is changed is another message: it is not the one that may have arrived.
export const write = (id: string, part: Partial<Pick<Draft, "text" | "files" | "runtime" | "model" | "template">>): void =>
  put(id, { ...part, key: "", waits: false, error: null });
export const forgetDraft = (id: string): void => {
  drafts.delete(id);
  remember(place(id), null);
};

// -- files ---------------------------------------------------------------------------------------------------

export const fileLimit = 5 * 1024 * 1024;
export const filesLimit = 64;

async function base64(file: File): Promise<string> {
  const url = await new Promise<string>((done, fail) => {
    const reader = new FileReader();
    reader.onload = () => done(String(reader.result));
    reader.onerror = () => fail(new ApiError("shape", 0, `${file.name} could not be read`, "Check that it still exists."));
    reader.readAsDataURL(file);
  });
  return url.slice(url.indexOf(",") + 1);
}

function tooMuch(file: File, have: number): ApiError | null {
  if (file.size > fileLimit) return new ApiError("shape", 0, `${file.name} is too large`, "The limit is 5 MB per file.");
  if (have >= filesLimit) return new ApiError("shape", 0, `Too many files`, `A conversation can have up to ${filesLimit} files.`);
  return null;
}

// Gives the conversation that the files are in: it must be there before a file can be.
export async function addFiles(id: string, files: File[]): Promise<string> {
  for (const file of files) {
    const d = draftOf(id).get();
    const error = tooMuch(file, d.files.length);
    if (error) {
      put(id, { error });
      continue;
    }
    put(id, { uploading: [...d.uploading, file.name], error: null });
    try {
      const reading = base64(file);
      reading.catch(() => undefined); // told below
      id = await begin(id);
      const data = await reading;
      const made = await post<{ id: string; size: number }>(`/api/conversations/${enc(id)}/files`, { name: file.name, mime: file.type, data });
      put(id, { files: [...draftOf(id).get().files, { id: made.id, name: file.name, size: made.size }], key: "" });
    } catch (cause) {
      put(id, { error: cause as ApiError });
    }
    put(id, { uploading: draftOf(id).get().uploading.filter((n) => n !== file.name) });
  }
  return id;
}

// -- sending -------------------------------------------------------------------------------------------------

// The conversation of a draft: made where there is none, once, and the draft goes with it.
let beginning: Promise<string> | null = null;
const begin = async (id: string): Promise<string> => id || (beginning ??= make().finally(() => (beginning = null)));

async function make(): Promise<string> {
  const d = draftOf("").get();
  const made = await post<Conversation>("/api/conversations", { ...(d.runtime && { runtime: d.runtime }), ...(d.template && { template: d.template }) });
  put(made.id, { ...draftOf("").get(), template: "" });
  put("", empty);
  putConversation(made);
  if (route.get().path[0] === "chat" && !route.get().path[1]) go(["chat", made.id], {}, true);
  return made.id;
}

// randomUUID is there in secure contexts only.
export const newKey = (): string => [...crypto.getRandomValues(new Uint8Array(16))].map((b) => b.toString(16).padStart(2, "0")).join("");

async function out(id: string, text: string, files: string[], key: string): Promise<void> {
  const d = draftOf(id).get();
  const response = await postStream(
    `/api/conversations/${enc(id)}/chat`,
    { text, files, ...(d.runtime && { runtime: d.runtime }), ...(d.model && { model: d.model }) },
    { "Idempotency-Key": key },
    new AbortController().signal,
  );
  const run = response.headers.get("X-Run-Id") ?? "";
  updateOpen(openOf(id), { sent: { run, text, files, at: Date.now() } });
  runOf(run).follow(response);
  tellNews(id);
}

export async function submit(id: string): Promise<void> {
  const d = draftOf(id).get();
  if (d.sending || d.uploading.length || !d.text.trim()) return;
  put(id, { sending: true, error: null, waits: false });
  try {
    id = await begin(id);
    const { text, files, key: before } = draftOf(id).get();
    const key = before || newKey();
    put(id, { key });
    await out(id, text.trim(), files.map((f) => f.id), key);
    // A file that was added meanwhile is of the next one.
    put(id, { text: "", files: draftOf(id).get().files.filter((f) => !files.includes(f)), key: "", sending: false });
  } catch (cause) {
    const error = cause as ApiError;
    // A key that another message had (409) is no use any more; that one turn is under way already is told by the view.
    put(id, { sending: false, error, waits: error.trouble === "network", ...(error.status && { key: "" }) });
    if (error.status === 409) tellNews(id);
  }
}

// While a turn is under way: when it is over. Whoever changes the words meanwhile has not sent them.
export const sendLater = (id: string): void => put(id, { waits: true, error: null });

// The same words again, as a new turn; what is being written meanwhile stays where it is.
export async function again(id: string, text: string, files: string[]): Promise<void> {
  put(id, { sending: true, error: null });
  try {
    await out(id, text, files, newKey());
    put(id, { sending: false });
  } catch (cause) {
    put(id, { sending: false, error: cause as ApiError });
  }
}

onEvent("reconnect", () => {
  for (const [id, d] of drafts) if (d.get().waits && d.get().error) void submit(id);
});
