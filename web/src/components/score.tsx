// The header of Achievements: the score at a glance, the scan that is under way, the latest unlocks.
import type { JSX } from "preact";
import { count, plural } from "../format";
import type { Achievement, Achievements } from "../types";
import { tiers } from "../types";
import { Medal } from "./badge-card";
import { Bar, Time } from "./ui";

export function latest(items: Achievement[], n: number): Achievement[] {
  return items.filter((a) => a.unlocked && a.unlocked_at).sort((a, b) => b.unlocked_at! - a.unlocked_at!).slice(0, n);
}

export function Score({ data }: { data: Achievements }): JSX.Element {
  const got = data.achievements.filter((a) => a.unlocked);
  const parts = [...tiers].reverse().map((t) => ({ id: t as string, name: t as string, n: got.filter((a) => a.tier === t).length }));
  const feats = got.filter((a) => !a.tier).length;
  if (feats) parts.push({ id: "Feat", name: "Feats", n: feats });
  // A first scan knows no dates yet; the best of what it found is as good to show.
  const dated = latest(data.achievements, 1)[0];
  const last = dated ?? [...got].sort((a, b) => tiers.indexOf(b.tier!) - tiers.indexOf(a.tier!))[0];
  const words = parts.map((p) => `${p.n} ${p.name}`).join(", ");
  return (
    <section class="score" aria-label="Score">
      <p class="big"><b>{count(got.length)}</b> <span>of {count(data.total_count)} unlocked</span></p>
      <div class="tier-bar" role="img" aria-label={`By tier: ${words}`}>
        {parts.filter((p) => p.n > 0).map((p) => <i key={p.id} data-tier={p.id} style={{ flexGrow: p.n }} />)}
        <i class="rest" style={{ flexGrow: Math.max(0, data.total_count - got.length) }} />
      </div>
      <ul class="legend">
        {parts.map((p) => <li key={p.id} data-tier={p.id}><i />{p.name} <b>{p.n}</b></li>)}
      </ul>
      <div class="latest">
        {last ? (
          <>
            <Medal item={last} size={36} />
            <p>
              <span class="dim">{dated ? "Latest unlock" : "Highest so far"}</span>
              <b>{last.name}</b>
              <span class="dim">{dated ? <Time at={dated.unlocked_at!} long /> : (last.tier ?? "Complete")}</span>
            </p>
          </>
        ) : <p><span class="dim">Latest unlock</span><b>None yet</b></p>}
      </div>
    </section>
  );
}

export function ScanBar({ done, total, first }: { done: number; total: number; first: boolean }): JSX.Element {
  return (
    <section class="scan" role="status">
      <p>
        <b>{first ? "Reading your history for the first time" : "Reading new sessions"}</b>
        <span>{total ? `${count(done)} of ${plural(total, "session")}` : "counting sessions…"}</span>
      </p>
      <Bar pct={total ? (done / total) * 100 : 0} label="Sessions read" />
    </section>
  );
}

export function Recent({ items, fresh }: { items: Achievement[]; fresh: Set<string> }): JSX.Element | null {
  if (!items.length) return null;
  return (
    <section class="recent" aria-label="Recent unlocks">
      <h2>Recent</h2>
      <ul tabIndex={0} aria-label="Recent unlocks">
        {items.map((a) => (
          <li key={a.id} class={fresh.has(a.id) ? "fresh" : ""}>
            <Medal item={a} size={28} />
            <span><b>{a.name}</b><span class="dim">{a.tier ?? "Complete"}{a.unlocked_at ? <> · <Time at={a.unlocked_at} /></> : null}</span></span>
          </li>
        ))}
      </ul>
    </section>
  );
}
