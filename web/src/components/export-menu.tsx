// A session as a file, redacted by the server.
import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { enc } from "../api";
import { icon } from "../icons";
import { useKeys } from "../keys";
import { Icon, SaveLink } from "./ui";

export const exportKinds: [string, string][] = [["md", "Markdown"], ["jsonl", "JSONL"]];
export const exportPath = (id: string, as: string): string => `/api/sessions/${enc(id)}/export?as=${as}`;

export function ExportMenu({ id }: { id: string }): JSX.Element {
  const [open, setOpen] = useState(false);
  const box = useRef<HTMLDivElement>(null);
  const button = useRef<HTMLButtonElement>(null);
  useKeys({ Escape: () => { setOpen(false); button.current?.focus(); } }, open);
  useEffect(() => {
    if (!open) return;
    const away = (e: Event): void => void (box.current?.contains(e.target as Node) || setOpen(false));
    document.addEventListener("pointerdown", away);
    document.addEventListener("focusin", away);
    return () => {
      document.removeEventListener("pointerdown", away);
      document.removeEventListener("focusin", away);
    };
  }, [open]);
  return (
    <div class="menu" ref={box}>
      <button type="button" ref={button} aria-expanded={open} aria-controls="export-kinds" onClick={() => setOpen(!open)}><Icon name={icon.download} size={14} /> Export</button>
      <ul id="export-kinds" hidden={!open}>
        {exportKinds.map(([as, name]) => <li key={as}><SaveLink path={exportPath(id, as)} name={`${id}.${as}`} onSave={() => setOpen(false)}>{name}</SaveLink></li>)}
      </ul>
    </div>
  );
}
