// A template from a session: what it would hold is asked (dry_run) as the form changes, nothing is written until "Create".
import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import { ApiError, post } from "../api";
import { count, plural } from "../format";
import { icon } from "../icons";
import { forget } from "../resource";
import { go } from "../router";
import type { TemplateMade } from "../types";
import { ExampleList } from "./examples";
import { Icon } from "./ui";

const types = ["code", "file", "research", "terminal", "mixed"];

export function MakeTemplate({ session, onClose }: { session: string; onClose?: () => void }): JSX.Element {
  const [form, setForm] = useState({ name: "", type: "", max_examples: 10, include_failed: false });
  const [preview, setPreview] = useState<TemplateMade | null>(null);
  const [error, setError] = useState<ApiError | null>(null);
  const [busy, setBusy] = useState(false);
  const { name, type, ...rest } = form;
  const body = { session, chain: true, ...rest, ...(name && { name }), ...(type && { type }) };

  useEffect(() => {
    const stop = new AbortController();
    const timer = setTimeout(() => {
      post<TemplateMade>("/api/templates", { ...body, dry_run: true }, stop.signal).then(
        (made) => { setPreview(made); setError(null); },
        (cause) => stop.signal.aborted || setError(cause as ApiError),
      );
    }, preview ? 200 : 0);
    return () => { clearTimeout(timer); stop.abort(); };
  }, [session, form]);

  const create = async (): Promise<void> => {
    setBusy(true);
    try {
      const made = await post<TemplateMade>("/api/templates", body);
      forget("/api/templates");
      go(["templates", made.name]);
    } catch (cause) {
      setError(cause as ApiError);
      setBusy(false);
    }
  };
  const set = (change: Partial<typeof form>): void => setForm({ ...form, ...change });
  return (
    <form class="make" aria-label="Make a template" onSubmit={(e) => { e.preventDefault(); void create(); }}>
      <div class="make-fields">
        <label class="field">
          Name
          <input
            value={name} placeholder={preview?.name ?? "automatic"} pattern="[A-Za-z0-9][A-Za-z0-9._\-]*" maxLength={128}
            onInput={(e) => set({ name: e.currentTarget.value })}
          />
        </label>
        <label class="field">
          Type
          <select class="select" value={type} onChange={(e) => set({ type: e.currentTarget.value })}>
            <option value="">Automatic</option>
            {types.map((t) => <option key={t} value={t}>{t}</option>)}
          </select>
        </label>
        <label class="field">
          Max. examples
          <input
            type="number" min={1} max={100} value={form.max_examples}
            onInput={(e) => set({ max_examples: Math.max(1, Number(e.currentTarget.value) || 1) })}
          />
        </label>
        <label class="check">
          <input type="checkbox" checked={form.include_failed} onChange={(e) => set({ include_failed: e.currentTarget.checked })} />
          Include failed calls
        </label>
      </div>
      {error && <p class="notice bad" role="alert"><Icon name={icon.failed} size={14} /> {error.message}. {error.detail}</p>}
      {preview?.exists && <p class="notice" role="status">A template with this name already exists.</p>}
      <div class="make-end">
        <p role="status">
          {!preview && <span class="dim">Reading the session…</span>}
          {preview && (
            <>
              <b>{plural(preview.examples, "example")}</b> of type <b>{preview.type}</b>, about <b>{count(preview.tokens)} tokens</b>
              <span class="dim">
                {` · ${plural(preview.calls, "call")} in the session, ${count(preview.failed)} failed`}
                {preview.too_large > 0 && `, ${count(preview.too_large)} too large`}
              </span>
            </>
          )}
        </p>
        {onClose && <button type="button" onClick={onClose}>Cancel</button>}
        <button type="submit" class="primary" disabled={busy || !preview || preview.examples === 0 || preview.exists}>Create template</button>
      </div>
      {preview?.template?.examples && <ExampleList examples={preview.template.examples} />}
    </form>
  );
}
