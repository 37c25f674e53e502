import type { JSX } from "preact";
import { cost, count, plainTitle, project, short } from "../format";
import { icon, sourceIcon } from "../icons";
import { memo } from "../memo";
import type { Session } from "../types";
import { Icon, Time } from "./ui";

export const tokens = (s: Session): number => (s.input_tokens ?? 0) + (s.output_tokens ?? 0);

export const SessionRow = memo(function SessionRow({ session: s, top, href, current, index }: {
  session: Session;
  top: number;
  href: string;
  current: boolean;
  index: number;
}): JSX.Element {
  return (
    <li class="session-row" style={{ transform: `translateY(${top}px)` }} aria-posinset={index + 1}>
      <a href={href} aria-current={current ? "true" : undefined} id={`session-${s.id}`}>
        <span class="source" title={s.source}><Icon name={sourceIcon(s.source)} label={s.source} /></span>
        <span class="line"><span class="what">{plainTitle(s.title)}</span>
        <span class="when">{s.archived && <Icon name={icon.archive} size={12} label="archived" />} <Time at={s.last_active} /></span></span>
        <span class="line"><span class="where" title={s.cwd ?? ""}>{project(s.cwd)}{s.parts.length > 1 ? ` · ${s.parts.length} parts` : ""}</span>
        <span class="counts">
          <span title={`${count(s.messages)} messages`}><Icon name={icon.messages} size={12} />{short(s.messages)}</span>
          <span title={`${count(s.tool_calls)} tool calls`}><Icon name={icon.tools} size={12} />{short(s.tool_calls)}</span>
          {tokens(s) > 0 && (
            <span title={`${count(tokens(s))} tokens${s.cost_usd ? `, ${cost(s.cost_usd)}` : ""}`}>
              <Icon name={icon.tokens} size={12} />{short(tokens(s))}
            </span>
          )}
        </span></span>
      </a>
    </li>
  );
});
