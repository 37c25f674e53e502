// The picture to share: 1200 by 630, drawn on a canvas from what the page has anyway. Nothing of a session is on it.
import { upright } from "./direction";
import { badgeIcon } from "./icons";
import { count } from "./format";
import { tiers, type Achievement, type Achievements } from "./types";

export const cardSize = { w: 1200, h: 630 };
const edge = 72;

type Paint = CanvasRenderingContext2D;
const css = (name: string): string => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const ui = (px: number, weight = 400): string => `${weight} ${px}px system-ui, sans-serif`;
export const tierVar = (a: Achievement): string => (a.tier ? `--${a.tier.toLowerCase()}` : "--accent");
const fillOf = (tier: string): string => css(tier === "Feats" ? "--accent" : `--${tier.toLowerCase()}-fill`) || css(`--${tier.toLowerCase()}`);

const numbers = (el: Element, ...names: string[]): number[] => names.map((n) => Number(el.getAttribute(n) ?? 0));

// The shapes that icons are made of, as paths: an image would need a request, these are in the page.
function shape(el: Element): Path2D {
  const path = new Path2D(el.getAttribute("d") ?? undefined);
  const [x, y, w, h, rx] = numbers(el, "x", "y", "width", "height", "rx") as [number, number, number, number, number];
  const [cx, cy, r, erx, ery] = numbers(el, "cx", "cy", "r", "rx", "ry") as [number, number, number, number, number];
  const [x1, y1, x2, y2] = numbers(el, "x1", "y1", "x2", "y2") as [number, number, number, number];
  if (el.tagName === "rect") path.roundRect(x, y, w, h, rx);
  if (el.tagName === "circle") path.ellipse(cx, cy, r, r, 0, 0, 7);
  if (el.tagName === "ellipse") path.ellipse(cx, cy, erx, ery, 0, 0, 7);
  if (el.tagName === "line") { path.moveTo(x1, y1); path.lineTo(x2, y2); }
  if (/^poly/.test(el.tagName)) path.addPath(new Path2D(`M${el.getAttribute("points")}${el.tagName === "polygon" ? "z" : ""}`));
  return path;
}

function drawIcon(g: Paint, name: string, x: number, y: number, size: number, colour: string): void {
  g.save();
  g.translate(x, y);
  g.scale(size / 24, size / 24);
  Object.assign(g, { strokeStyle: colour, lineWidth: 2, lineCap: "round", lineJoin: "round" });
  for (const el of document.getElementById(name)?.children ?? []) g.stroke(shape(el));
  g.restore();
}

function box(g: Paint, x: number, y: number, w: number, h: number, r: number, fill: string, line?: string): void {
  g.beginPath();
  g.roundRect(x, y, w, h, r);
  g.fillStyle = fill;
  g.fill();
  if (!line) return;
  Object.assign(g, { strokeStyle: line, lineWidth: 2 });
  g.stroke();
}

function text(g: Paint, words: string, x: number, y: number, font: string, colour: string): number {
  Object.assign(g, { font, fillStyle: colour });
  g.fillText(upright(words), x, y);
  return g.measureText(words).width;
}

// As much as fits, by words; the last line ends in an ellipsis where there is more.
function lines(g: Paint, words: string, width: number, most: number): string[] {
  const out: string[] = [];
  let line = "";
  for (const word of words.split(/\s+/)) {
    const longer = line ? `${line} ${word}` : word;
    if (g.measureText(longer).width <= width) line = longer;
    else { out.push(line); line = word; }
  }
  out.push(line);
  const shown = out.filter(Boolean);
  if (shown.length <= most) return shown;
  return [...shown.slice(0, most - 1), `${shown[most - 1]}…`];
}

function medal(g: Paint, a: Achievement, x: number, y: number, size: number): void {
  const colour = css(tierVar(a));
  const wash = g.createLinearGradient(x, y, x + size * 0.4, y + size);
  wash.addColorStop(0, `color-mix(in srgb, ${colour} 30%, ${css("--card")})`);
  wash.addColorStop(1, `color-mix(in srgb, ${colour} 10%, ${css("--card")})`);
  box(g, x, y, size, size, size * 0.28, css("--card"));
  g.beginPath();
  g.roundRect(x, y, size, size, size * 0.28);
  Object.assign(g, { fillStyle: wash, strokeStyle: colour, lineWidth: Math.max(2, size / 50) });
  g.fill();
  g.stroke();
  drawIcon(g, badgeIcon(a.icon), x + size * 0.25, y + size * 0.25, size * 0.5, colour);
}

function ground(g: Paint): void {
  const { w, h } = cardSize;
  box(g, 0, 0, w, h, 0, css("--ground"));
  const glow = g.createRadialGradient(w, 0, 0, w, 0, 720);
  glow.addColorStop(0, `${css("--accent")}38`);
  glow.addColorStop(1, `${css("--accent")}00`);
  Object.assign(g, { fillStyle: glow });
  g.fillRect(0, 0, w, h);
}

