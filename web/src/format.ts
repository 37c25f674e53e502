// Numbers, times and sizes as people read them. Intl objects are costly to make, so there is one of each.
const grouped = new Intl.NumberFormat("en");
const compact = new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 1 });
const dayFormat = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short" });
const dayOfYear = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short", year: "numeric" });
const exactFormat = new Intl.DateTimeFormat(undefined, { dateStyle: "full", timeStyle: "medium" });

export const count = (n: number): string => grouped.format(n);
export const short = (n: number): string => (Math.abs(n) < 10_000 ? grouped.format(n) : compact.format(n));
export const plural = (n: number, one: string, many = `${one}s`): string => `${count(n)} ${n === 1 ? one : many}`;

// Times come from other programs' files: one that no calendar has (1e18, NaN, null, negative) is unknown, and drawn as
// a dash. Every date on the page goes through here, so none of them can throw.
const lastSecond = 253_402_300_799; // of the year 9999
export const isTime = (seconds: unknown): seconds is number => typeof seconds === "number" && seconds > 0 && seconds <= lastSecond;
export const unknownTime = "–";
export const exact = (seconds: number): string => (isTime(seconds) ? exactFormat.format(seconds * 1000) : "Unknown time");
export const day = (seconds: number): string => (isTime(seconds) ? dayFormat.format(seconds * 1000) : unknownTime);
export const isoTime = (seconds: number): string | undefined => (isTime(seconds) ? new Date(seconds * 1000).toISOString() : undefined);
// From one time to another; "" if either is unknown or they are the wrong way round.
export const spent = (from: number, to: number): string => (isTime(from) && isTime(to) && to > from ? lasted(to - from) : "");
export const percent = (share: number, digits = 0): string => `${(share * 100).toFixed(digits)} %`;

export function ago(seconds: number, now = Date.now() / 1000): string {
  if (!isTime(seconds)) return unknownTime;
  const d = now - seconds;
  if (d < -86_400) return dayOfYear.format(seconds * 1000);
  if (d < 45) return "now";
  if (d < 3600) return `${Math.round(d / 60)} min`;
  if (d < 86_400) return `${Math.round(d / 3600)} h`;
  if (d < 86_400 * 7) return `${Math.round(d / 86_400)} d`;
  const when = new Date(seconds * 1000);
  return when.getFullYear() === new Date(now * 1000).getFullYear() ? dayFormat.format(when) : dayOfYear.format(when);
}

// In a sentence: "9 h ago", but "Oct 5" and "now" as they are.
export const agoLong = (seconds: number): string => {
  const text = ago(seconds);
  return / (min|h|d)$/.test(text) ? `${text} ago` : text;
};

export function lasted(seconds: number): string {
  if (!(seconds >= 0 && seconds <= lastSecond)) return "";
  if (seconds < 1) return `${Math.round(seconds * 1000)} ms`;
  if (seconds < 10) return `${seconds.toFixed(1)} s`;
  if (seconds < 90) return `${Math.round(seconds)} s`;
  if (seconds < 5400) return `${Math.round(seconds / 60)} min`;
  if (seconds < 86_400 * 2) return `${(seconds / 3600).toFixed(1)} h`;
  return `${Math.round(seconds / 86_400)} d`;
}

// Scores are between 0 and 1; people read them as points of a hundred.
export const points = (score: number): string => (score * 100).toFixed(1);
export const signed = (score: number): string => `${score < 0 ? "−" : "+"}${points(Math.abs(score))}`;
export const cost = (usd: number | null): string => (usd === null || !Number.isFinite(usd) ? "–" : usd > 0 && usd < 0.01 ? "< $0.01" : `$${usd.toFixed(2)}`);
export const project = (cwd: string | null): string => cwd?.split("/").filter(Boolean).pop() ?? "";
const originNames: Record<string, string> = { hermes: "Hermes", claude: "Claude Code", codex: "Codex", talaria: "Talaria" };
export const originName = (origin: string): string => originNames[origin] ?? origin;
export const plainTitle = (title: string | null): string => title?.trim() || "Untitled";
export const size = (bytes: number): string => (bytes < 1024 ? `${bytes} B` : bytes < 1024 * 1024 ? `${Math.round(bytes / 1024)} KB` : `${(bytes / 1024 / 1024).toFixed(1).replace(/\.0$/, "")} MB`);
// What a count of sessions means, wherever one is shown.
export const countedAs = "Conversations. Parts split by compression count as one; archived sessions and sub-agents are not counted unless shown.";
