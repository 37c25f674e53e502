// Just enough Markdown and judgement for the fake; the real ones are cmark-gfm and src/text/outcome.c.
const escape = (s) => s.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;").replace(/"/g, "&quot;");

function inline(s) {
  return escape(s)
    .replace(/`([^`]+)`/g, "<code>$1</code>")
    .replace(/\*\*([^*]+)\*\*/g, "<strong>$1</strong>")
    .replace(/\[([^\]]+)\]\((https?:[^)\s]+)\)/g, '<a href="$2">$1</a>');
}

export function markdown(text) {
  const out = [];
  const blocks = text.split(/(```[\s\S]*?```)/);
  for (const block of blocks) {
    const fence = block.match(/^```(\w*)\n?([\s\S]*?)```$/);
    if (fence) { out.push(`<pre><code${fence[1] ? ` class="language-${fence[1]}"` : ""}>${escape(fence[2])}</code></pre>`); continue; }
    for (const part of block.split(/\n{2,}/)) {
      const lines = part.trim().split("\n");
      if (!part.trim()) continue;
      const heading = lines[0].match(/^(#{1,4}) (.*)/);
      if (heading) out.push(`<h${heading[1].length}>${inline(heading[2])}</h${heading[1].length}>`);
      else if (lines.every((l) => /^[-*] /.test(l))) out.push(`<ul>${lines.map((l) => `<li>${inline(l.slice(2))}</li>`).join("")}</ul>`);
      else if (lines.every((l) => /^\d+\. /.test(l))) out.push(`<ol>${lines.map((l) => `<li>${inline(l.replace(/^\d+\. /, ""))}</li>`).join("")}</ol>`);
      else out.push(`<p>${lines.map(inline).join("\n")}</p>`);
    }
  }
  return out.join("\n");
}

export function outcome(text) {
  try {
    const r = JSON.parse(text);
    if (r.success === false || r.error || (r.exit_code ?? 0) !== 0 || r.status === "error") return { ok: false, outcome: r.exit_code ? `exit code ${r.exit_code}` : "it says so" };
  } catch {
    if (/^(Error:|Traceback)/.test(text)) return { ok: false, outcome: "error text" };
  }
  return { ok: true, outcome: "ok" };
}
