// Conversations for the fake: a few that are over, with all that a turn can leave, and turns that answer at a pace a
// test can turn. The frames are numbered, kept, and sent from any place on, as the real ones are.
let now = 0; // set when a fake begins, so that "12 min" is that, however late a test is
const minute = 60_000;
const bytes = (s) => Buffer.byteLength(s);

const answer = `Two things stand between the shop and the weekend:

1. **Gift wrap** is priced per order, but \`cart.total()\` rounds per line. The three failing tests are all of that.
2. The **storm lookup** still asks the old host.

\`\`\`js
export const total = (lines) =>
  round(lines.reduce((sum, l) => sum + l.price * l.count, 0));
\`\`\`

| check | before | after |
|---|---|---|
| \`npm test\` | 3 failed | 41 passed |
| \`npm run lint\` | clean | clean |

I left the deploy alone: you said on Tuesday that it waits for Monday.`;
const asked = "Find out why the cart tests fail and fix it; check the storm lookup too, then write the release notes for 2.4";

const receipts = {
  format: 1, tokens: 1842,
  parts: { user: { items: 2, tokens: 96 }, summary: { items: 0, tokens: 0 }, recalled: { items: 2, tokens: 1010 }, brain: { items: 1, tokens: 560 }, skills: { items: 2, tokens: 120, omitted: { platform: 1, disabled: 0, score: 14 } }, graph: { items: 4, tokens: 56 }, recent: { items: 0, tokens: 0 } },
  receipts: [
    { kind: "user", id: "user:1", score: 1, reason: "always given", chars: 210 },
    { kind: "user", id: "memory:3", score: 1, reason: "always given", chars: 174 },
    { kind: "recalled", id: "demo_20261115_203240_66f5bc/8851.0", score: 7.42, reason: "5 of 6 words: cart, tests, fail, storm, lookup", chars: 2380 },
    { kind: "recalled", id: "demo_20261024_171055_2c0747/31.0", score: 4.1, reason: "3 of 6 words: release, notes, cart", chars: 1660 },
    { kind: "brain", id: "deploy.md#2", score: 3.35, reason: "2 of 6 words: release, storm", chars: 2240 },
    { kind: "skills", id: "release-notes", score: 6.8, reason: "name and description", chars: 240 },
    { kind: "graph", id: "step:1", score: 1, reason: "code", chars: 60 },
  ],
};
const graph = {
  nodes: [
    { id: 1, text: "Find out why the cart tests fail", kind: "research", cost: 60, wave: 1, reads: [] },
    { id: 2, text: "check the storm lookup too", kind: "research", cost: 60, wave: 1, reads: [] },
    { id: 3, text: "fix it", kind: "code", cost: 120, wave: 2, writes: [] },
    { id: 4, text: "write the release notes for 2.4", kind: "write", cost: 60, wave: 3, writes: [] },
  ],
  edges: [{ from: 1, to: 3, why: "anaphora" }, { from: 3, to: 4, why: "order" }, { from: 2, to: 4, why: "order" }],
  waves: [[1, 2], [3], [4]], W: 300, CP: 240, S: 1.21, I: 1, decision: "serial", score: 0.21, reasons: ["the first wave alone gains 1.2 times", "below 1.5"], truncated: false, dropped_nodes: 0, folded_nodes: 0, dropped_edges: [],
};
const skills = [{ name: "release-notes", score: 6.8, confidence: "high" }, { name: "csv-clean", score: 1.94, confidence: "low" }];

const metadata = (run, runtime, mode = "resumed", rich = true) => ["metadata", {
  v: 1, runtime, run_id: run.id, conversation_id: run.conversation, user_message_id: run.user, assistant_message_id: run.assistant, continuity: { mode },
  context: rich ? { tokens: 1842, user: 2, summary: 0, recalled: 2, brain: 1 } : { tokens: 0, user: 0, summary: 0, recalled: 0, brain: 0 },
  skills: rich ? skills : [], graph: rich ? { nodes: 4, edges: 3, decision: "serial", score: 0.21, waves: 3 } : { nodes: 1, edges: 0, decision: "serial", score: 0, waves: 1 },
}];
const progress = (stage, status, more = {}) => ["progress", { stage, status, ...more }];
const usage = { input: 5230, output: 412, reasoning: 96, cached: 4096, total: 5642 };
const done = (status = "completed", more = {}) => ["done", { status, finish_reason: status === "completed" ? "stop" : status, segments: 2, usage, elapsed_ms: 8420, ttft_ms: 640, ...more }];

