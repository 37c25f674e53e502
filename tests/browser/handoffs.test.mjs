// The tab Handoffs: against the fake for its states, and with `talaria serve` and `talaria gateway run` for the way of a
// session to the local chat and back. Nothing is asserted right after an event: what is to be seen is waited for.
import assert from "node:assert/strict";
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { binary, serves } from "./chat-helpers.mjs";
import { phone, root, settled, setup } from "./helpers.mjs";

const it = setup();
const open = (path, more = {}) => it.open(path, { ...more, state: { features: ["handoffs"], ...more.state } });
const card = (page, title) => page.locator(".handoff", { hasText: title });
const posted = () => it.fake.log.filter((l) => l.startsWith("POST") && !l.includes("/auth"));
const asked = (path) => it.fake.log.filter((l) => l === `GET ${path}`).length;
/** Waits until a condition of the test itself holds. */
async function until(what, look, ms = 8000) {
  for (const end = Date.now() + ms; Date.now() < end; await new Promise((r) => setTimeout(r, 20))) if (await look()) return;
  throw new Error(`not in time: ${what}`);
}

test("the tab is there only where the server has it", async () => {
  const without = await it.open("/achievements");
  await without.locator(".badge").first().waitFor();
  assert.equal(await without.getByRole("link", { name: "Handoffs" }).count(), 0);
  await without.goto(`${it.fake.url}/handoffs`);
  await without.getByText("This server does not have this tab.").waitFor();
  assert.ok(!it.fake.log.some((l) => l.includes("/api/handoffs")), "and nothing of it is asked for");
  await without.done();
  const page = await open("/achievements");
  await page.getByRole("link", { name: "Handoffs" }).waitFor();
  await page.keyboard.press("g");
  await page.keyboard.press("h");
  await page.waitForURL("**/handoffs");
  await page.waitForFunction(() => document.title === "Handoffs · Talaria");
  await page.done();
});

test("the board: each handoff with its steps and times, what failed with its reason", async () => {
  const page = await open("/handoffs");
  const moving = card(page, "Write the release notes");
  await moving.getByText("In progress").waitFor();
  assert.deepEqual(await moving.locator(".way li").evaluateAll((all) => all.map((li) => li.dataset.how)), ["past", "past", "next", "open", "open", "open"]);
  assert.deepEqual(await moving.locator(".way li > span").allTextContents(), ["requested", "claimed", "thread", "bound", "announced", "done"]);
  const there = card(page, "Why does the login test fail?");
  await there.getByText("Delivered", { exact: true }).waitFor();
  assert.match(await there.locator(".way").textContent(), /12 min.*\+14 ms.*\+70 ms/s);
  const failed = card(page, "Clean the savings export");
  await failed.getByText("Telegram: chat not found").waitFor();
  assert.equal(await failed.locator('.way [data-how="failed"] > span').textContent(), "thread failed");
  await card(page, "Storm lookup").getByText("Returned").waitFor();
  assert.deepEqual(page.errors, []);
  await page.done();
});

test("it is live: a step that a gateway takes is seen without asking", async () => {
  const page = await open("/handoffs");
  const moving = card(page, "Write the release notes");
  await moving.waitFor();
  const h = it.fake.moves.handoffs[0];
  Object.assign(h, { state: "done", owner: "local", thread: "t1", steps: ["queued", "claimed", "prepared", "bound", "announced", "done"].map((state, i) => ({ state, at_ms: h.requested_ms + i * 9 })) });
  await it.emit("handoffs", {});
  await moving.getByText("Delivered", { exact: true }).waitFor();
  await moving.getByRole("link", { name: "Open the thread" }).click();
  await page.waitForURL("**/handoffs/local/t1");
  await page.done();
});

