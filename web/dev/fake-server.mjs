// A stand-in for `talaria serve`: the same routes and headers, answered from captured JSON, loopback only.
// The browser tests use it for what a healthy server seldom does: slow, failing, half-scanned, gone.
// usage: node web/dev/fake-server.mjs [PORT]      (after node web/build.mjs)
import { createServer } from "node:http";
import { existsSync, readFileSync } from "node:fs";
import { dirname, extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { fakeChat } from "./fake-chat.mjs";
import { enrich, exported, facets, isSide, listSessions, search } from "./fake-sessions.mjs";
import { fakeHandoffs } from "./fake-handoffs.mjs";
import { fakeSleep } from "./fake-sleep.mjs";
import { markdown, outcome } from "./fake-text.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const load = (name) => JSON.parse(readFileSync(join(here, "fixtures", `${name}.json`), "utf8"));
const types = { ".html": "text/html; charset=utf-8", ".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml" };
const badges = "/api/achievements";
const pages = /^\/(achievements|sessions|templates|sleep|chat|handoffs)(\/|$)/;
export const csp = "default-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const checklist = [
  { id: "search", title: "Search all sessions", command: 'talaria --demo sessions search "restore a snapshot"' },
  { id: "open", title: "Open a session you found", command: "talaria --demo sessions show 118dfac3" },
  { id: "handoff", title: "Move a session to the local chat", command: "talaria --demo handoff local" },
  { id: "night", title: "Run a night", command: "talaria --demo sleep run --backend mock" },
];
const place = (name, title, folder, present) => ({ name, title, folder, present, sessions: 0, newest: 0 });
const sources = [place("hermes", "Hermes Agent", "/home/you/.hermes", false), place("claude", "Claude Code", "/home/you/.claude", false), place("codex", "Codex", "/home/you/.codex", false), place("talaria", "Talaria", null, true)];

// What a test may turn while the server runs.
const defaults = () => ({
  delay: 0, // ms before every answer
  slow: {}, // path prefix -> ms, or a promise that is waited for
  blank: "", // path prefix that answers 200 with nothing in it
  fail: {}, // path prefix -> {status, title, detail}
  scan: "complete", // or "pending", "partial"
  scanError: null, // of the last scan
  stale: false,
  empty: false, // a machine without history
  sessions: 0, // this many made-up sessions instead of the captured ones
  partial: false, // the index of sessions is still being made
  features: [], // tabs beyond the three
  refuse: false, // drop every connection, as a server that went away
  demo: false, // the sample data is in use
  sources: true, // badges are counted over several agents
});

function manySessions(base, count) {
  return Array.from({ length: count }, (_, i) => {
    const s = base[i % base.length];
    const at = s.started_at - i * 300;
    const id = `many_${String(i).padStart(6, "0")}`;
    return { ...s, id, title: `${i + 1}. ${s.title}`, started_at: at, last_active: at + 200, parts: [{ ...s.parts[0], id }] };
  });
}

let pagePart = "page-of-the-fake"; // what the page keeps for its origin, beside the cookie; another one after a sign-out

