// Where a pane was scrolled to, by address: back, forward and reload come to the same place.
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { RefObject } from "preact";

export function savedScroll(key: string): number {
  try {
    return Number(sessionStorage.getItem(`scroll ${key}`) ?? 0);
  } catch {
    return 0;
  }
}

export function useScrollMemory<T extends HTMLElement>(key: string, ready: boolean, given?: RefObject<T | null>): RefObject<T | null> {
  const own = useRef<T>(null);
  const pane = given ?? own;
  // Once a pane has its place it keeps it; a refresh must not put it back again.
  const settled = useRef("");
  if (ready) settled.current = key;
  const on = settled.current === key;
  useLayoutEffect(() => {
    const el = pane.current;
    if (!el || !on) return;
    el.scrollTop = savedScroll(key);
    let timer: ReturnType<typeof setTimeout> | undefined;
    let top = el.scrollTop;
    const save = (): void => {
      try {
        sessionStorage.setItem(`scroll ${key}`, String(top));
      } catch {
        /* forgotten */
      }
    };
    const moved = (): void => {
      top = el.scrollTop;
      clearTimeout(timer);
      timer = setTimeout(save, 100);
    };
    el.addEventListener("scroll", moved, { passive: true });
    return () => {
      clearTimeout(timer);
      save();
      el.removeEventListener("scroll", moved);
    };
  }, [key, on]);
  return pane;
}

// At the end it stays at the end, whatever comes in; who scrolled up is left where they are.
export function useStickyEnd(key: string, changing: unknown): { pane: RefObject<HTMLDivElement | null>; away: boolean; toEnd(): void } {
  const pane = useRef<HTMLDivElement>(null);
  const stuck = useRef(true);
  const [away, setAway] = useState(false);
  const toEnd = (): void => {
    stuck.current = true;
    setAway(false);
    if (pane.current) pane.current.scrollTop = pane.current.scrollHeight;
  };
  useLayoutEffect(() => { stuck.current = true; setAway(false); }, [key]);
  useLayoutEffect(() => void (stuck.current && toEnd()), [key, changing]);
  useEffect(() => {
    const el = pane.current;
    if (!el) return;
    const look = (): void => {
      stuck.current = el.scrollHeight - el.scrollTop - el.clientHeight < 40;
      setAway(!stuck.current);
    };
    const grown = new ResizeObserver(() => stuck.current && (el.scrollTop = el.scrollHeight));
    grown.observe(el);
    if (el.firstElementChild) grown.observe(el.firstElementChild);
    el.addEventListener("scroll", look, { passive: true });
    return () => {
      grown.disconnect();
      el.removeEventListener("scroll", look);
    };
  }, [key]);
  return { pane, away, toEnd };
}
