// Rows of one height; only those in sight (and a few beyond) are in the document.
import type { JSX, RefObject } from "preact";
import { useEffect, useState } from "preact/hooks";

export function VirtualList<T>({ items, height, pane, row, onEnd, label }: {
  items: T[];
  height: number;
  pane: RefObject<HTMLElement | null>;
  row(item: T, index: number): JSX.Element;
  onEnd?: (() => void) | undefined;
  label: string;
}): JSX.Element {
  const [view, setView] = useState({ first: 0, last: 30 });
  useEffect(() => {
    const el = pane.current;
    if (!el) return;
    const beyond = 8;
    const look = (): void => {
      const first = Math.max(0, Math.floor(el.scrollTop / height) - beyond);
      const last = Math.ceil((el.scrollTop + el.clientHeight) / height) + beyond;
      setView((old) => (old.first === first && old.last === last ? old : { first, last }));
    };
    look();
    el.addEventListener("scroll", look, { passive: true });
    const resized = new ResizeObserver(look);
    resized.observe(el);
    return () => {
      el.removeEventListener("scroll", look);
      resized.disconnect();
    };
  }, [pane, height, items.length]);

  // Well before the end comes in sight, the next page is asked for.
  const nearEnd = view.last > items.length - 100;
  useEffect(() => {
    if (nearEnd && onEnd) onEnd();
  }, [nearEnd, onEnd, items.length]);

  return (
    <ul class="virtual" aria-label={label} style={{ height: `${items.length * height}px` }}>
      {items.slice(view.first, view.last).map((item, i) => row(item, view.first + i))}
    </ul>
  );
}
