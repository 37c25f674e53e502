// Examples of a template, in the shape in which a session will see them: a call, then its result.
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { icon } from "../icons";
import { mainArgument } from "../transcript";
import type { Example } from "../types";
import { Fields } from "./tool-call";
import { Icon } from "./ui";

function ExampleRow({ example: e, n }: { example: Example; n: number }): JSX.Element {
  const [open, setOpen] = useState(n === 0);
  return (
    <li class="call" data-outcome={e.success ? "worked" : "failed"}>
      <button type="button" aria-expanded={open} onClick={() => setOpen(!open)}>
        <Icon name={icon.right} size={14} />
        <b>{e.tool_name}</b>
        <span class="argument">{mainArgument(e.arguments, "")}</span>
        <span class="time mono">template_{n}</span>
        <span class="mark"><Icon name={e.success ? icon.worked : icon.failed} size={14} label={e.success ? "worked" : "failed"} /></span>
      </button>
      {open && (
        <div class="unfolded">
          <p class="sub">Call: {e.tool_name}</p>
          <Fields text={JSON.stringify(e.arguments)} empty="without arguments" />
          <p class="sub">Result</p>
          <Fields text={e.result} empty="nothing" />
        </div>
      )}
    </li>
  );
}

export function ExampleList({ examples }: { examples: Example[] }): JSX.Element {
  return <ol class="examples">{examples.map((e, i) => <ExampleRow key={i} example={e} n={i} />)}</ol>;
}
