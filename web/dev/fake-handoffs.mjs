// Handoffs, platforms and a local chat for the fake: one on its way, one there, one that failed, one that was brought back.
let now = 0; // set when a fake begins, so that "12 min" is that, however late a test is
const minute = 60_000;
const states = ["queued", "claimed", "prepared", "bound", "announced", "done"];
const steps = (at, n, gap = 14) => states.slice(0, n).map((state, i) => ({ state, at_ms: at + i * gap }));

function handoff(id, session_id, title, more) {
  const at = now - more.ago;
  return {
    id, session_id, title, ours: true, platform: "local", target: "home", state: "done", step: "done", attempt: 1, cancelling: false,
    key: null, thread: null, error: null, error_code: null, owner: "local", requested_ms: at, updated_ms: at + 80, steps: steps(at, 6), ...more,
  };
}

const homes = { local: { chat_id: "home", name: "Home", chat_type: "dm", thread_id: null }, telegram: { chat_id: "555", name: "Ada", chat_type: "dm", thread_id: null } };
const platform = (name, more = {}) => ({ name, enabled: false, link: null, account: null, since_ms: 0, heard_ms: 0, lag_ms: 0, inbox: 0, outbox: 0, error: null, error_ms: 0, home: homes[name] ?? null, ...more });

export function fakeHandoffs() {
  now = Date.now();
  const it = {
    gateway: true,
    handoffs: [
      handoff("h5", "demo_20261115_203240_66f5bc", "Write the release notes for 2.4", { ago: 3000, state: "claimed", step: "prepare", owner: null, steps: steps(now - 3000, 2) }),
      handoff("h4", "demo_20261024_171055_2c0747", "Why does the login test fail?", { ago: 12 * minute, thread: "t1" }),
      handoff("h3", "s3", "Clean the savings export", { ago: 50 * minute, platform: "telegram", state: "failed", step: "prepare", owner: null, attempt: 3, error: "Telegram: chat not found", steps: [...steps(now - 50 * minute, 2), { state: "failed", at_ms: now - 49 * minute }] }),
      handoff("h2", "s2", "Storm lookup", { ago: 26 * 60 * minute, owner: "cli", thread: "t0" }),
    ],
    platforms: [
      platform("telegram", { enabled: true, link: "reconnecting", account: "ada_bot", inbox: 2, outbox: 1, lag_ms: 41_000, error: "502 Bad Gateway", error_ms: now - 40_000 }),
      platform("discord"), platform("slack"),
      platform("local", { enabled: true, link: "connected", account: "talaria" }),
    ],
    letters: [{ id: "reply 7", platform: "telegram", text: "The totals are rounded once, at the end.", error: "Forbidden: bot was blocked by the user", attempt: 24, created_ms: now - 90 * minute }],
    parked: [{ seq: 12, platform: "local", text: "and now in COBOL", reason: "the turn ended in a crash three times", attempt: 3, received_ms: now - 30 * minute }],
    threads: [
      { id: "t1", title: "Why does the login test fail?", channel: "home", created_ms: now - 12 * minute },
      { id: "t0", title: "Storm lookup", channel: "home", created_ms: now - 26 * 60 * minute },
    ],
    messages: [],
    keys: new Map(),
  };
  const say = (thread, author, text, at) => {
    const m = { id: it.messages.length + 1, thread, author, text, created_ms: at, edited_ms: 0 };
    it.messages.push(m);
    return m;
  };
  it.there = (session, platform, thread = null) => it.handoffs.unshift(handoff(`h${it.handoffs.length + 10}`, session, "Handed over", { ago: minute, platform, owner: platform, thread }));
  it.say = (thread, author, text) => say(thread, author, text, Date.now());
  say("t0", "talaria", "**Storm lookup**", now - 26 * 60 * minute);
  say("t1", "talaria", "**Why does the login test fail?**\n\n`/work/shop` on `main` · claude-sonnet\n\n> why does it fail?\n\nThe clock is wrong.", now - 12 * minute);
  say("t1", "you", "and how do I *fix* it?", now - 11 * minute);
  say("t1", "talaria", "Freeze it in the test:\n\n```js\nt.mock.timers.enable({ now: 0 });\n```\n\n| before | after |\n|---|---|\n| flaky | green |", now - 10 * minute);

  const room = (t) => {
    const said = it.messages.filter((m) => m.thread === t.id);
    return { id: t.id, title: t.title, channel: t.channel, messages: said.length, last_ms: said.at(-1)?.created_ms ?? t.created_ms ?? 0 };
  };

  it.route = (method, path, query, body, { empty, problem, key }) => {
    const one = /^\/api\/handoffs\/([^/]+)\/(cancel|retry)$/.exec(path);
    if (path === "/api/handoffs" && method === "GET") {
      const of = query.get("session");
      return { body: { format: 1, gateway: it.gateway, handoffs: empty ? [] : it.handoffs.filter((h) => !of || h.session_id === of).slice(0, Number(query.get("limit") ?? 50)) } };
    }
    if (path === "/api/handoffs") {
      const made = handoff(`h${it.handoffs.length + 10}`, body.session_id, "Handed over", { ago: 0, state: "queued", step: "claim", attempt: 0, owner: null, platform: body.platform, target: body.target ?? "home", steps: steps(Date.now(), 1) });
      it.handoffs.unshift(made);
      return { status: 202, body: { format: 1, handoff: made } };
    }
    if (one) {
      const h = it.handoffs.find((x) => x.id === one[1]);
      if (!h) return problem(404, "Not found", `no handoff '${one[1]}'`);
      if (one[2] === "cancel") Object.assign(h, { state: "cancelled" });
      else it.handoffs.unshift({ ...h, id: `${h.id}b`, state: "queued", step: "claim", error: null, attempt: 0, requested_ms: Date.now(), steps: steps(Date.now(), 1) });
      return { body: { format: 1, handoff: h } };
    }
    const back = /^\/api\/sessions\/([^/]+)\/back$/.exec(path);
    if (back) {
      it.handoffs.filter((h) => h.session_id === back[1]).forEach((h) => (h.owner = "cli"));
      return { body: { format: 1, session_id: back[1], from: "local" } };
    }
    if (path === "/api/platforms") return { body: { format: 1, gateway: it.gateway, trouble: null, platforms: it.platforms.map((p) => (it.gateway ? p : { ...p, link: null })) } };
    if (path === "/api/outbox/dead") return { body: { format: 1, letters: empty ? [] : it.letters } };
    if (path === "/api/inbox/parked") return { body: { format: 1, messages: empty ? [] : it.parked } };
    if (path.startsWith("/api/outbox/")) { it.letters = []; return { body: { format: 1, ok: true } }; }
    if (path.startsWith("/api/inbox/")) { it.parked = []; return { body: { format: 1, ok: true } }; }
    if (path === "/api/local/channels") return { body: { format: 1, channels: [{ ...room({ id: "", title: "Home", channel: "home" }), id: "home" }] } };
    if (path === "/api/local/threads") return { body: { format: 1, threads: empty ? [] : it.threads.map(room) } };
    if (path !== "/api/local/messages") return null;
    if (method === "POST") {
      if (!it.keys.has(key)) it.keys.set(key, it.say(body.thread, "you", body.text).id);
      return { status: 201, body: { format: 1, id: it.keys.get(key) } };
    }
    const since = Number(query.get("since") ?? 0) - 2000;
    const messages = empty ? [] : it.messages.filter((m) => m.thread === (query.get("thread") ?? "") && Math.max(m.created_ms, m.edited_ms) >= since);
    return { body: { format: 1, messages: structuredClone(messages), earlier: false, changed_ms: Math.max(0, ...messages.map((m) => Math.max(m.created_ms, m.edited_ms))), typing_until_ms: it.typing ?? 0 } };
  };
  return it;
}
