// A session named by its id alone: a link with its title, once that is known.
import type { JSX } from "preact";
import { enc } from "../api";
import { plainTitle } from "../format";
import { useResource } from "../resource";
import { link } from "../router";
import { knownSession } from "../session-list";
import type { Session } from "../types";

export function SessionName({ id }: { id: string }): JSX.Element {
  const known = knownSession(id);
  const { data } = useResource<Session>(known ? null : `/api/sessions/${enc(id)}`);
  const s = known ?? data;
  return <a href={link(["sessions", id])}>{s ? plainTitle(s.title) : id}</a>;
}