test("cancel, try again, bring back; what is refused is said", async () => {
  const page = await open("/handoffs");
  await card(page, "Write the release notes").getByRole("button", { name: "Cancel" }).click();
  await card(page, "Write the release notes").locator(".word", { hasText: "Cancelled" }).waitFor();
  it.fake.state.fail["/api/handoffs/h3/retry"] = { status: 403, title: "Refused", detail: "no gateway is running" };
  await card(page, "Clean the savings export").getByRole("button", { name: "Try again" }).click();
  await card(page, "Clean the savings export").getByRole("alert").getByText("No gateway is running").waitFor();
  it.fake.state.fail = {};
  await card(page, "Clean the savings export").getByRole("button", { name: "Try again" }).click();
  await card(page, "Clean the savings export").first().getByText("In progress").waitFor();
  await card(page, "Why does the login test fail?").getByRole("button", { name: "Bring back to the terminal" }).click();
  await card(page, "Why does the login test fail?").getByText("Returned").waitFor();
  assert.deepEqual(posted(), ["POST /api/handoffs/h5/cancel", "POST /api/handoffs/h3/retry", "POST /api/handoffs/h3/retry", "POST /api/sessions/demo_20261024_171055_2c0747/back"]);
  await page.done();
});

test("platforms with line, queue, lag, error and home; dead letters and parked messages are tried again", async () => {
  const page = await open("/handoffs");
  const platforms = page.getByRole("region", { name: "Platforms", exact: true });
  const telegram = platforms.locator(".platform", { hasText: "Telegram" });
  await telegram.getByText("reconnecting").waitFor();
  assert.match(await telegram.textContent(), /Home: Ada · 2 messages in, 1 out, for 41 s.*502 Bad Gateway/);
  assert.match(await platforms.locator(".platform", { hasText: "Slack" }).textContent(), /not set up/);
  const dead = page.getByRole("region", { name: "Undelivered messages" });
  await dead.getByText("bot was blocked by the user, 24 attempts").waitFor();
  await dead.getByRole("button", { name: "Try again" }).click();
  await dead.waitFor({ state: "detached" });
  const parked = page.getByRole("region", { name: "Parked messages" });
  await parked.getByText("and now in COBOL").waitFor();
  await parked.getByRole("button", { name: "Try again" }).click();
  await parked.waitFor({ state: "detached" });
  it.fake.moves.gateway = false;
  await it.emit("handoffs", {});
  await platforms.getByText("No gateway running").waitFor();
  await platforms.getByText("talaria up").waitFor();
  await page.done();
});

test("a session is handed over from where one reads it", async () => {
  const page = await open("/sessions");
  const session = it.fake.data.sessions.find((s) => s.origin === "talaria" || s.origin === "hermes" && !it.fake.moves.handoffs.some((h) => h.session_id === s.id));
  await page.goto(`${it.fake.url}/sessions/${session.id}`);
  await page.getByRole("button", { name: "Hand over" }).click();
  const dialog = page.getByRole("dialog", { name: "Hand over" });
  await dialog.getByRole("radio", { name: /^Local chat/ }).check();
  assert.deepEqual(posted(), [], "choosing begins nothing");
  it.fake.state.fail["/api/handoffs"] = { status: 503, title: "Busy", detail: "the agent is in the middle of an answer" };
  await dialog.getByRole("button", { name: "Hand over to Local chat" }).click();
  await dialog.getByRole("alert").getByText("The agent is in the middle of an answer").waitFor();
  it.fake.state.fail = {};
  await dialog.getByLabel("Don't let the agent speak first").check();
  const options = await dialog.getByLabel("Don't let the agent speak first").boundingBox();
  assert.ok(options.y < (await dialog.getByRole("button", { name: "Hand over to Local chat" }).boundingBox()).y, "options stand above the button");
  const body = page.waitForRequest((r) => r.method() === "POST" && r.url().endsWith("/api/handoffs"));
  await dialog.getByRole("button", { name: "Hand over to Local chat" }).click();
  assert.deepEqual((await body).postDataJSON(), { session_id: session.id, platform: "local", no_turn: true });
  await dialog.getByText("Handing over to Local chat").waitFor();
  Object.assign(it.fake.moves.handoffs[0], { state: "done", owner: "local", thread: "t1" });
  await it.emit("handoffs", {});
  await dialog.getByText("Delivered to Local chat").waitFor();
  await dialog.getByRole("link", { name: "Open the thread" }).click();
  await page.waitForURL("**/handoffs/local/t1");
  await page.done();
});