function rich(run) {
  const first = "I'll look at the tests first.";
  return [
    metadata(run, "hermes"), progress("context", "completed"), progress("skills", "completed"), progress("graph", "completed"),
    progress("session", "completed", { detail: "resumed", model: "hermes-4-70b", runtime_version: "0.13.0" }),
    progress("session", "running", { label: "adding turns from other runtimes" }),
    progress("thinking", "running", { text: "The cart tests were touched on Tuesday. Rounding per line would explain all three. " }),
    ["chunk", { text: first, segment: 0 }],
    progress("tool", "started", { tool: "terminal", call_id: "c1", args_preview: '{"command":"npm test -- cart"}' }),
    progress("tool", "failed", { tool: "terminal", call_id: "c1", result_preview: "3 failed, 38 passed", duration_ms: 2140 }),
    progress("tool", "started", { tool: "read_file", call_id: "c2", args_preview: '{"path":"src/cart.js"}' }),
    progress("tool", "completed", { tool: "read_file", call_id: "c2", result_preview: "export const total = …", duration_ms: 12 }),
    progress("retry", "running", { attempt: 2, detail: "the provider was overloaded" }),
    progress("approval", "waiting", { approval: { id: "ap1", choices: ["once", "session", "always", "deny"], command: "git push origin fix/cart" } }),
    progress("approval", "completed", { detail: "once", approval: { id: "ap1", choices: [] } }),
    progress("tool", "started", { tool: "terminal", call_id: "c3", args_preview: '{"command":"npm test"}' }),
    progress("tool", "completed", { tool: "terminal", call_id: "c3", result_preview: "41 passed", duration_ms: 3380 }),
    ...(answer.match(/[\s\S]{1,40}/g) ?? []).map((text) => ["chunk", { text, segment: 1 }]),
    done("completed", { segments: 2 }),
  ];
}

