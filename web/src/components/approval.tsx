// A runtime asks before it does something.
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { ApiError, enc, post } from "../api";
import { icon } from "../icons";
import type { RunState, Step } from "../run";
import { Icon } from "./ui";

const words: Record<string, string> = { once: "Once", session: "This session", always: "Always", deny: "Deny" };

export const asked = (run: RunState): Step | undefined => (run.done ? undefined : run.steps.findLast((s) => s.stage === "approval" && s.status === "waiting"));

export function ApprovalCard({ run, step }: { run: RunState; step: Step }): JSX.Element {
  const [given, setGiven] = useState("");
  const [error, setError] = useState<ApiError | null>(null);
  const a = step.approval!;
  const answer = async (choice: string): Promise<void> => {
    setGiven(choice);
    setError(null);
    await post(`/api/runs/${enc(run.id)}/approval`, { id: a.id, choice }).catch((cause: ApiError) => {
      setGiven("");
      setError(cause);
    });
  };
  const choices = a.choices.length ? a.choices : Object.keys(words);
  return (
    <section class="approval" aria-label="Approval">
      <p><Icon name={icon.asks} size={14} /> <b>Allow this command?</b></p>
      {a.command && <pre tabIndex={0}><code>{a.command}</code></pre>}
      <div class="row-of">
        {choices.map((c) => (
          <button type="button" key={c} class={c === "deny" ? "danger" : c === "once" ? "primary" : ""} disabled={given !== ""} onClick={() => void answer(c)}>{words[c] ?? c}</button>
        ))}
      </div>
      {error && <p class="bad" role="alert">{error.message}. {error.detail}</p>}
    </section>
  );
}
