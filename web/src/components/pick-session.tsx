// Begins a handoff from the Handoffs tab: first which session, then where to.
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { plainTitle, project } from "../format";
import { icon } from "../icons";
import { useLate } from "../resource";
import { noFilters, useSessionList } from "../session-list";
import type { Session } from "../types";
import { HandOverSteps, Modal } from "./hand-over";
import { SourceMark } from "./session-row";
import { Failure, Icon, Skeleton, Time } from "./ui";

const shownAtMost = 30;

function SessionPicker({ onPick }: { onPick(s: Session): void }): JSX.Element {
  const list = useSessionList(noFilters);
  const late = useLate(list.busy);
  const [text, setText] = useState("");
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const fits = list.rows.filter((s) => {
    const all = `${s.title ?? ""} ${s.cwd ?? ""} ${s.id}`.toLowerCase();
    return words.every((w) => all.includes(w));
  });
  return (
    <>
      <label class="filter-box">
        <Icon name={icon.search} size={14} />
        <input
          type="search" value={text} placeholder="Search by title, folder or id" aria-label="Search sessions" autofocus spellcheck={false}
          onInput={(e) => setText(e.currentTarget.value)}
          onKeyDown={(e) => { if (e.key === "Enter" && fits[0]) { e.preventDefault(); onPick(fits[0]); } }}
        />
      </label>
      {list.error && !list.loaded && <Failure error={list.error} what="Sessions could not be read" retry={list.reload} />}
      {late && !list.loaded && <Skeleton rows={4} kind="rows" />}
      <ul class="pick-list" aria-label="Sessions">
        {fits.slice(0, shownAtMost).map((s) => (
          <li key={s.id}>
            <button type="button" onClick={() => onPick(s)}>
              <SourceMark origin={s.origin} source={s.source} />
              <span class="what">{plainTitle(s.title)}</span><span class="dim"><Time at={s.last_active} /></span>
              <span class="where dim">{project(s.cwd)}</span>
            </button>
          </li>
        ))}
      </ul>
      {list.loaded && fits.length === 0 && <p class="dim none">No session matches.</p>}
    </>
  );
}

export function BeginHandoff({ primary = false }: { primary?: boolean }): JSX.Element {
  const [open, setOpen] = useState(false);
  const [picked, setPicked] = useState<Session | null>(null);
  const close = (): void => {
    setOpen(false);
    setPicked(null);
  };
  return (
    <>
      <button type="button" class={primary ? "primary" : ""} aria-haspopup="dialog" onClick={() => setOpen(true)}><Icon name={icon.handoff} size={14} /> Hand over a session</button>
      {open && (
        <Modal title={picked ? "Hand over" : "Choose a session to hand over"} onClose={close}>
          {picked
            ? <><p class="picked"><b>{plainTitle(picked.title)}</b> <button type="button" class="small ghost" onClick={() => setPicked(null)}>Choose another</button></p><HandOverSteps session={picked.id} ours={picked.origin !== "hermes"} close={close} /></>
            : <SessionPicker onPick={setPicked} />}
        </Modal>
      )}
    </>
  );
}
