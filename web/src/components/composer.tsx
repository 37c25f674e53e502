// Where one writes. Nothing in it is lost: words and files are kept until the server has taken them in.
import type { JSX, RefObject } from "preact";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { plural, size } from "../format";
import { icon } from "../icons";
import { addFiles, fileLimit, filesLimit, sendLater, submit, useDraft, write } from "../outbox";
import { useResource } from "../resource";
import type { TemplateRow } from "../types";
import { Away, useAway } from "./hand-over";
import { RuntimeMenu, useRuntimes } from "./runtime-menu";
import { Icon, Select } from "./ui";

const tallest = 260;

// As tall as what is in it.
export function useGrowing(box: RefObject<HTMLTextAreaElement | null>, text: string): void {
  useLayoutEffect(() => {
    const el = box.current;
    if (!el) return;
    el.style.height = "auto";
    el.style.height = `${Math.min(tallest, el.scrollHeight)}px`;
  }, [text]);
}

function TemplateChoice({ id, value }: { id: string; value: string }): JSX.Element {
  const { data } = useResource<{ templates: TemplateRow[] }>("/api/templates");
  const options: [string, string][] = [["", "No template"], ["auto", "Template: auto"], ...(data?.templates ?? []).map((t): [string, string] => [t.name, `Template: ${t.name}`])];
  return <Select label="Template" value={value} options={options} onPick={(template) => write(id, { template })} />;
}

function Files({ id }: { id: string }): JSX.Element | null {
  const { files, uploading } = useDraft(id);
  if (!files.length && !uploading.length) return null;
  return (
    <ul class="file-chips" aria-label="Files to send">
      {files.map((f) => (
        <li key={f.id}>
          <Icon name={icon.file} size={12} /><span class="name">{f.name}</span><span class="dim">{size(f.size)}</span>
          <button type="button" class="ghost small" aria-label={`Remove ${f.name}`} onClick={() => write(id, { files: files.filter((x) => x.id !== f.id) })}><Icon name={icon.close} size={12} /></button>
        </li>
      ))}
      {uploading.map((n) => <li key={n} class="dim" role="status"><Icon name={icon.file} size={12} /><span class="name">{n}</span>adding</li>)}
    </ul>
  );
}

export function Composer({ id, runtime, template, running, onPickRuntime, onStop }: {
  id: string; // "": a conversation that begins with what is written here
  runtime: string | null; // of the conversation
  template: string | null;
  running: boolean;
  onPickRuntime(name: string): void;
  onStop(): void;
}): JSX.Element {
  const d = useDraft(id);
  const runtimes = useRuntimes();
  const box = useRef<HTMLTextAreaElement>(null);
  const picker = useRef<HTMLInputElement>(null);
  useGrowing(box, d.text);
  // Ready to type, but for phones, where that would raise the keyboard over half of what one came to read.
  useLayoutEffect(() => void (matchMedia("(hover: hover)").matches && box.current?.focus({ preventScroll: true })), [id]);
  const chosen = d.runtime || runtime || runtimes.data?.default || "";
  const { away, reload } = useAway(id);
  const ready = !away && d.text.trim() !== "" && !d.sending && !d.uploading.length;
  const send = (): void => {
    if (ready && running) sendLater(id);
    else if (ready) void submit(id);
  };
  const later = d.waits && !d.error && !away;
  useEffect(() => void (later && !running && submit(id)), [later, running]);
  const add = (files: FileList | null | undefined): boolean => {
    if (!files?.length) return false;
    void addFiles(id, [...files]);
    return true;
  };
  return (
    <form class="composer" aria-label="Message" onSubmit={(e) => { e.preventDefault(); send(); }}>
      {d.error && (
        <p class="notice bad" role="alert">
          <Icon name={icon.failed} size={14} />
          <span>{d.waits ? "Not sent yet: the server does not answer. It will be sent when the connection is back." : `${d.error.message}. ${d.error.detail}`}</span>
        </p>
      )}
      {away && <Away h={away} reload={reload} />}
      <div class="box">
        <Files id={id} />
        <textarea
          ref={box} rows={1} value={d.text} aria-label="Message" placeholder="Write a message" maxLength={1_000_000} readOnly={d.sending} disabled={away !== null}
          onInput={(e) => write(id, { text: e.currentTarget.value })}
          onKeyDown={(e) => {
            if (e.key !== "Enter" || e.shiftKey || e.isComposing) return;
            e.preventDefault();
            send();
          }}
          onPaste={(e) => add(e.clipboardData?.files) && e.preventDefault()}
        />
        <div class="tools">
          <button type="button" class="ghost small" disabled={away !== null} aria-label="Add files" title={`Add files: at most ${size(fileLimit)} each, ${filesLimit} in a conversation`} onClick={() => picker.current?.click()}><Icon name={icon.clip} /></button>
          <input ref={picker} type="file" multiple hidden onChange={(e) => { add(e.currentTarget.files); e.currentTarget.value = ""; }} />
          <RuntimeMenu
            runtimes={runtimes} value={chosen} model={d.model}
            onPick={(name) => { write(id, { runtime: name, model: "" }); onPickRuntime(name); }} onModel={(model) => write(id, { model })}
          />
          {id === "" ? <TemplateChoice id={id} value={d.template} /> : template && <span class="dim template" title="Chosen when the conversation started">Template: {template}</span>}
          <span class="hint dim" role="status">{later ? "Will be sent after this turn" : running && d.text ? "Enter: send after this turn" : d.files.length ? plural(d.files.length, "file") : ""}</span>
          {running
            ? <button type="button" class="send stop" aria-label="Stop" title="Stop this turn" onClick={onStop}><Icon name={icon.stop} size={14} /></button>
            : <button type="submit" class="primary send" aria-label="Send" title="Send (Enter)" disabled={!ready}><Icon name={icon.send} /></button>}
        </div>
      </div>
    </form>
  );
}