test("a handoff twice is told, with the way there and back", async () => {
  const page = await open("/sessions/demo_20261024_171055_2c0747");
  await page.getByRole("button", { name: "In Local chat" }).click();
  const dialog = page.getByRole("dialog", { name: "Hand over" });
  await dialog.getByText("already in Local chat").waitFor();
  await dialog.getByRole("button", { name: "Bring back to the terminal" }).waitFor();
  await dialog.getByRole("link", { name: "Open the thread" }).click();
  await page.waitForURL("**/handoffs/local/t1");
  await page.done();
});

test("a handoff begins with a picker: session, platform, then a link", async () => {
  const page = await open("/handoffs");
  await page.getByRole("button", { name: "Hand over a session" }).first().click();
  const picker = page.getByRole("dialog", { name: "Choose a session to hand over" });
  await picker.getByLabel("Search sessions").fill("amber lamp #2");
  await picker.getByRole("button", { name: /Copy: Amber Lamp #2/ }).click();
  const dialog = page.getByRole("dialog", { name: "Hand over" });
  await dialog.getByText("Copy: Amber Lamp #2").waitFor();
  await dialog.getByRole("button", { name: "Hand over to Local chat" }).click();
  await until("it is asked for", () => it.fake.moves.handoffs[0].state === "queued");
  Object.assign(it.fake.moves.handoffs[0], { state: "done", owner: "local", thread: "t0" });
  await it.emit("handoffs", {});
  await dialog.getByRole("link", { name: "Open the thread" }).click();
  await page.waitForURL("**/handoffs/local/t0");
  await page.done();
});

test("the card keeps its line breaks in the local chat", async () => {
  const page = await open("/handoffs/local/t1");
  await page.getByRole("region", { name: "Messages" }).locator("pre").first().waitFor();
  it.fake.moves.say("t1", "talaria", "Folder: /work/shop\nBranch: main\nMessages: 33");
  await it.emit("local", { rooms: true });
  const card = page.locator(".said-by-agent p", { hasText: "Folder: /work/shop" });
  await card.waitFor();
  assert.equal(await card.innerText(), "Folder: /work/shop\nBranch: main\nMessages: 33");
  await page.done();
});

test("a chat there: named in the form, checked, and what is refused is said", async () => {
  const page = await open("/sessions");
  const session = it.fake.data.sessions.find((s) => s.origin === "talaria" || s.origin === "hermes" && !it.fake.moves.handoffs.some((h) => h.session_id === s.id));
  Object.assign(it.fake.moves.platforms.find((p) => p.name === "discord"), { enabled: true, link: "connected" });
  await page.goto(`${it.fake.url}/sessions/${session.id}`);
  await page.getByRole("button", { name: "Hand over" }).click();
  const dialog = page.getByRole("dialog", { name: "Hand over" });
  const discord = dialog.getByRole("radio", { name: /^Discord/ });
  await dialog.getByText("no home channel").waitFor();
  assert.ok(await discord.isDisabled());
  await dialog.getByRole("textbox", { name: "Chat" }).fill("general");
  await discord.check();
  await dialog.getByRole("button", { name: "Hand over to Discord" }).click();
  await dialog.getByRole("alert").getByText("Not a chat of Discord: a number").waitFor();
  assert.deepEqual(posted(), [], "and nothing was asked for");
  await dialog.getByRole("textbox", { name: "Chat" }).fill("81384788765712384");
  assert.equal(await dialog.getByRole("alert").count(), 0);
  it.fake.state.fail["/api/handoffs"] = { status: 422, title: "Invalid", detail: "'target' must be the id of a chat, without blanks" };
  await dialog.getByRole("button", { name: "Hand over to Discord" }).click();
  await dialog.getByRole("alert").getByText("must be the id of a chat").waitFor();
  it.fake.state.fail = {};
  const body = page.waitForRequest((r) => r.method() === "POST" && r.url().endsWith("/api/handoffs"));
  await dialog.getByRole("button", { name: "Hand over to Discord" }).click();
  assert.deepEqual((await body).postDataJSON(), { session_id: session.id, platform: "discord", no_turn: false, target: "81384788765712384" });
  await dialog.getByRole("link", { name: "Show in Handoffs" }).click();
  await page.waitForURL("**/handoffs");
  await page.done();
});

test("a conversation that went elsewhere is not written to from here, until it is taken back", async () => {
  const page = await open("/chat", { state: { features: ["chat", "handoffs"] } });
  const id = it.fake.chat.main;
  await page.goto(`${it.fake.url}/chat/${id}`);
  const box = page.getByRole("textbox", { name: "Message" }), note = page.locator(".away");
  await box.fill("half a thought");
  it.fake.moves.there(id, "telegram");
  await it.emit("handoffs", {}); // a terminal handed it over: seen without asking
  await note.getByText("This conversation continues in Telegram.").waitFor();
  assert.ok(await box.isDisabled());
  assert.equal(await box.inputValue(), "half a thought");
  assert.ok(await page.getByRole("button", { name: "Send" }).isDisabled());
  it.fake.state.fail[`/api/sessions/${id}/back`] = { status: 503, title: "Busy", detail: "an answer is under way there" };
  await note.getByRole("button", { name: "Bring it back" }).click();
  await note.getByRole("alert").getByText("an answer is under way there").waitFor();
  it.fake.state.fail = {};
  await note.getByRole("button", { name: "Bring it back" }).click();
  await note.waitFor({ state: "detached" });
  assert.equal(await box.inputValue(), "half a thought");
  await box.press("Enter");
  await page.locator(".said-by-user", { hasText: "half a thought" }).waitFor();
  it.fake.moves.there(id, "local", "t1");
  await it.emit("handoffs", {});
  await note.getByRole("link", { name: "Open the thread" }).click();
  await page.waitForURL("**/handoffs/local/t1");
  assert.deepEqual(page.errors.filter((e) => !e.includes("503")), []);
  await page.done();
});

test("at phone width what unfolds stands within the page, and the name can be read", async () => {
  const page = await open("/sessions", { size: phone, state: { features: ["chat", "handoffs"] } });
  const inside = (box) => assert.ok(box.x >= 0 && box.x + box.width <= phone.width, JSON.stringify(box));
  const session = it.fake.data.sessions.find((s) => s.origin === "hermes" && !it.fake.moves.handoffs.some((h) => h.session_id === s.id));
  await page.goto(`${it.fake.url}/sessions/${session.id}`);
  await page.getByRole("button", { name: "Hand over" }).click();
  await page.getByRole("radio", { name: /^Local chat/ }).waitFor();
  inside(await page.locator("dialog.modal").boundingBox());
  it.fake.moves.there(it.fake.chat.main, "telegram");
  await page.goto(`${it.fake.url}/chat/${it.fake.chat.main}`);
  await page.getByRole("button", { name: "In Telegram" }).click();
  inside(await page.locator("dialog.modal").boundingBox());
  assert.ok((await page.locator(".chat-head h1").boundingBox()).width > 140);
  await page.done();
});

test("what other programs say is in the list of conversations without asking", async () => {
  const page = await open("/chat", { state: { features: ["chat", "handoffs"] } });
  const rows = page.locator(".chat-row");
  await rows.filter({ hasText: "Cart tests before the weekend" }).waitFor();
  await page.evaluate(() => (window.same = true));
  it.fake.chat.begin("From a terminal");
  await it.emit("chat", {});
  await rows.filter({ hasText: "From a terminal" }).waitFor();
  assert.ok(await page.evaluate(() => window.same), "no reload");
  await page.done();
});

test("the local chat: Markdown, words that grow in place, typing, and what one writes", async () => {
  const page = await open("/handoffs/local/t1");
  const messages = page.getByRole("region", { name: "Messages" });
  await messages.locator("pre", { hasText: "t.mock.timers" }).waitFor();
  await messages.locator(".bubble em", { hasText: "fix" }).waitFor();
  await messages.locator("td", { hasText: "green" }).waitFor();
  it.fake.moves.typing = Date.now() + 60_000;
  await it.emit("local", {});
  await page.getByText("Talaria is typing").waitFor();
  it.fake.moves.typing = 0;
  const growing = it.fake.moves.say("t1", "talaria", "It **gro");
  await it.emit("local", { rooms: true });
  await messages.getByText("It **gro").waitFor();
  await page.getByText("Talaria is typing").waitFor({ state: "detached" });
  Object.assign(growing, { text: "It **grows** in place.", edited_ms: Date.now() });
  await it.emit("local", {});
  await messages.locator("strong", { hasText: "grows" }).waitFor();
  assert.equal(await messages.getByText("in place.").count(), 1);
  const box = page.getByRole("textbox", { name: "Message" });
  await box.fill("thank you");
  await box.press("Enter");
  await messages.locator(".said-by-user", { hasText: "thank you" }).waitFor();
  await page.waitForFunction(() => document.querySelector(".composer textarea").value === "");
  assert.equal(it.fake.moves.messages.filter((m) => m.text === "thank you").length, 1);
  assert.deepEqual(page.errors, []);
  await page.done();
});

test("while nothing happens nothing is asked; words that grow ask for their room alone", async () => {
  const page = await open("/handoffs/local/t1");
  await page.getByRole("region", { name: "Messages" }).locator("pre").waitFor();
  // The stream that begins asks once more for what it could not tell.
  await until("somebody listens", () => it.fake.streams() === 1);
  const all = await settled(() => it.fake.log.length);
  const rooms = asked("/api/local/threads");
  await page.waitForTimeout(1200);
  assert.equal(it.fake.log.length, all, "silence");
  await it.emit("local", { rooms: false });
  await until("the room is asked for", () => it.fake.log.length > all);
  await page.waitForTimeout(200);
  assert.equal(it.fake.log.length, all + 1);
  assert.equal(asked("/api/local/threads"), rooms);
  await page.done();
});

test("words are kept on failure and over a reload, and go out once when the line is back", async () => {
  const page = await open("/handoffs/local/t1");
  await page.getByRole("region", { name: "Messages" }).locator("pre").waitFor();
  const box = page.getByRole("textbox", { name: "Message" });
  await box.fill("do not lose me");
  it.fake.state.fail["/api/local/messages"] = { status: 507, title: "No space", detail: "The disk is full." };
  await box.press("Enter");
  await page.getByRole("alert").getByText("The disk is full.").waitFor();
  assert.equal(await box.inputValue(), "do not lose me");
  it.fake.state.fail = {};
  await page.reload();
  await page.waitForFunction(() => document.querySelector(".composer textarea")?.value === "do not lose me");
  it.fake.vanish();
  await box.press("Enter");
  await page.getByText("Not sent yet").waitFor();
  it.fake.state.refuse = false;
  await page.locator(".said-by-user", { hasText: "do not lose me" }).waitFor({ timeout: 20_000 });
  assert.equal(it.fake.moves.messages.filter((m) => m.text === "do not lose me").length, 1);
  await page.waitForFunction(() => document.querySelector(".composer textarea").value === "");
  await page.done();
});

test("words written before the rooms are known stay, and go out once they are", async () => {
  let rooms = Promise.withResolvers();
  const page = await open("/handoffs/local/t1", { state: { slow: { "/api/local/threads": rooms.promise } } });
  const box = page.getByRole("textbox", { name: "Message" });
  await box.fill("early words");
  await box.press("Enter");
  await page.getByText("the thread is still loading").waitFor();
  assert.equal(await box.inputValue(), "early words");
  rooms.resolve();
  await page.locator(".said-by-user", { hasText: "early words" }).waitFor();
  assert.equal(it.fake.moves.messages.filter((m) => m.text === "early words").length, 1);
  await page.waitForFunction(() => document.querySelector(".composer textarea").value === "");
  await page.done();
  rooms = Promise.withResolvers();
  const other = await open("/handoffs/local/t1", { state: { slow: { "/api/local/threads": rooms.promise } } });
  await other.getByRole("textbox", { name: "Message" }).fill("not sent");
  rooms.resolve();
  await other.getByRole("region", { name: "Messages" }).locator("pre").waitFor();
  assert.equal(await other.getByRole("textbox", { name: "Message" }).inputValue(), "not sent");
  assert.deepEqual(other.errors, []);
  await other.done();
});

test("first run, slow, broken, unknown thread; keys and phone width", async () => {
  const first = await open("/handoffs", { state: { empty: true } });
  await first.getByText("Move a session between terminal and chat").waitFor();
  await first.locator(".state").getByRole("button", { name: "Hand over a session" }).waitFor();
  await first.done();
  const held = Promise.withResolvers();
  const slow = await open("/handoffs", { state: { slow: { "/api/handoffs": held.promise } } });
  await slow.locator(".skeleton").waitFor();
  held.resolve();
  await card(slow, "Storm lookup").waitFor();
  await slow.done();
  const broken = await open("/handoffs", { state: { fail: { "/api/handoffs": { status: 500, title: "Broken", detail: "Badly." } } } });
  await broken.getByText("Handoffs could not be loaded").waitFor();
  it.fake.state.fail = {};
  await broken.getByRole("button", { name: "Try again" }).first().click();
  await card(broken, "Storm lookup").waitFor();
  await broken.goto(`${it.fake.url}/handoffs/local/t77`);
  await broken.getByText("Thread not found").waitFor();
  await broken.done();
  const keys = await open("/handoffs/local/t1");
  await keys.locator(".room[aria-current]", { hasText: "login test" }).waitFor();
  await keys.keyboard.press("Escape"); // leaves the field
  await keys.keyboard.press("j");
  await keys.waitForURL("**/handoffs/local/t0");
  await keys.locator(".said-by-agent", { hasText: "Storm lookup" }).waitFor();
  await keys.done();
  const small = await open("/handoffs/local", { size: phone });
  await small.locator(".room", { hasText: "Storm lookup" }).click();
  await small.locator(".said-by-agent", { hasText: "Storm lookup" }).waitFor();
  await small.getByRole("button", { name: "Back to the list" }).click();
  await small.locator(".room", { hasText: "Storm lookup" }).waitFor();
  await small.done();
});

// -- the real thing --------------------------------------------------------------------------------------------------

const dir = mkdtempSync(join(tmpdir(), "talaria-handoffs-"));
const env = { ...process.env, HOME: dir, HERMES_HOME: join(dir, "none"), XDG_STATE_HOME: join(dir, "state"), XDG_CONFIG_HOME: join(dir, "config"), TALARIA_HOME: join(dir, "data") };
const real = { children: [] };

/** A program that goes on, once it has said something on standard output. */
async function start(...args) {
  const child = spawn(binary, args, { env, stdio: ["ignore", "pipe", "pipe"] });
  let trouble = "";
  child.stderr.on("data", (d) => (trouble += d));
  real.children.push(child);
  const [first] = await Promise.race([once(child.stdout, "data"), once(child, "exit").then(() => { throw new Error(`${args}: ${trouble}`); })]);
  return String(first);
}

before(async () => {
  if (!serves) return;
  execFileSync("python3", [join(root, "tests/fixtures/tools/fill_home.py"), join(dir, "data")], { env, stdio: "ignore" });
  real.url = /http:\/\/[^\s/#]+/.exec(await start("serve", "--port", "0"))[0];
  real.token = readFileSync(join(dir, "data", "server-token"), "utf8").trim();
});
after(async () => {
  for (const child of real.children) {
    if (child.exitCode !== null || child.signalCode) continue;
    const gone = once(child, "exit");
    child.kill("SIGTERM");
    await gone;
  }
  rmSync(dir, { recursive: true, force: true });
});

test("a session goes to the local chat and back, with a real gateway", { skip: !serves && "no `serve` in this binary" }, async () => {
  const [session] = JSON.parse(execFileSync(binary, ["sessions", "list", "--limit", "1", "--json"], { env, encoding: "utf8" })).sessions;
  const page = await it.open(`/sessions/${session.id}`, { url: real.url, token: real.token });
  page.setDefaultTimeout(20_000);
  await page.getByRole("button", { name: "Hand over" }).click();
  await page.getByText("no gateway is running").first().waitFor();
  await start("gateway", "run");
  await page.reload();
  await page.getByRole("button", { name: "Hand over" }).click();
  await page.getByRole("button", { name: "Hand over to Local chat" }).click();
  await page.getByText("Delivered to Local chat").waitFor();
  await page.goto(`${real.url}/handoffs`);
  await page.locator(".handoff").getByText("Delivered", { exact: true }).waitFor();
  await page.waitForFunction(() => document.querySelectorAll('.way [data-how="past"]').length === 6);
  await page.getByRole("link", { name: "Open the thread" }).click();
  await page.locator(".said-by-agent").first().waitFor();
  await page.locator(".chat-head h1", { hasText: session.title }).waitFor();
  const box = page.getByRole("textbox", { name: "Message" });
  await box.fill("what is *left* to do?");
  await box.press("Enter");
  await page.locator(".said-by-user em", { hasText: "left" }).waitFor();
  // Brought back by a terminal: the page sees it by itself.
  // It is refused while the answer is under way.
  await until("it is let go", () => spawnSync(binary, ["handoff", "back", "--session", session.id], { env, stdio: "ignore" }).status === 0, 20_000);
  await page.getByText("The session was brought back").waitFor();
  await page.goto(`${real.url}/handoffs`);
  await page.locator(".handoff").getByText("Returned").waitFor();
  assert.deepEqual(page.errors, []);
  await page.done();
});

test("a conversation of the page: live in its list, handed over, and taken back where one writes", { skip: !serves && "no `serve` in this binary" }, async () => {
  const page = await it.open("/chat", { url: real.url, token: real.token });
  page.setDefaultTimeout(20_000);
  await page.getByRole("textbox", { name: "Message" }).waitFor();
  // A single question is kept out of the list until it is continued.
  execFileSync(binary, ["ask", "which lanterns did I photograph?"], { env, stdio: "ignore" });
  const { sessions: [asked] } = JSON.parse(execFileSync(binary, ["sessions", "list", "--source", "ask", "--json"], { env }));
  execFileSync(binary, ["ask", "-c", asked.id, "and which of them are brass?"], { env, stdio: "ignore" });
  await page.locator(".chat-row", { hasText: "which lanterns" }).click();
  const box = page.getByRole("textbox", { name: "Message" });
  await page.locator(".said-by-user", { hasText: "which lanterns" }).waitFor();
  const id = new URL(page.url()).pathname.split("/").at(-1);
  execFileSync(binary, ["handoff", "local", "--session", id, "--no-turn"], { env, stdio: "ignore" });
  await page.locator(".away").getByText("continues in Local chat").waitFor();
  assert.ok(await box.isDisabled());
  await page.getByRole("button", { name: "Bring it back" }).click();
  await page.locator(".away").waitFor({ state: "detached" });
  await box.fill("and which at night?");
  await box.press("Enter");
  await page.locator(".said-by-user", { hasText: "and which at night?" }).waitFor();
  assert.equal(await page.locator(".composer [role=alert]").count(), 0);
  assert.deepEqual(page.errors, []);
  await page.done();
});
