// The small parts that every view is made of.
import type { ComponentChildren, JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { ApiError, save } from "../api";
import { ago, agoLong, exact, isoTime } from "../format";
import { icon } from "../icons";
import { useKeys } from "../keys";
import { createStore } from "../store";

export function Icon({ name, size = 16, label }: { name: string; size?: number; label?: string }): JSX.Element {
  return (
    <svg class="icon" width={size} height={size} role={label ? "img" : undefined} aria-label={label} aria-hidden={label ? undefined : "true"}>
      <use href={`#${name}`} />
    </svg>
  );
}

// Relative, with the exact time on hover; it grows old while the page is open, so it is drawn again each minute.
export function Time({ at, long = false, prefix = "" }: { at: number; long?: boolean; prefix?: string }): JSX.Element {
  const [, tick] = useState(0);
  const recent = Date.now() / 1000 - at < 86_400;
  useEffect(() => {
    if (!recent) return;
    const timer = setInterval(() => tick((n) => n + 1), 60_000);
    return () => clearInterval(timer);
  }, [recent]);
  return (
    <time dateTime={isoTime(at)} title={exact(at)}>
      {prefix}
      {long ? agoLong(at) : ago(at)}
    </time>
  );
}

export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    // Not a secure context (a remote host over plain HTTP): the old way still works there.
    const area = document.createElement("textarea");
    area.value = text;
    document.body.append(area);
    area.select();
    const done = document.execCommand("copy");
    area.remove();
    return done;
  }
}

export function CopyButton({ text, label = "Copy" }: { text: string; label?: string }): JSX.Element {
  const [done, setDone] = useState(false);
  useEffect(() => {
    if (!done) return;
    const timer = setTimeout(() => setDone(false), 1500);
    return () => clearTimeout(timer);
  }, [done]);
  return (
    <button type="button" class="ghost small copy" aria-label={label} title={label} onClick={async () => setDone(await copyText(text))}>
      <Icon name={done ? icon.check : icon.copy} size={14} />
      <span role="status" class="sr">{done ? "Copied" : ""}</span>
    </button>
  );
}

// One short line of what just happened, where nothing else shows it.
export const said = createStore("");
export function say(text: string): void {
  said.set(text);
  setTimeout(() => said.get() === text && said.set(""), 2500);
}

export function saveAs(path: string, name: string): void {
  void save(path, name).catch((cause: ApiError) => say(`${cause.message}. ${cause.detail}`));
}

// A link to a file of the server, which the page fetches: see save in api.ts.
export function SaveLink({ path, name, onSave, children }: { path: string; name: string; onSave?: () => void; children: ComponentChildren }): JSX.Element {
  return <a href={path} download={name} onClick={(e) => { e.preventDefault(); saveAs(path, name); onSave?.(); }}>{children}</a>;
}

export function Code({ text, label = "Copy" }: { text: string; label?: string }): JSX.Element {
  return (
    <div class="code">
      <pre tabIndex={0}><code>{text}</code></pre>
      <CopyButton text={text} label={label} />
    </div>
  );
}

export function FilterBox({ value, onInput, label, onEnter, onDown }: {
  value: string;
  onInput(text: string): void;
  label: string;
  onEnter?(): void;
  onDown?(): void;
}): JSX.Element {
  const box = useRef<HTMLInputElement>(null);
  useKeys({ "/": () => box.current?.select() });
  return (
    <label class="filter-box">
      <Icon name={icon.search} size={14} />
      <input
        ref={box}
        type="search"
        value={value}
        placeholder={label}
        aria-label={label}
        spellcheck={false}
        onInput={(e) => onInput(e.currentTarget.value)}
        onKeyDown={(e) => {
          const does = e.key === "Enter" ? onEnter : e.key === "ArrowDown" ? onDown : undefined;
          if (does && !e.isComposing) {
            e.preventDefault();
            does();
          }
          // Esc empties the box and leaves it, so that the next key is a command; only after that it means "back".
          if (e.key !== "Escape") return;
          e.preventDefault();
          if (value) onInput("");
          e.currentTarget.blur();
        }}
      />
      <kbd aria-hidden="true">/</kbd>
    </label>
  );
}

