import type { JSX } from "preact";
import { cost, originName, plainTitle, plural, project, short } from "../format";
import { icon, sourceIcon } from "../icons";
import { memo } from "../memo";
import type { Session } from "../types";
import { Icon, Time } from "./ui";

export const tokens = (s: Session): number => (s.input_tokens ?? 0) + (s.output_tokens ?? 0);

// Where a session is from: which agent by colour and mark, and within Hermes through which door.
export function SourceMark({ origin, source }: { origin?: string | undefined; source?: string }): JSX.Element {
  const name = [origin && originName(origin), source !== origin && source].filter(Boolean).join(" · ");
  return <span class="source" data-origin={origin} title={name}><Icon name={sourceIcon(source ?? "", origin)} label={name} /></span>;
}

// When in the session things happened, as one path: a list of these must stay cheap to draw.
export function Sparkline({ values }: { values: number[] }): JSX.Element {
  const d = values.map((v, i) => (v > 0 ? `M${i * 3 + 1} 14v-${Math.max(1.5, (v / 255) * 13).toFixed(1)}` : "")).join("");
  return <svg class="spark" width="48" height="14" viewBox="0 0 48 14" aria-hidden="true"><path d={d} /></svg>;
}

export const SessionRow = memo(function SessionRow({ session: s, top, href, current, index }: {
  session: Session;
  top: number;
  href: string;
  current: boolean;
  index: number;
}): JSX.Element {
  const calls = `${plural(s.tool_calls, "tool call")}${s.tools?.length ? `: ${s.tools.join(", ")}` : ""}`;
  return (
    <li class="session-row" style={{ transform: `translateY(${top}px)` }} aria-posinset={index + 1}>
      <a href={href} aria-current={current ? "true" : undefined} id={`session-${s.id}`}>
        <SourceMark origin={s.origin} source={s.source} />
        <span class="line"><span class="what">{plainTitle(s.title)}</span>
        <span class="when">
          {s.side_chain && <Icon name={icon.side} size={12} label="sub-agent" />}
          {s.archived && <Icon name={icon.archive} size={12} label="archived" />} <Time at={s.last_active} />
        </span></span>
        <span class="line"><span class="where" title={s.cwd ?? ""}>{project(s.cwd)}{s.parts.length > 1 ? ` · ${s.parts.length} parts` : ""}</span>
        {s.activity && <Sparkline values={s.activity} />}
        <span class="counts">
          <span title={plural(s.messages, "message")}><Icon name={icon.messages} size={12} />{short(s.messages)}</span>
          <span title={calls}><Icon name={icon.tools} size={12} />{short(s.tool_calls)}</span>
          {tokens(s) > 0 && (
            <span title={`${plural(tokens(s), "token")}, cost ${cost(s.cost_usd)}`}>
              <Icon name={icon.tokens} size={12} />{short(tokens(s))}
            </span>
          )}
        </span></span>
      </a>
    </li>
  );
});
