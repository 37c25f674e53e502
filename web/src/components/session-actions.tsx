// What can be done with a session from its head. Talaria's own sessions can also be renamed, archived and deleted.
import type { JSX } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { ApiError, enc, patch, remove } from "../api";
import { plainTitle } from "../format";
import { icon } from "../icons";
import { forget } from "../resource";
import { go, link, setQuery, useRoute } from "../router";
import { dropSession, putSession } from "../session-list";
import type { Session } from "../types";
import { ExportMenu } from "./export-menu";
import { HandOver, Modal } from "./hand-over";
import { copyText, Fold, Icon, say } from "./ui";

function Trouble({ error }: { error: ApiError | null }): JSX.Element | null {
  return error && <p class="notice bad" role="alert"><Icon name={icon.failed} size={14} /> <span>{error.message}. {error.detail}</span></p>;
}

function RenameDialog({ s, onDone, onClose }: { s: Session; onDone(): void; onClose(): void }): JSX.Element {
  const box = useRef<HTMLInputElement>(null);
  const [error, setError] = useState<ApiError | null>(null);
  useLayoutEffect(() => box.current?.select(), []);
  const save = async (): Promise<void> => {
    try {
      const changed = await patch<Session>(`/api/sessions/${enc(s.id)}`, { title: box.current!.value.trim() });
      putSession(changed);
      onDone();
      onClose();
    } catch (cause) {
      setError(cause as ApiError);
    }
  };
  return (
    <Modal title="Rename session" onClose={onClose}>
      <form onSubmit={(e) => { e.preventDefault(); void save(); }}>
        <label class="field">Title<input ref={box} defaultValue={s.title ?? ""} maxLength={200} /></label>
        <Trouble error={error} />
        <footer><button type="button" onClick={onClose}>Cancel</button><button type="submit" class="primary">Rename</button></footer>
      </form>
    </Modal>
  );
}

function DeleteDialog({ s, onClose }: { s: Session; onClose(): void }): JSX.Element {
  const [error, setError] = useState<ApiError | null>(null);
  const run = async (): Promise<void> => {
    try {
      await remove(`/api/sessions/${enc(s.id)}`);
      forget(`/api/sessions/${enc(s.id)}`);
      dropSession(s.id);
      onClose();
      go(["sessions"], {}, true);
      say("Session deleted");
    } catch (cause) {
      setError(cause as ApiError);
    }
  };
  return (
    <Modal title="Delete this session?" onClose={onClose}>
      <div>
        <p><b>{plainTitle(s.title)}</b> is deleted with its messages, files and handoffs. This cannot be undone.</p>
        <Trouble error={error} />
        <footer>
          <button type="button" onClick={onClose}>Keep it</button>
          <button type="button" class="danger primary" onClick={() => void run()}>Delete</button>
        </footer>
      </div>
    </Modal>
  );
}

function Manage({ s, reload }: { s: Session; reload(): void }): JSX.Element {
  const [open, setOpen] = useState<"" | "rename" | "delete">("");
  const archive = (): void => {
    patch<Session>(`/api/sessions/${enc(s.id)}`, { archived: !s.archived }).then(
      (changed) => { putSession(changed); reload(); say(changed.archived ? "Archived" : "Restored from the archive"); },
      (cause: ApiError) => say(`${cause.message}. ${cause.detail}`),
    );
  };
  return (
    <>
      <Fold label="More" mark={icon.more} plain>
        <div class="menu-list">
          <button type="button" onClick={() => setOpen("rename")}><Icon name={icon.rename} size={14} /> Rename</button>
          <button type="button" onClick={archive}><Icon name={icon.archive} size={14} /> {s.archived ? "Unarchive" : "Archive"}</button>
          <button type="button" class="danger" onClick={() => setOpen("delete")}><Icon name={icon.remove} size={14} /> Delete</button>
        </div>
      </Fold>
      {open === "rename" && <RenameDialog s={s} onDone={reload} onClose={() => setOpen("")} />}
      {open === "delete" && <DeleteDialog s={s} onClose={() => setOpen("")} />}
    </>
  );
}

// The agent's own command, to be pasted into a terminal.
function Resume({ command }: { command: string }): JSX.Element {
  const copy = async (): Promise<void> => say((await copyText(command)) ? `Copied: ${command}` : "The browser did not allow copying");
  return <button type="button" title={`Copy: ${command}`} onClick={() => void copy()}><Icon name={icon.terminal} size={14} /> Resume in terminal</button>;
}

export function SessionActions({ s, chats, reload }: { s: Session; chats: boolean; reload(): void }): JSX.Element {
  const { query } = useRoute();
  const making = query.template === "1";
  return (
    <div class="actions">
      {chats && <a class="button" href={link(["chat", s.id])}><Icon name={icon.chat} size={14} /> Continue in chat</a>}
      <HandOver session={s.id} ours={s.origin !== "hermes"} />
      {s.resume_command && <Resume command={s.resume_command} />}
      <button type="button" aria-expanded={making} onClick={() => setQuery({ template: making ? null : "1" }, false)}>
        <Icon name={icon.templates} size={14} /> Make template
      </button>
      <ExportMenu id={s.id} />
      {s.own && <Manage s={s} reload={reload} />}
    </div>
  );
}