export function Chips<T extends string>({ label, value, options, onPick }: {
  label: string;
  value: T;
  options: { id: T; text: string; n?: number; title?: string }[];
  onPick(id: T): void;
}): JSX.Element {
  return (
    <div class="chips" role="group" aria-label={label}>
      {options.map((o) => (
        <button type="button" key={o.id} class="chip" title={o.title} aria-pressed={o.id === value} onClick={() => onPick(o.id)}>
          {o.text}
          {o.n !== undefined && <span class="n">{o.n}</span>}
        </button>
      ))}
    </div>
  );
}

export function Select({ label, value, options, onPick, disabled = false }: {
  label: string;
  disabled?: boolean;
  value: string;
  options: [string, string][];
  onPick(id: string): void;
}): JSX.Element {
  return (
    <select class="select" aria-label={label} title={label} value={value} disabled={disabled || options.length < 2} onChange={(e) => onPick(e.currentTarget.value)}>
      {options.map(([id, text]) => (
        <option key={id} value={id} selected={id === value}>{text}</option>
      ))}
    </select>
  );
}

// The quiet sign that what is shown is being refreshed. It always has its place, so nothing moves.
export function Updating({ on }: { on: boolean }): JSX.Element {
  return <span class={on ? "updating on" : "updating"} role="status">{on ? "updating" : ""}</span>;
}

export function Failure({ error, what, retry }: { error: ApiError; what: string; retry(): void }): JSX.Element {
  return (
    <div class="state" role="alert">
      <Icon name={icon.failed} size={24} />
      <h2>{what}</h2>
      <p>{error.message}{error.detail && `. ${error.detail}`}</p>
      <button type="button" onClick={retry}><Icon name={icon.rescan} size={14} /> Try again</button>
    </div>
  );
}

export function Empty({ title, children, mark = icon.search }: { title: string; children?: ComponentChildren; mark?: string }): JSX.Element {
  return (
    <div class="state">
      <Icon name={mark} size={24} />
      <h2>{title}</h2>
      {children}
    </div>
  );
}

export function Skeleton({ rows, kind }: { rows: number; kind: string }): JSX.Element {
  return (
    <div class={`skeleton ${kind}`} role="status" aria-label="Loading">
      {Array.from({ length: rows }, (_, i) => <i key={i} />)}
    </div>
  );
}

export function Bar({ pct, tier, label }: { pct: number; tier?: string | null; label: string }): JSX.Element {
  return (
    <span class="bar" role="progressbar" aria-label={label} aria-valuenow={Math.round(pct)} aria-valuemin={0} aria-valuemax={100} data-tier={tier}>
      <i style={{ width: `${Math.max(0, Math.min(100, pct))}%` }} />
    </span>
  );
}

// A word that unfolds to more, over what is below it.
export function Fold({ label, mark, plain = false, children }: { label: string; mark: string; plain?: boolean; children: ComponentChildren }): JSX.Element {
  const [open, setOpen] = useState(false);
  const box = useRef<HTMLDivElement>(null);
  useKeys({ Escape: () => (open ? setOpen(false) : false) });
  useEffect(() => {
    if (!open) return;
    const away = (e: Event): void => void (box.current?.contains(e.target as Node) || setOpen(false));
    addEventListener("pointerdown", away);
    return () => removeEventListener("pointerdown", away);
  }, [open]);
  return (
    <div class="menu" ref={box}>
      <button type="button" class={plain ? "" : "ghost small"} title={label} aria-expanded={open} onClick={() => setOpen(!open)}><Icon name={mark} size={14} /> {label}</button>
      {open && <div class="popup" onClick={(e) => plain && (e.target as Element).closest("button") && setOpen(false)}>{children}</div>}
    </div>
  );
}
