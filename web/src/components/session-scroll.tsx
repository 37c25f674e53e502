// The list itself: as long as it gets, with a few rows of it in the document.
import type { JSX } from "preact";
import { useEffect } from "preact/hooks";
import { useKeys } from "../keys";
import { useLate } from "../resource";
import { go, link, type Query } from "../router";
import { savedScroll, useScrollMemory } from "../scroll";
import { rowHeight, type SessionList } from "../session-list";
import { SessionRow } from "./session-row";
import { Empty, Failure, Skeleton } from "./ui";
import { VirtualList } from "./virtual-list";

export function SessionScroll({ list, id, filters }: { list: SessionList; id: string | undefined; filters: Query }): JSX.Element {
  const { rows } = list;
  const late = useLate(list.busy);
  const reaches = rows.length * rowHeight >= savedScroll("sessions");
  const pane = useScrollMemory<HTMLDivElement>("sessions", list.loaded && (reaches || !list.busy));
  const at = id ? rows.findIndex((s) => s.id === id || s.parts.some((p) => p.id === id)) : -1;
  const move = (by: number): boolean | void => {
    const to = rows[Math.max(0, Math.min(rows.length - 1, at + by))];
    if (!to) return false;
    // Walking through the list is one step of the history, not fifty.
    go(["sessions", to.id], filters, Boolean(id));
  };
  useKeys({ j: () => move(1), k: () => move(-1), Enter: () => (id ? false : move(1)) });

  // The chosen row stays in sight when keys move it.
  useEffect(() => {
    const el = pane.current;
    if (!el || at < 0) return;
    const top = at * rowHeight;
    const far = top < el.scrollTop - 2 * rowHeight || top > el.scrollTop + el.clientHeight + rowHeight;
    if (far) el.scrollTop = top - el.clientHeight / 2;
    else if (top < el.scrollTop) el.scrollTop = top;
    else if (top + rowHeight > el.scrollTop + el.clientHeight) el.scrollTop = top + rowHeight - el.clientHeight;
  }, [id, list.loaded]);

  return (
    <div class="scroll" ref={pane} tabIndex={0} role="region" aria-label="List of sessions">
      {list.error && !list.loaded && <Failure error={list.error} what="Sessions could not be loaded" retry={list.reload} />}
      {late && !list.loaded && <Skeleton rows={10} kind="rows" />}
      {list.loaded && rows.length === 0 && !list.partial && (
        <Empty title="No session matches">
          <p>Try fewer filters.</p>
          <button type="button" onClick={() => go(id ? ["sessions", id] : ["sessions"], {}, true)}>Clear filters</button>
        </Empty>
      )}
      <VirtualList
        items={rows} height={rowHeight} pane={pane} label="Sessions"
        onEnd={list.more && !list.busy && !list.error ? list.loadMore : undefined}
        row={(s, i) => <SessionRow key={s.id} session={s} index={i} top={i * rowHeight} current={i === at} href={link(["sessions", s.id], filters)} />}
      />
      {list.error && list.loaded && (
        <p class="notice bad" role="alert">{list.error.message}. <button type="button" class="small" onClick={list.loadMore}>Try again</button></p>
      )}
    </div>
  );
}