function mark(g: Paint): void {
  const y = cardSize.h - edge - 36;
  box(g, edge, y, 40, 40, 10, "#2f54c9");
  g.save();
  g.translate(edge, y);
  g.scale(40 / 32, 40 / 32);
  Object.assign(g, { strokeStyle: "#fff", lineWidth: 2, lineCap: "round", lineJoin: "round" });
  g.stroke(new Path2D(document.querySelector(".logo path")?.getAttribute("d") ?? undefined));
  g.restore();
  text(g, "Talaria", edge + 54, y + 28, ui(26, 650), css("--ink"));
}

function tierBar(g: Paint, parts: { name: string; n: number }[], total: number, y: number): void {
  const width = cardSize.w - 2 * edge;
  g.save();
  g.beginPath();
  g.roundRect(edge, y, width, 22, 11);
  g.clip();
  box(g, edge, y, width, 22, 0, css("--sunk"));
  let x = edge;
  for (const p of parts.filter((q) => q.n > 0)) {
    const w = (p.n / total) * width;
    box(g, x, y, w - 3, 22, 0, fillOf(p.name));
    x += w;
  }
  g.restore();
  x = edge;
  for (const p of parts.filter((q) => q.n > 0)) {
    box(g, x, y + 44, 14, 14, 7, fillOf(p.name));
    x += 24 + text(g, p.name, x + 24, y + 57, ui(22), css("--dim"));
    x += 8 + text(g, count(p.n), x + 8, y + 57, ui(22, 700), css("--ink")) + 28;
  }
}

function scoreCard(g: Paint, data: Achievements): void {
  const got = data.achievements.filter((a) => a.unlocked);
  const parts = [...[...tiers].reverse().map((t) => ({ name: t as string, n: got.filter((a) => a.tier === t).length })), { name: "Feats", n: got.filter((a) => !a.tier).length }];
  const wide = text(g, count(got.length), edge, edge + 120, ui(150, 750), css("--ink"));
  text(g, `of ${count(data.total_count)} badges unlocked`, edge + wide + 24, edge + 120, ui(40), css("--dim"));
  tierBar(g, parts, data.total_count, edge + 166);
  const best = [...got].sort((a, b) => tiers.indexOf(b.tier!) - tiers.indexOf(a.tier!) || (b.unlocked_at ?? 0) - (a.unlocked_at ?? 0)).slice(0, 6);
  best.forEach((a, i) => {
    const x = edge + i * 190;
    medal(g, a, x, edge + 262, 104);
    g.font = ui(19, 600);
    lines(g, a.name, 166, 2).forEach((l, n) => text(g, l, x, edge + 396 + n * 24, ui(19, 600), css("--ink")));
  });
}

function badgeCard(g: Paint, a: Achievement): void {
  const x = edge + 300;
  medal(g, a, edge, edge + 24, 244);
  text(g, (a.tier ?? "Complete").toUpperCase(), x, edge + 66, ui(26, 700), css(tierVar(a)));
  g.font = ui(64, 750);
  const name = lines(g, a.name, cardSize.w - x - edge, 2);
  name.forEach((l, i) => text(g, l, x, edge + 140 + i * 70, ui(64, 750), css("--ink")));
  const below = edge + 140 + (name.length - 1) * 70;
  g.font = ui(30);
  lines(g, a.description, cardSize.w - x - edge, 3).forEach((l, i) => text(g, l, x, below + 62 + i * 42, ui(30), css("--dim")));
  if (!a.tiers) return;
  const reached = a.tiers.findIndex((t) => t.name === a.tier) + 1;
  a.tiers.forEach((t, i) => box(g, edge + i * 50, edge + 292, 44, 12, 6, i < reached ? fillOf(t.name) : css("--sunk")));
}

// One badge, or with none the whole score.
export function drawCard(canvas: HTMLCanvasElement, data: Achievements, badge: Achievement | undefined): void {
  canvas.width = cardSize.w;
  canvas.height = cardSize.h;
  const g = canvas.getContext("2d");
  if (!g) return;
  ground(g);
  if (badge) badgeCard(g, badge);
  else scoreCard(g, data);
  mark(g);
}

export const cardWords = (data: Achievements, badge: Achievement | undefined): string =>
  badge ? `${badge.name}, ${badge.tier ?? "complete"}` : `${count(data.achievements.filter((a) => a.unlocked).length)} of ${count(data.total_count)} badges unlocked`;

export const toPng = (canvas: HTMLCanvasElement): Promise<Blob> =>
  new Promise((done, fail) => canvas.toBlob((blob) => (blob ? done(blob) : fail(new Error("no picture"))), "image/png"));
