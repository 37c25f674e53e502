// One achievement: what it is, how far along, why it counts.
import type { JSX } from "preact";
import { memo } from "../memo";
import { useState } from "preact/hooks";
import { count, short } from "../format";
import { badgeIcon, icon } from "../icons";
import { link, setQuery } from "../router";
import type { Achievement } from "../types";
import { Bar, Icon, Time } from "./ui";

export function Medal({ item, size = 44 }: { item: Achievement; size?: number }): JSX.Element {
  const rank = item.state === "secret" ? "secret" : !item.unlocked ? "locked" : (item.tier ?? "Feat");
  return (
    <span class="medal" data-tier={rank} style={{ width: `${size}px`, height: `${size}px` }}>
      <Icon name={badgeIcon(item.icon)} size={Math.round(size * 0.5)} />
    </span>
  );
}

// Five steps, filled as far as reached: the ladder at a glance.
function Pips({ item }: { item: Achievement }): JSX.Element | null {
  if (!item.tiers) return null;
  const reached = item.tiers.findIndex((t) => t.name === item.tier) + 1;
  return (
    <span class="pips" aria-hidden="true">
      {item.tiers.map((t, i) => <i key={t.name} data-tier={i < reached ? t.name : undefined} />)}
    </span>
  );
}

function Progress({ item }: { item: Achievement }): JSX.Element {
  const feat = !item.tiers;
  const done = item.progress_pct >= 100;
  const goal = feat ? "complete" : item.next_tier;
  return (
    <div class="progress">
      <Bar pct={item.progress_pct} tier={item.next_tier ?? item.tier ?? "Feat"} label={`Progress of ${item.name}`} />
      <span class="figures">
        {done && !feat ? <span>{short(item.progress)}</span>
          : feat ? <span>{item.progress_pct} of 100</span>
          : <span title={`${count(item.progress)} of ${count(item.next_threshold)}`}>{short(item.progress)} / {short(item.next_threshold)}</span>}
        <span>{done ? (feat ? "complete" : "top tier") : `${item.progress_pct} % to ${goal}`}</span>
      </span>
    </div>
  );
}

function Ladder({ item }: { item: Achievement }): JSX.Element {
  // The ladder follows as a list; the words need not say it again.
  const words = item.tiers ? item.criteria?.replace(/^What counts: /, "").replace(/ Copper at [\s\S]*$/, "") : item.criteria;
  return (
    <div class="ladder">
      {words && <p>{words[0]!.toUpperCase() + words.slice(1)}</p>}
      {item.tiers && (
        <ol>
          {item.tiers.map((t) => (
            <li key={t.name} data-tier={t.name} class={item.progress >= t.threshold ? "reached" : ""}>
              <span>{t.name}</span><span>{count(t.threshold)}</span>
            </li>
          ))}
        </ol>
      )}
    </div>
  );
}

export const BadgeCard = memo(function BadgeCard({ item, fresh }: { item: Achievement; fresh: boolean }): JSX.Element {
  const [open, setOpen] = useState(false);
  const secret = item.state === "secret";
  const label = secret ? "Secret" : item.unlocked ? (item.tier ?? "Complete") : item.progress > 0 ? "In progress" : "Not started";
  return (
    <li class={fresh ? "badge fresh" : "badge"} data-state={item.state} data-tier={item.unlocked ? (item.tier ?? "Feat") : undefined} id={`badge-${item.id}`}>
      <div class="badge-head">
        <Medal item={item} />
        <div>
          <h3>{secret ? "Secret" : item.name}</h3>
          <p class="rank"><span>{label}</span><Pips item={item} /></p>
        </div>
      </div>
      <p class="about">{item.description}</p>
      {!secret && <Progress item={item} />}
      <div class="badge-foot">
        {!secret && (
          <button type="button" class="fold" aria-expanded={open} onClick={() => setOpen(!open)}>
            <Icon name={icon.right} size={14} />What counts
          </button>
        )}
        <span class="got">
          {item.unlocked && item.unlocked_at ? <Time at={item.unlocked_at} long /> : null}
          {item.unlocked && (
            <button type="button" class="fold" aria-label={`Share ${item.name}`} title="Share" onClick={() => setQuery({ share: item.id })}>
              <Icon name={icon.share} size={13} />
            </button>
          )}
        </span>
      </div>
      {open && <Ladder item={item} />}
      {item.evidence && (
        <a class="evidence" href={link(["sessions", item.evidence.session_id], { m: item.evidence.message_id })} title={item.evidence.title}>
          <Icon name={icon.sessions} size={14} /><span>{item.evidence.title || item.evidence.session_id}</span><b>{short(item.evidence.value)}</b>
        </a>
      )}
    </li>
  );
});
