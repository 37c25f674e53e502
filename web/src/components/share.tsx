// The card beside the page, not over it: what will be shared is what is seen.
import type { JSX } from "preact";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { icon } from "../icons";
import { useKeys } from "../keys";
import { setQuery } from "../router";
import { cardSize, cardWords, drawCard, toPng } from "../share-card";
import { useStore } from "../store";
import { theme } from "../theme";
import type { Achievements } from "../types";
import { Icon, say } from "./ui";

export function Share({ data, badge: id }: { data: Achievements; badge: string }): JSX.Element {
  const canvas = useRef<HTMLCanvasElement>(null);
  const first = useRef<HTMLButtonElement>(null);
  const chosen = useStore(theme);
  const badge = data.achievements.find((a) => a.id === id && a.unlocked);
  const close = (): void => setQuery({ share: null });
  useKeys({ Escape: close });
  useEffect(() => {
    const draw = (): void => void (canvas.current && drawCard(canvas.current, data, badge));
    draw();
    const dark = matchMedia("(prefers-color-scheme: dark)");
    dark.addEventListener("change", draw);
    return () => dark.removeEventListener("change", draw);
  }, [data, badge, chosen]);
  useLayoutEffect(() => {
    const before = document.activeElement as HTMLElement | null;
    first.current?.focus();
    return () => before?.focus?.();
  }, []);

  const save = async (): Promise<void> => {
    const a = document.createElement("a");
    a.href = URL.createObjectURL(await toPng(canvas.current!));
    a.download = `talaria-${badge?.id ?? "score"}.png`;
    a.click();
    setTimeout(() => URL.revokeObjectURL(a.href), 10_000);
  };
  const copy = async (): Promise<void> => {
    try {
      // The promise, not its value: some browsers allow a copy only within the click itself.
      await navigator.clipboard.write([new ClipboardItem({ "image/png": toPng(canvas.current!) })]);
      say("Picture copied");
    } catch {
      say("The browser does not let the page copy pictures; download it instead");
    }
  };
  return (
    <aside class="share" aria-label="Share">
      <header>
        <h2>{badge ? `Share ${badge.name}` : "Share your score"}</h2>
        <button type="button" class="ghost small" aria-label="Close" onClick={close}><Icon name={icon.close} size={14} /></button>
      </header>
      <canvas ref={canvas} width={cardSize.w} height={cardSize.h} role="img" aria-label={`Card: ${cardWords(data, badge)}`} />
      <footer>
        <span class="dim">1200 × 630. Nothing from your sessions is on it.</span>
        <button type="button" onClick={() => void copy()}><Icon name={icon.copy} size={14} /> Copy</button>
        <button type="button" class="primary" ref={first} onClick={() => void save()}><Icon name={icon.download} size={14} /> Download</button>
      </footer>
    </aside>
  );
}