export function fakeChat() {
  now = Date.now();
  const conversations = new Map();
  const messages = new Map(); // conversation -> []
  const runs = new Map();
  const attachments = new Map();
  const listeners = new Set(); // of runs that go on
  let count = 0;
  const id = (kind) => `${kind}${String(++count).padStart(24, "0")}`;

  function conversation(fields = {}) {
    const c = { id: id("c"), title: null, first_words: null, default_runtime: null, template: null, parent_id: null, running: null, messages: 0, created_ms: now, updated_ms: now, version: 1, ...fields };
    conversations.set(c.id, c);
    messages.set(c.id, []);
    return c;
  }
  function attach(c, fields, body) {
    const a = { id: id("a"), run_id: null, message_id: null, runtime: null, mime: "application/json", visible: true, size: bytes(body), sha256: "0".repeat(64), created_ms: Date.now(), name: fields.kind, ...fields };
    attachments.set(a.id, { a, body, conversation: c.id });
    return a;
  }
  function say(c, text, runtime, at, files = []) {
    const list = messages.get(c.id);
    const run = { id: id("r"), conversation: c.id, runtime, frames: [], over: false, text: "", left: [], timer: null, at };
    const base = { runtime, run_id: run.id, model: null, usage: null, created_ms: at, finished_ms: at };
    run.user = String(++count);
    run.assistant = String(++count);
    list.push({ ...base, id: run.user, seq: list.length + 1, role: "user", content: text, status: "complete" });
    list.push({ ...base, id: run.assistant, seq: list.length + 1, role: "assistant", content: "", status: "running", finished_ms: 0 });
    for (const f of files) attachments.get(f).a.message_id = run.user;
    Object.assign(c, { running: run.id, messages: list.length, updated_ms: at, first_words: c.first_words ?? text.slice(0, 80) });
    runs.set(run.id, run);
    return run;
  }
  function emit(run, [event, data]) {
    const more = event === "chunk" ? { offset: bytes(run.text) } : event === "done" ? { chars: bytes(run.text), message_id: run.assistant } : event === "error" ? { partial: run.text !== "", chars: bytes(run.text), retryable: false, stage: "dispatch", runtime: run.runtime } : {};
    if (event === "chunk") run.text += data.text;
    const seq = run.frames.length + 1;
    run.frames.push(`id: ${run.id}:${seq}\nevent: ${event}\ndata: ${JSON.stringify({ seq, ts: run.at + seq * 40, ...data, ...more })}\n\n`);
    if (event === "done") end(run, data.status);
    for (const fn of [...listeners]) fn(run);
  }
  function end(run, status) {
    const c = conversations.get(run.conversation);
    const m = messages.get(run.conversation)?.find((x) => x.id === run.assistant);
    run.over = true;
    if (!c || !m) return;
    c.running = null;
    Object.assign(m, { content: run.text, status: status === "completed" ? "complete" : status === "failed" && run.text ? "partial" : status, finished_ms: run.at + 8420, model: run.model ?? null, usage });
  }
  function keep(c, run, body = receipts) {
    attach(c, { kind: "context_receipt", run_id: run.id, message_id: run.assistant }, JSON.stringify(body));
    attach(c, { kind: "task_graph", run_id: run.id, message_id: run.assistant }, JSON.stringify(graph));
    attach(c, { kind: "runtime_trace", run_id: run.id, runtime: run.runtime, mime: "text/plain", visible: false }, "POST /api/sessions/talaria-1/chat/stream\n200\nevent: run.started\n");
  }

  const old = [
    ["What did we say about the storm lookup?", "offline", 26 * 60], ["Rename the lantern photos by date", "codex", 49 * 60], ["Plan the weekend deploy", "claude", 4 * 24 * 60],
    ["Why is the nightly backup so slow?", "native", 6 * 24 * 60], ["Translate the care instructions", "native", 9 * 24 * 60],
  ];
  for (const [text, runtime, ago] of old) {
    const c = conversation({ default_runtime: runtime });
    const run = say(c, text, runtime, now - ago * minute);
    [metadata(run, runtime, "new", false), ["chunk", { text: "It is done.", segment: 0 }], done()].forEach((f) => emit(run, f));
  }
  const main = conversation({ title: "Cart tests before the weekend", default_runtime: "hermes" });
  main.agent_state = { v: 1, active: "hermes", runtimes: { hermes: { transport: "session", session_id: "talaria-5f0c", rotated_from: [] }, claude: { session_id: "0d3e8a52-7f1c" } } };
  const before = say(main, "What is left to do in the shop?", "claude", now - 31 * minute);
  [metadata(before, "claude", "new", false), ["chunk", { text: "The wrap option, the storm lookup and the deploy are open. The deploy waits for **Monday**.", segment: 0 }], done()].forEach((f) => emit(before, f));
  const file = attach(main, { kind: "file", name: "failing-tests.txt", mime: "text/plain" }, "3 failed\n".repeat(120));
  const last = say(main, asked, "hermes", now - 3 * minute, [file.id]);
  last.model = "hermes-4-70b";
  rich(last).forEach((f) => emit(last, f));
  keep(main, last);

  // How the next turns go: frames without a conversation's data, one every `pace` ms; an approval waits.
  const api = { pace: 15, script: null, held: false };
  function go(run) {
    const c = conversations.get(run.conversation);
    run.left = api.script ? api.script(run, { metadata, progress, done }) : [metadata(run, run.runtime, "new", false), ...["You ", "said: ", messages.get(c.id).at(-2).content].map((text) => ["chunk", { text, segment: 0 }]), done()];
    const step = () => {
      if (run.over || api.held) return;
      const frame = run.left.shift();
      if (!frame) return;
      emit(run, frame);
      if (frame[0] === "done" && frame[1].status === "completed") keep(c, run);
      if (frame[0] !== "progress" || frame[1].status !== "waiting") run.timer = setTimeout(step, api.pace);
    };
    run.step = step;
    step();
  }
  api.release = () => { api.held = false; for (const r of runs.values()) if (!r.over) r.step?.(); };
  api.many = (n) => { for (let i = 0; i < n; i++) conversation({ title: `Conversation ${i + 1}`, updated_ms: now - (20_000 + i) * minute }); };
  api.begin = (title) => conversation({ title, updated_ms: Date.now() });
  api.main = main.id;

  const runtimes = { format: 1, default: "native", runtimes: [
    { name: "native", alias: "jarvis", title: "Talaria's own loop over your model", available: true, version: null, model: "qwen3-8b", models: ["qwen3-8b", "big"], detail: null },
    { name: "hermes", alias: null, title: "Hermes, through its API server", available: true, version: "0.13.0", model: "hermes-4-70b", detail: null },
    { name: "claude", alias: null, title: "Claude Code", available: true, version: "2.1.4", model: null, detail: null },
    { name: "codex", alias: null, title: "Codex", available: false, version: null, model: null, detail: "'codex' could not be started: No such file or directory" },
    { name: "offline", alias: null, title: "Offline: your own history, no model", available: true, version: null, model: null, detail: "no model" },
  ] };

  function frames(res, run, after, head) {
    if (run.over && after >= run.frames.length) return res.writeHead(204, head).end();
    res.writeHead(200, { ...head, "Content-Type": "text/event-stream; charset=utf-8", "Cache-Control": "no-cache", "X-Run-Id": run.id });
    res.write("retry: 2000\n");
    let at = after;
    const more = () => {
      while (at < run.frames.length) res.write(run.frames[at++]);
      if (run.over) { listeners.delete(more); res.end(); }
    };
    const fn = (r) => r === run && more();
    listeners.add(fn);
    res.on("close", () => listeners.delete(fn));
    more();
  }
  const list = (empty) => (empty ? [] : [...conversations.values()].sort((a, b) => b.updated_ms - a.updated_ms || (a.id < b.id ? -1 : 1)));

  // Gives {body}, {stream}, {raw} or null for a path that is not one of these.
  api.route = (method, path, query, body, { empty, problem, key }) => {
    if (path === "/api/runtimes") return { body: runtimes };
    if (path === "/api/conversations" && method === "POST") return { status: 201, body: conversation({ title: body.title ?? null, default_runtime: body.runtime ?? null, template: body.template ?? null, created_ms: Date.now(), updated_ms: Date.now() }) };
    if (path === "/api/conversations") {
      const limit = Number(query.get("limit") ?? 50);
      const all = list(empty);
      const from = query.get("cursor") ? all.findIndex((c) => c.id === query.get("cursor").split(".")[1]) + 1 : 0;
      const page = all.slice(from, from + limit);
      return { body: { format: 1, conversations: page, next_cursor: from + limit < all.length ? `${page.at(-1).updated_ms}.${page.at(-1).id}` : null } };
    }
    const run = path.match(/^\/api\/runs\/([^/]+)\/(events|cancel|approval)$/);
    if (run) {
      const r = runs.get(run[1]);
      if (!r) return problem(404, "Not found", "no such run");
      if (run[2] === "events") return { stream: (res, head) => frames(res, r, Number(query.get("after") ?? 0), head) };
      if (run[2] === "cancel" && !r.over) { clearTimeout(r.timer); emit(r, ["done", { status: "cancelled", finish_reason: "cancelled", segments: 1, usage, elapsed_ms: 900 }]); }
      if (run[2] === "approval") { r.choice = body.choice; emit(r, progress("approval", "completed", { detail: body.choice, approval: { id: body.id, choices: [] } })); r.step(); }
      return { body: { id: r.id, state: r.over ? "completed" : "running" } };
    }
    const bytesOf = path.match(/^\/api\/attachments\/([^/]+)$/);
    if (bytesOf) {
      const x = attachments.get(bytesOf[1]);
      return x ? { raw: x.body, type: x.a.mime } : problem(404, "Not found", "no such attachment");
    }
    const one = path.match(/^\/api\/conversations\/([^/]+)(?:\/(messages|chat|branch|files|attachments))?$/);
    if (!one) return null;
    const c = conversations.get(decodeURIComponent(one[1]));
    if (!c) return problem(404, "Not found", `no conversation '${one[1]}'`);
    const said = messages.get(c.id);
    if (one[2] === "messages") return { body: { format: 1, messages: said.filter((m) => m.seq > Number(query.get("after") ?? 0)), next_after: null } };
    if (one[2] === "attachments") return { body: { format: 1, attachments: [...attachments.values()].filter((x) => x.conversation === c.id).map((x) => x.a) } };
    if (one[2] === "files") return { status: 201, body: attach(c, { kind: "file", name: body.name, mime: body.mime || "application/octet-stream" }, Buffer.from(body.data, "base64").toString()) };
    if (one[2] === "branch") {
      const copy = conversation({ first_words: c.first_words, parent_id: c.id, default_runtime: c.default_runtime, updated_ms: Date.now() });
      messages.set(copy.id, said.filter((m) => m.seq <= (body.through ?? said.length)).map((m) => ({ ...m, run_id: null })));
      copy.messages = messages.get(copy.id).length;
      return { status: 201, body: copy };
    }
    if (one[2] === "chat") {
      const known = [...runs.values()].find((r) => key && r.key === key);
      if (known) return { stream: (res, head) => frames(res, known, 0, head) };
      if (c.running) return problem(409, "Conflict", "another turn of this conversation is not over");
      const r = say(c, body.text, body.runtime ?? c.default_runtime ?? "native", Date.now(), body.files ?? []);
      r.key = key;
      r.wish = body;
      setImmediate(() => go(r));
      return { stream: (res, head) => frames(res, r, 0, head) };
    }
    if (method === "DELETE") { conversations.delete(c.id); return { body: { id: c.id } }; }
    if (method === "PATCH") {
      if (body.title && list(false).some((x) => x !== c && x.title === body.title)) return problem(409, "Conflict", `another conversation is called '${body.title}'`);
      if (body.title !== undefined) c.title = body.title;
      if (body.runtime !== undefined) c.default_runtime = body.runtime;
    }
    return { body: { agent_state: { v: 1, active: null, runtimes: {} }, ...c } };
  };
  api.rich = rich;
  api.runs = runs;
  return api;
}
