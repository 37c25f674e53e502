// Who answers: the runtimes that there are, or why they are not, and where one has several the model.
import type { JSX } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import type { Runtime, Runtimes } from "../chat-types";
import { icon, runtimeIcon } from "../icons";
import { useKeys } from "../keys";
import { useResource, type Resource } from "../resource";
import { Icon } from "./ui";

export const useRuntimes = (): Resource<Runtimes> => useResource<Runtimes>("/api/runtimes");
export const isRuntime = (r: Runtime, name: string): boolean => r.name === name || r.alias === name;
// By web/build.mjs, from src/runtimes/runtimes.h.
declare const RUNTIME_NAMES: Record<string, string>;
export const runtimeName = (name: string): string => RUNTIME_NAMES[name] ?? name;

export function RuntimeMark({ name, size = 14 }: { name: string; size?: number }): JSX.Element {
  return <span class="runtime-mark" data-origin={name} title={runtimeName(name)}><Icon name={runtimeIcon(name)} size={size} label={runtimeName(name)} /></span>;
}

function Choice({ r, on, onPick }: { r: Runtime; on: boolean; onPick(): void }): JSX.Element {
  const more = [r.model, r.version].filter(Boolean).join(" · ");
  return (
    <li role="none">
      <button type="button" role="menuitemradio" aria-checked={on} disabled={!r.available} onClick={onPick}>
        <RuntimeMark name={r.name} size={16} />
        <span class="of"><b>{runtimeName(r.name)}</b><span class="dim">{r.available ? more || r.title : `Not available: ${r.detail || "no answer"}`}</span></span>
        {on && <Icon name={icon.check} size={14} />}
      </button>
    </li>
  );
}

export function RuntimeMenu({ runtimes, value, model, onPick, onModel }: {
  runtimes: Resource<Runtimes>;
  value: string;
  model: string;
  onPick(name: string): void;
  onModel(model: string): void;
}): JSX.Element {
  const [open, setOpen] = useState(false);
  const box = useRef<HTMLDivElement>(null);
  const all = runtimes.data?.runtimes ?? [];
  const now = all.find((r) => isRuntime(r, value));
  const models = now?.models ?? (now?.model ? [now.model] : []);
  const close = (): void => {
    setOpen(false);
    box.current?.querySelector("button")?.focus();
  };
  useKeys({ Escape: () => (open ? close() : false) });
  // Before the next key.
  useLayoutEffect(() => {
    if (!open) return;
    (box.current?.querySelector<HTMLElement>('[aria-checked="true"]') ?? box.current?.querySelector<HTMLElement>("[role=menuitemradio]:enabled"))?.focus();
    const away = (e: Event): void => void (box.current?.contains(e.target as Node) || setOpen(false));
    addEventListener("pointerdown", away);
    return () => removeEventListener("pointerdown", away);
  }, [open]);
  const move = (e: KeyboardEvent): void => {
    const by = e.key === "ArrowDown" ? 1 : e.key === "ArrowUp" ? -1 : 0;
    if (!by) return;
    e.preventDefault();
    const rows = [...box.current!.querySelectorAll<HTMLElement>("[role=menuitemradio]:enabled")];
    rows[(rows.indexOf(document.activeElement as HTMLElement) + by + rows.length) % rows.length]?.focus();
  };
  return (
    <div class="runtime-menu" ref={box} onKeyDown={open ? move : undefined}>
      <button type="button" class="ghost small" aria-haspopup="menu" aria-expanded={open} aria-label={`Runtime: ${runtimeName(value) || "loading"}`} onClick={() => setOpen(!open)}>
        {value && <RuntimeMark name={value} />}<span>{runtimeName(value) || "…"}</span>{model && <span class="dim">{model}</span>}<Icon name={icon.down} size={12} />
      </button>
      {open && (
        <div class="popup">
          <ul role="menu" aria-label="Runtime">{all.map((r) => <Choice key={r.name} r={r} on={isRuntime(r, value)} onPick={() => { onPick(r.name); close(); }} />)}</ul>
          {runtimes.error && all.length === 0 && <p class="notice bad" role="alert">{runtimes.error.message}. <button type="button" class="small" onClick={runtimes.reload}>Try again</button></p>}
          {models.length > 0 && (
            <label class="field">
              Model
              <input list="chat-models" value={model} placeholder={models[0]} maxLength={200} spellcheck={false} autocomplete="off" onInput={(e) => onModel(e.currentTarget.value.trim())} />
              <datalist id="chat-models">{models.map((m) => <option key={m} value={m} />)}</datalist>
            </label>
          )}
          <p class="dim">Each runtime keeps its own thread of the conversation. When you switch, the new one gets the messages so far.</p>
        </div>
      )}
    </div>
  );
}
