// What a request becomes with this template in front: pasted as JSON or as plain words, answered by the server.
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { ApiError, enc, post } from "../api";
import { count, plural } from "../format";
import { icon } from "../icons";
import type { ChatMessage, Injection } from "../types";
import { CopyButton, Icon, Select } from "./ui";

const sample = "Fix the failing build and tell me what it was.";

function readRequest(text: string): ChatMessage[] | string {
  const trimmed = text.trim();
  if (!/^[[{]/.test(trimmed)) return [{ role: "user", content: trimmed || sample }];
  try {
    const value = JSON.parse(trimmed) as unknown;
    const list = Array.isArray(value) ? value : (value as { messages?: unknown }).messages;
    return Array.isArray(list) ? (list as ChatMessage[]) : "No list of messages found in the JSON.";
  } catch (cause) {
    return `Invalid JSON: ${(cause as Error).message}`;
  }
}

function oneLine(m: ChatMessage): string {
  const call = m.tool_calls?.[0]?.function;
  if (call) return `${call.name} ${call.arguments}`;
  return typeof m.content === "string" ? m.content.replace(/\s+/g, " ") : JSON.stringify(m.content);
}

const isPut = (m: ChatMessage): boolean => {
  const text = JSON.stringify(m);
  return text.includes('"template_') || text.includes("Session template: ");
};

export function TryInjection({ name }: { name: string }): JSX.Element {
  const [text, setText] = useState("");
  const [format, setFormat] = useState("openai");
  const [made, setMade] = useState<Injection | null>(null);
  const [wrong, setWrong] = useState("");
  const [busy, setBusy] = useState(false);
  const run = async (): Promise<void> => {
    const messages = readRequest(text);
    if (typeof messages === "string") return setWrong(messages);
    setWrong("");
    setBusy(true);
    try {
      // Looking is not using: the template's count stays as it is.
      setMade(await post<Injection>(`/api/templates/${enc(name)}/inject`, { messages, format, count: false }));
    } catch (cause) {
      setWrong(`${(cause as ApiError).message}. ${(cause as ApiError).detail}`);
    }
    setBusy(false);
  };
  return (
    <form class="panel" aria-label="Try it" onSubmit={(e) => { e.preventDefault(); void run(); }}>
      <h2>Try it on a request</h2>
      <label class="field">Text, or messages as JSON
        <textarea value={text} placeholder={sample} spellcheck={false} onInput={(e) => setText(e.currentTarget.value)} />
      </label>
      <div class="row">
        <Select label="Message format" value={format} options={[["openai", "OpenAI"], ["anthropic", "Anthropic"]]} onPick={setFormat} />
        <button type="submit" disabled={busy}><Icon name={icon.inject} size={14} /> Inject</button>
      </div>
      {wrong && <p class="notice bad" role="alert">{wrong}</p>}
      {made && (
        <>
          <div class="row">
            <span role="status">{plural(made.messages.length, "message")}; {made.reason}{made.tokens ? `, about ${count(made.tokens)} additional tokens` : ""}</span>
            <CopyButton text={JSON.stringify(made.messages, null, 2)} label="Copy the messages" />
          </div>
          <ol class="result" tabIndex={0} aria-label="Messages with the template">
            {made.messages.map((m, i) => <li key={i} class={isPut(m) ? "put" : ""}><span class="dim">{m.role}</span><span>{oneLine(m)}</span></li>)}
          </ol>
        </>
      )}
    </form>
  );
}
