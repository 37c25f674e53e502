// Sessions of every source for the fake: captured ones dealt out among Hermes, Claude Code and Codex, with what
// the real catalogue adds to each (activity, tools), the counts to filter by, and a plain search over transcripts.
const origins = { hermes: "Hermes", claude: "Claude Code", codex: "Codex", talaria: "Talaria" };
const toolsOf = {
  hermes: ["terminal", "read_file", "patch", "search_files", "web_search"],
  claude: ["Bash", "Read", "Edit", "Grep", "Task"],
  codex: ["shell", "apply_patch", "update_plan"],
};
const models = { claude: ["claude-opus-4-5", "claude-sonnet-4-5"], codex: ["gpt-5.5-codex"] };
const hash = (text) => [...text].reduce((h, c) => (Math.imul(h, 31) + c.charCodeAt(0)) >>> 0, 7);
const last = (cwd) => cwd?.split("/").filter(Boolean).pop() ?? "";

// Work comes in waves: a slow swell with some noise, and now and then a pause.
function activity(id) {
  let h = hash(id);
  return Array.from({ length: 16 }, (_, i) => {
    h = (Math.imul(h, 1103515245) + 12345) >>> 0;
    const swell = 0.5 + 0.5 * Math.sin(i / 2 + (hash(id) % 7));
    return h % 6 === 0 ? 0 : Math.round(255 * Math.min(1, swell * (0.35 + (h % 65) / 100)));
  });
}

export function enrich(sessions) {
  sessions.forEach((s, i) => {
    s.origin = s.parts.length > 1 || i % 5 < 2 ? "hermes" : i % 5 < 4 ? "claude" : "codex";
    if (s.origin !== "hermes") {
      s.source = s.origin;
      s.model = models[s.origin][i % models[s.origin].length];
    }
    s.own = i === 1;
    s.resume_command = s.own ? null : s.origin === "codex" ? `codex resume ${s.id}` : `${s.origin} --resume ${s.id}`;
    s.branch = s.git_branch;
    s.side_chain = s.origin === "claude" && i % 11 === 3;
    s.activity = s.messages > 2 ? activity(s.id) : null;
    s.tools = s.tool_calls ? toolsOf[s.origin].slice(0, 1 + (hash(s.id) % toolsOf[s.origin].length)) : null;
  });
  return sessions;
}

const time = (text) => (!text ? 0 : /^\d+(\.\d+)?$/.test(text) ? Number(text) : Date.parse(text) / 1000);

export function listSessions(all, query, partial) {
  const want = (name, of) => !query.get(name) || of === query.get(name);
  const from = time(query.get("since"));
  const until = time(query.get("until")) || Infinity;
  const archived = ["1", "true"].includes(query.get("archived") ?? "");
  const side = query.get("side_chains") === "1";
  const limit = Math.min(Number(query.get("limit") ?? 50), 500);
  const start = Number(query.get("cursor") ?? 0);
  const tool = query.get("tool");
  const rows = all.filter((s) => want("source", s.origin) && want("project", last(s.cwd)) && want("model", s.model) &&
    (!tool || s.tools?.includes(tool)) && s.started_at >= from && s.started_at <= until && (archived || !s.archived) && (side || !s.side_chain));
  const end = start + limit;
  return { format: 1, sessions: rows.slice(start, end), next_cursor: end < rows.length ? String(end) : null, partial };
}

export function facets(all) {
  const tally = (names) => {
    const seen = new Map();
    for (const n of names) if (n) seen.set(n, (seen.get(n) ?? 0) + 1);
    return [...seen].sort((a, b) => b[1] - a[1]).slice(0, 50).map(([name, sessions]) => ({ name, sessions }));
  };
  return {
    format: 1,
    origins: tally(all.map((s) => s.origin)).map((o) => ({ ...o, title: origins[o.name] })),
    projects: tally(all.map((s) => last(s.cwd))),
    models: tally(all.map((s) => s.model)),
    tools: tally(all.flatMap((s) => s.tools ?? [])),
  };
}

// Some turns of a long session belong to a helper that it sent off.
export const isSide = (messages, i) => messages.length > 60 && i >= 24 && i < 31;

const plain = (word) => word.replace(/[.*+?^${}()|[\]\\/]/g, "\\$&");

function snippet(text, words) {
  const flat = text.replace(/\s+/g, " ");
  const lower = flat.toLowerCase();
  const first = Math.max(0, Math.min(...words.map((w) => lower.indexOf(w)).filter((n) => n >= 0)) - 40);
  const cut = flat.slice(first, first + 160);
  const at = new RegExp(`(${words.map(plain).join("|")})`, "giu");
  const parts = cut.split(at).map((t, i) => ({ text: t, hit: i % 2 === 1 })).filter((p) => p.text);
  if (first > 0) parts.unshift({ text: "…", hit: false });
  return parts;
}

export function search(all, transcripts, query, partial) {
  const q = (query.get("q") ?? "").trim();
  if ((q.match(/"/g) ?? []).length % 2) return { problem: "A quote is opened and not closed." };
  const words = q.toLowerCase().replace(/"/g, "").split(/\s+/).filter(Boolean);
  const limit = Number(query.get("limit") ?? 20);
  const inside = query.get("substring") === "1";
  const fits = (text) => words.every((w) => (inside ? text.includes(w) : new RegExp(`(^|[^\\p{L}\\p{N}])${plain(w)}`, "u").test(text)));
  const hits = [];
  for (const [id, whole] of Object.entries(words.length ? transcripts : {})) {
    const s = all.find((row) => row.id === id);
    if (!s || (query.get("source") && s.origin !== query.get("source")) || (query.get("project") && last(s.cwd) !== query.get("project")) || (query.get("model") && s.model !== query.get("model"))) continue;
    for (const part of whole.parts) {
      for (const m of part.transcript) {
        const text = m.content ?? "";
        if (m.timestamp < time(query.get("since")) || !fits(text.toLowerCase())) continue;
        hits.push({ session: part.id, origin: s.origin, title: s.title, project: last(s.cwd), role: m.role, tool: m.tool_name, at: m.timestamp, message: m.id, snippet: snippet(text, words), score: 1 });
      }
    }
  }
  hits.sort((a, b) => b.at - a.at);
  return { format: 1, query: q, hits: hits.slice(0, limit), more: hits.length > limit, took_ms: 3, partial, note: null };
}

export function exported(s, messages, as) {
  if (as === "md") return `# ${s.title}\n\n${messages.map((m) => `## ${m.role}\n\n${m.content ?? ""}\n`).join("\n")}`;
  return messages.map((m) => `${JSON.stringify(m)}\n`).join("");
}