export async function startFake({ port = 0, dir = join(here, "../../build/web"), token = "fake-token" } = {}) {
  const data = {
    sessions: enrich(load("sessions").sessions),
    transcripts: load("transcripts"),
    templates: load("templates").templates,
    shows: load("template-shows"),
    study: load("study"),
    status: load("status"),
    badges: load("achievements"),
  };
  for (const a of data.badges.achievements) if (a.evidence) a.evidence.message_id = a.id === "let_him_cook" ? 8851 : null;
  const state = defaults();
  let sleep = fakeSleep();
  let chat = fakeChat();
  let moves = fakeHandoffs();
  const streams = new Set();
  const sockets = new Set();
  const log = []; // "GET /api/…" of everything asked, in order

  const problem = (status, title, detail) => ({ status, problem: { type: "about:blank", title, status, detail } });
  const find = (id) => all().find((s) => s.id === id || s.parts.some((p) => p.id === id));
  let made = [];
  function all() {
    if (state.empty) return [];
    if (!state.sessions) return data.sessions;
    if (made.length !== state.sessions) made = manySessions(data.sessions, state.sessions);
    return made;
  }

  function messages(id, query) {
    const whole = data.transcripts[id] ?? Object.values(data.transcripts).find((t) => t.parts.some((p) => p.id === id)) ?? Object.values(data.transcripts)[0];
    const part = whole.parts.find((p) => p.id === query.get("part")) ?? whole.parts[whole.parts.length - 1];
    const after = Number((query.get("after") ?? "0").split("_").pop());
    const limit = Number(query.get("limit") ?? 200);
    const results = new Map(part.transcript.filter((m) => m.tool_call_id).map((m) => [m.tool_call_id, m]));
    const rows = part.transcript.filter((m) => m.id > after);
    const page = rows.slice(0, limit).map((m) => ({
      ...m,
      bytes: Buffer.byteLength(m.content ?? ""),
      side_chain: isSide(part.transcript, part.transcript.indexOf(m)),
      html: m.role === "tool" || !m.content ? null : markdown(m.content),
      tool_calls: m.tool_calls.map((c) => {
        const r = results.get(c.id);
        return r ? { ...c, ...outcome(r.content), result_id: r.id, seconds: r.timestamp - m.timestamp } : { ...c, ok: null, outcome: null };
      }),
    }));
    return { format: 1, session: id, messages: page, next_after: rows.length > limit ? `0_${page[page.length - 1].timestamp}_${page[page.length - 1].id}` : null };
  }

  function achievements() {
    const whole = structuredClone(data.badges);
    whole.is_stale = state.stale;
    if (state.sources) whole.sources = { hermes: 65, claude: 60, codex: 26, talaria: 0 };
    if (state.stale) whole.scan_meta.status.state = state.scanError ? "failed" : "running";
    if (state.scanError) whole.error = state.scanError;
    if (state.scan === "complete" && !state.empty) return whole;
    const partial = state.scan === "partial";
    let left = partial ? 9 : 0;
    for (const a of whole.achievements) {
      if (a.unlocked && left-- > 0) { a.unlocked_at = null; continue; }
      const secret = Boolean(a.secret);
      Object.assign(a, { unlocked: false, discovered: false, state: secret ? "secret" : "discovered", tier: null, progress: 0, progress_pct: 0 });
      a.next_tier = a.tiers?.[0].name ?? null;
      a.next_threshold = a.tiers?.[0].threshold ?? 1;
      if (secret) Object.assign(a, { name: "???", icon: "secret", description: "A secret.", criteria: "A secret." });
    }
    whole.unlocked_count = partial ? 9 : 0;
    const total = state.empty ? 0 : data.sessions.length;
    whole.scan_meta = state.empty && state.scan === "complete"
      ? { ...whole.scan_meta, mode: "full", sessions_total: 0, sessions_scanned_so_far: 0, sessions_expected_total: 0 }
      : partial
        ? { mode: "in_progress", sessions_total: 60, sessions_rescanned: 0, sessions_reused: 0, sessions_scanned_so_far: 60, sessions_expected_total: total, status: { state: "running" } }
        : { mode: "pending", sessions_total: 0, sessions_rescanned: 0, sessions_reused: 0, status: { state: "running" } };
    return whole;
  }

  function inject(show, body) {
    const at = body.messages.findIndex((m) => m.role !== "system");
    const cut = at < 0 ? body.messages.length : at;
    const t = show.template;
    const put = [{ role: "system", content: `Session template: ${t.name} (${t.task_type})\nExamples of successful tool calls from previous sessions:` }];
    t.examples.forEach((e, i) => put.push(
      { role: "assistant", content: null, tool_calls: [{ id: `template_${i}`, type: "function", function: { name: e.tool_name, arguments: JSON.stringify(e.arguments) } }] },
      { role: "tool", tool_call_id: `template_${i}`, content: e.result }));
    return { format: 1, template: t.name, type: t.task_type, changed: true, reason: "the template was put in", tokens: show.tokens, messages: [...body.messages.slice(0, cut), ...put, ...body.messages.slice(cut)] };
  }

  function create(body) {
    const s = find(body.session);
    if (!s) return problem(404, "Session not found", `No session '${body.session}'.`);
    const base = Object.values(data.shows)[0];
    const examples = base.template.examples.slice(0, Math.max(1, Math.min(body.max_examples ?? 10, 10)));
    const name = body.name || `${body.type ?? "mixed"}_${s.id.slice(0, 8)}_1794778600`;
    const made = { format: 1, dry_run: Boolean(body.dry_run), name, type: body.type ?? "mixed", examples: examples.length, description: `Template with ${examples.length} examples`, source_session_id: s.id, path: "", calls: s.tool_calls, failed: 2, too_large: 0, tokens: Math.round(JSON.stringify(examples).length / 4) };
    const template = { name, task_type: made.type, examples };
    if (body.dry_run) return { body: { ...made, exists: Boolean(body.name && data.shows[name]), template } };
    if (data.shows[name]) return problem(409, "Name taken", `There is already a template '${name}'.`);
    const created_at = Date.now() / 1000;
    data.templates.unshift({ ...made, usage_count: 0, created_at });
    data.shows[name] = { format: 1, path: made.path, tokens: made.tokens, template: { name, task_type: made.type, examples, description: made.description, created_at, usage_count: 0, source_session_id: s.id } };
    return { status: 201, body: { ...made, template } };
  }

  function route(method, path, query, body, key) {
    if (path.startsWith(badges)) {
      const rest = path.slice(badges.length);
      if (rest === "") return { body: achievements() };
      if (rest === "/scan-status") return { body: data.badges.scan_meta.status };
      if (rest === "/recent") return { body: achievements().achievements.filter((a) => a.unlocked).sort((a, b) => b.unlocked_at - a.unlocked_at).slice(0, 20) };
      if (rest === "/rescan" && method === "POST") { emit("progress", { done: 159, total: 159 }); emit("snapshot", {}); return { body: { ok: true, ...achievements() } }; }
      if (rest === "/reset" && method === "POST") return { body: { ok: true } };
      const session = rest.match(/^\/sessions\/([^/]+)\/badges$/);
      if (session) return { body: { session_id: session[1], badges: data.badges.achievements.filter((a) => a.unlocked && a.kind === "best_session").slice(0, 3) } };
    }
    if (path === "/api/demo") return { body: { format: 1, demo: state.demo, ...(state.demo && { title: "Try in two minutes", checklist }) } };
    if (path === "/api/status") {
      const homes = state.empty ? data.status.homes.map((h) => ({ ...h, sessions: 0, messages: 0 })) : data.status.homes;
      return { body: { ...data.status, homes, features: state.features, sources } };
    }
    if (path === "/api/sessions") return { body: listSessions(all(), query, state.partial) };
    if (path === "/api/sessions/facets") return { body: facets(all()) };
    if (path === "/api/index") return { body: { format: 1, sessions: 60, messages: 3100, bytes: 1_400_000, updating: state.partial, done: state.partial ? 60 : data.sessions.length, total: data.sessions.length } };
    if (path === "/api/search") {
      const found = search(all(), data.transcripts, query, state.partial);
      return found.problem ? problem(400, "The search is not understood", found.problem) : { body: found };
    }
    const moved = state.features.includes("handoffs") && moves.route(method, path, query, body, { empty: state.empty, problem, key });
    if (moved) return moved;
    const session = path.match(/^\/api\/sessions\/([^/]+)(\/messages|\/export)?$/);
    if (session) {
      const s = find(decodeURIComponent(session[1]));
      if (!s) return problem(404, "Session not found", `No session '${session[1]}' in any home.`);
      if (method !== "GET" && !s.own) return problem(403, "Refused", "this session belongs to another program; 'talaria sessions rename' changes Talaria's own");
      if (method === "PATCH") return { body: Object.assign(s, body) };
      if (method === "DELETE") {
        data.sessions = data.sessions.filter((x) => x !== s);
        return { body: { format: 1, id: s.id } };
      }
      if (session[2] !== "/export") return { body: session[2] ? messages(s.id, query) : s };
      const as = query.get("as") === "md" ? "md" : "jsonl";
      return { file: `${s.id}.${as}`, text: exported(s, messages(s.id, new URLSearchParams({ limit: "9999" })).messages, as) };
    }
    const talked = state.features.includes("chat") && chat.route(method, path, query, body, { empty: state.empty, problem, key });
    if (talked) return talked;
    const slept = state.features.includes("sleep") && sleep.route(method, path, body, { empty: state.empty, problem });
    if (slept) return slept;
    if (path === "/api/templates/study") return { body: data.study };
    if (path === "/api/templates") return method === "POST" ? create(body) : { body: { format: 1, templates: state.empty ? [] : data.templates } };
    const template = path.match(/^\/api\/templates\/([^/]+)(\/inject)?$/);
    if (template) {
      const name = decodeURIComponent(template[1]);
      const show = data.shows[name];
      if (!show) return problem(404, "Template not found", `No template '${name}'.`);
      if (template[2]) return { body: inject(show, body) };
      if (method !== "DELETE") return { body: show };
      delete data.shows[name];
      data.templates = data.templates.filter((t) => t.name !== name);
      return { body: { format: 1, dry_run: false, name } };
    }
    return problem(404, "Not found", path);
  }

  const head = { "Content-Security-Policy": csp, "X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer" };
  function send(res, { status = 200, body, problem: trouble, file, text, stream, raw, type }, more = {}) {
    if (res.destroyed) return;
    if (stream) return stream(res, head);
    if (raw !== undefined) return res.writeHead(200, { ...head, "Content-Type": type }).end(raw);
    if (file) {
      res.writeHead(200, { ...head, "Content-Type": "text/plain; charset=utf-8", "Content-Disposition": `attachment; filename="${file}"` });
      return res.end(text);
    }
    res.writeHead(status, { ...head, "Content-Type": trouble ? "application/problem+json" : "application/json", "Cache-Control": "no-store", ...more });
    res.end(JSON.stringify(trouble ?? body));
  }
  const prefixed = (table, path) => Object.entries(table).find(([prefix]) => path.startsWith(prefix))?.[1];

  const server = createServer(async (req, res) => {
    const url = new URL(req.url, "http://localhost");
    const path = url.pathname;
    if (!path.startsWith("/api/")) {
      let file = join(dir, path === "/" || pages.test(path) ? "index.html" : path.slice(1));
      const found = !path.includes("..") && existsSync(file);
      // A person who mistyped an address gets the page, which says so.
      if (!found && !(req.headers.accept ?? "").includes("text/html")) return send(res, problem(404, "Not found", path));
      if (!found) file = join(dir, "index.html");
      res.writeHead(found ? 200 : 404, { ...head, "Content-Type": types[extname(file)] ?? "application/octet-stream", "Cache-Control": "no-store" });
      return res.end(readFileSync(file));
    }
    log.push(`${req.method} ${req.url}`);
    let text = "";
    for await (const chunk of req) text += chunk;
    const body = text ? JSON.parse(text) : {};
    if (path === "/api/auth" && req.method === "DELETE") {
      if (state.refuseSignOut) return send(res, problem(507, "No space left", "The disk is full."));
      pagePart += "+";
      return send(res, { body: { ok: true } }, { "Set-Cookie": "talaria=; HttpOnly; SameSite=Strict; Path=/; Max-Age=0" });
    }
    if (path === "/api/auth") {
      if (body.token !== token) return send(res, problem(401, "Wrong token", "The token is not this server's."));
      return send(res, { body: { ok: true, page: pagePart } }, { "Set-Cookie": `talaria=${token}; HttpOnly; SameSite=Strict; Path=/` });
    }
    if (!(req.headers.cookie ?? "").includes(`talaria=${token}`) || req.headers["x-talaria-page"] !== pagePart) return send(res, problem(401, "Not signed in", "A token is needed."));
    if (path === "/api/events") {
      res.writeHead(200, { ...head, "Content-Type": "text/event-stream", "Cache-Control": "no-store" });
      res.write("retry: 1000\n\nevent: status\ndata: {}\n\n");
      if (res.destroyed) return; // it left meanwhile
      streams.add(res);
      return res.on("close", () => streams.delete(res));
    }
    const wait = prefixed(state.slow, path) ?? state.delay;
    if (wait) await (typeof wait === "number" ? new Promise((done) => setTimeout(done, wait)) : wait);
    if (state.blank && path.startsWith(state.blank)) return res.writeHead(200, head).end();
    const failure = prefixed(state.fail, path);
    send(res, failure ? problem(failure.status, failure.title, failure.detail) : route(req.method, path, url.searchParams, body, req.headers["idempotency-key"]));
  });
  server.on("connection", (socket) => {
    if (state.refuse) return socket.destroy();
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
  });
  function emit(event, value) {
    for (const res of streams) res.write(`event: ${event}\ndata: ${JSON.stringify(value)}\n\n`);
  }
  await new Promise((done) => server.listen(port, "127.0.0.1", done));
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    token, state, data, log, emit,
    streams: () => streams.size,
    // For another page: who listened before does not count any more.
    reset() { Object.assign(state, defaults()); log.length = 0; streams.clear(); sleep = fakeSleep(); chat = fakeChat(); moves = fakeHandoffs(); },
    get chat() { return chat; },
    get moves() { return moves; },
    wake: () => sleep.end(),
    // As if the process had died: open connections end, new ones are refused until `state.refuse` is false.
    vanish() { state.refuse = true; for (const s of sockets) s.destroy(); },
    close() { for (const s of sockets) s.destroy(); return new Promise((done) => server.close(done)); },
  };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const fake = await startFake({ port: Number(process.argv[2] ?? 8899) });
  console.log(`${fake.url}/#token=${fake.token}`);
}
