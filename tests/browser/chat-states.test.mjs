// The Chat tab against the fake: what a turn can leave, and every state that a healthy server seldom shows.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { chosen, palette, phone, root, setup, twice, until } from "./helpers.mjs";

const it = setup();
const axe = readFileSync(join(root, "node_modules/axe-core/axe.min.js"), "utf8");
const open = (path = "/chat", more = {}) => it.open(path, { ...more, state: { features: ["chat"], ...more.state } });
const box = (page) => page.getByRole("textbox", { name: "Message" });
const panelOf = (page) => page.getByRole("complementary", { name: "Details" });
async function talk(page) {
  await page.locator(".chat-row", { hasText: "Cart tests" }).click();
  await page.locator(".said-by-agent").nth(1).waitFor();
}
async function send(page, text = "go") {
  await box(page).fill(text);
  await page.keyboard.press("Enter");
}
async function check(page, name) {
  await page.evaluate(axe);
  const found = await page.evaluate(() => axe.run(document, { rules: { "color-contrast": { enabled: true } } }));
  assert.deepEqual(found.violations.map((v) => `${name}: ${v.id}: ${v.nodes.slice(0, 3).map((n) => `${n.target} ${n.any.map((a) => a.message).join(" ")}`).join(" | ")}`), []);
}

test("the tab is there only where the server has it", async () => {
  const page = await it.open("/achievements");
  await page.locator(".badge").first().waitFor();
  assert.equal(await page.getByRole("link", { name: "Chat" }).count(), 0);
  await page.keyboard.press("g");
  await page.keyboard.press("c");
  assert.equal(new URL(page.url()).pathname, "/achievements");
  await page.goto(`${it.fake.url}/chat`);
  await page.getByText("This server does not have this tab.").waitFor();
  assert.ok(!it.fake.log.some((l) => /conversations|runtimes/.test(l)), "and nothing of it is asked for");
  await page.done();
});

test("what was given, each item with score and reason; skills; the graph as a picture with its waves", async () => {
  const page = await open("/chat", { prepare: twice });
  await talk(page);
  const panel = panelOf(page);
  const context = panel.getByRole("region", { name: "Context added" });
  await until(async () => assert.match(await context.textContent(), /1,842 tokens.*2 memory entries, 2 retrieved passages, 1 note/s));
  const rows = context.locator(".receipts li");
  await rows.nth(2).waitFor();
  await until(async () => assert.match(await rows.nth(0).textContent(), /passage.*7\.42.*5 of 6 words: cart, tests/s));
  assert.equal(await rows.nth(4).isVisible(), false, "memory, which is given always, is folded");
  await context.locator("summary", { hasText: "Your memory" }).click();
  await rows.nth(4).waitFor();
  const skills = panel.getByRole("region", { name: "Skills considered" });
  await until(async () => assert.match(await skills.textContent(), /high.*release-notes.*6\.80.*name and description.*low.*csv-clean.*1\.94.*Left out: 14 less relevant, 1 for other platforms\./s));
  const picture = panel.getByRole("img", { name: "4 steps in 3 waves: 1 and 2, then 3, then 4" });
  await picture.locator("circle").nth(3).waitFor();
  const at = await picture.locator("circle").evaluateAll((all) => all.map((c) => [c.cx.baseVal.value, c.cy.baseVal.value]));
  assert.equal(at[0][1], at[1][1], "what can be done at the same time stands side by side");
  assert.ok(at[0][1] < at[2][1] && at[2][1] < at[3][1]);
  await until(async () => assert.equal(await picture.locator(".edge").count(), 3));
  const did = panel.getByRole("region", { name: "Steps" });
  await until(async () => assert.match(await did.textContent(), /adding turns from other runtimes.*terminal.*2\.1 s.*read_file.*12 ms.*Retry 2.*overloaded.*Approval.*git push origin fix\/cart: once.*3\.4 s/s));
  await until(async () => assert.equal(await did.locator('.call[data-outcome="failed"]').count(), 1));
  await did.locator(".call > button").first().click();
  await did.getByText("3 failed, 38 passed").waitFor();
  assert.equal(await panel.getByText("Rounding per line").isVisible(), false, "thinking is folded");
  await panel.locator("summary", { hasText: "Thinking" }).click();
  await panel.getByText("Rounding per line").waitFor();
  await until(async () => assert.match(await panel.getByRole("region", { name: "Tokens and time" }).textContent(), /5,642 tokens.*in5,230.*out412.*thinking96.*cached4,096.*first token640 ms.*total8\.4 s/s));
  await rows.nth(0).getByRole("link").click();
  await page.waitForURL("**/sessions/demo_20261115_203240_66f5bc");
  assert.deepEqual(await page.evaluate(() => window.doubled), []);
  assert.deepEqual(page.errors, []);
  await page.done();
});

test("as it happens: counts at once, the picture when the turn is over; passages apart", async () => {
  const page = await open();
  await talk(page);
  const { chat } = it.fake;
  chat.script = (run) => chat.rich(run).filter(([, d]) => d.stage !== "approval");
  chat.pace = 0;
  const panel = panelOf(page);
  // Held before the first word, then let go.
  let hold;
  const whole = chat.script;
  chat.script = (run) => { hold = whole(run); return hold.splice(0, 6); };
  await send(page);
  await panel.getByText("adding turns from other runtimes").waitFor();
  await until(async () => assert.match(await panel.getByRole("region", { name: "Context added" }).textContent(), /2 memory entries, 2 retrieved passages/));
  assert.equal(await panel.locator(".graph").count(), 0);
  await until(async () => assert.match(await panel.getByRole("region", { name: "Task graph" }).textContent(), /4 steps, 3 waves.*One after the other/s));
  const run = [...chat.runs.values()].at(-1);
  run.left.push(...hold);
  run.step();
  await panel.locator(".graph circle").first().waitFor();
  const turn = page.locator(".said-by-agent").last();
  await turn.and(page.locator('[data-status="complete"]')).waitFor();
  await until(async () => assert.equal(await turn.locator(".md").first().textContent(), "I'll look at the tests first."));
  await until(async () => assert.equal(await turn.locator(".md").count(), 2));
  await page.done();
});

test("frames that come twice are taken once; one that is missing is fetched", async () => {
  const page = await open();
  await talk(page);
  it.fake.chat.script = (run, { metadata, done }) => [metadata(run, "native", "new", false), ...Array.from({ length: 20 }, (_, i) => ["chunk", { text: `w${i} `, segment: 0 }]), done()];
  let asked = 0;
  await page.route(/\/chat$/, async (route) => {
    if (route.request().method() !== "POST") return route.fallback();
    // The first answer: frames 5 to 8 twice, then 12 is missing.
    const answer = await route.fetch();
    const frames = (await answer.text()).replace("retry: 2000\n", "").split("\n\n").filter(Boolean);
    const sent = [...frames.slice(0, 8), ...frames.slice(4, 11), ...frames.slice(12)];
    await route.fulfill({ response: answer, body: `retry: 2000\n${sent.join("\n\n")}\n\n` });
  });
  page.on("request", (r) => /events\?after=/.test(r.url()) && asked++);
  await send(page);
  const turn = page.locator(".said-by-agent").nth(2);
  await turn.and(page.locator('[data-status="complete"]')).waitFor();
  await until(async () => assert.equal((await turn.locator(".md").textContent()).trim(), Array.from({ length: 20 }, (_, i) => `w${i}`).join(" ")));
  await until(() => assert.ok(asked >= 1));
  await page.done();
});

test("an answer made to hang the page does not", async () => {
  const page = await open();
  await talk(page);
  const evil = ["`", "*a _b ", "[", "**a ", "[[a](", "![a", "> ", "- ", "|-", "~~a", "<http://"].map((e) => e.repeat(3000 / e.length));
  it.fake.chat.script = (run, { metadata, done }) => [metadata(run, "native", "new", false), ...evil.map((text) => ["chunk", { text: `${text}\n\n`, segment: 0 }]), ["chunk", { text: "still here", segment: 0 }], done()];
  await send(page);
  await page.locator(".said-by-agent").nth(2).and(page.locator('[data-status="complete"]')).getByText("still here").waitFor();
  assert.deepEqual(page.errors, []);
  await page.done();
});

test("the model and the runtime of a turn are what was chosen", async () => {
  const page = await open();
  await page.locator(".chat-row").first().waitFor();
  await page.getByRole("button", { name: /^Runtime: Talaria/ }).click();
  await page.getByLabel("Model").fill("big");
  await page.keyboard.press("Escape");
  await page.keyboard.press("Escape");
  await page.getByLabel("Template").selectOption("auto");
  await send(page, "with a wish");
  await page.waitForURL(/\/chat\/c/);
  await page.getByText("Template: auto").waitFor();
  await until(() => assert.equal([...it.fake.chat.runs.values()].at(-1).wish.model, "big"));
  await page.getByRole("button", { name: /^Runtime: Talaria/ }).click();
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await page.getByRole("button", { name: /^Runtime: Hermes/ }).waitFor();
  await send(page, "now you");
  await page.waitForFunction(() => document.querySelectorAll(".said-by-user").length === 2);
  await until(() => assert.equal([...it.fake.chat.runs.values()].at(-1).wish.runtime, "hermes"));
  await until(() => assert.equal([...it.fake.chat.runs.values()].at(-1).wish.model, undefined, "a model is of one runtime"));
  await page.done();
});

test("a thousand conversations: few rows, and a name that is far down is found", async () => {
  const page = await open("/achievements");
  it.fake.chat.many(1000);
  await page.getByRole("link", { name: "Chat" }).click();
  await page.locator(".chat-row").first().waitFor();
  await until(async () => assert.ok(await page.locator(".chat-row").count() < 40));
  await page.getByLabel("Search conversations").fill("conversation 987");
  await page.locator(".chat-row", { hasText: "Conversation 987" }).waitFor();
  await page.getByLabel("Search conversations").fill("no such name");
  await page.getByText("No conversation matches").waitFor();
  await page.getByRole("button", { name: "Show all" }).click();
  await page.locator(".chat-row").nth(3).waitFor();
  await page.keyboard.press("j");
  await page.waitForURL(/\/chat\/c/);
  await page.done();
});

test("palette: conversations by name, and what can be done with the open one", async () => {
  const page = await open();
  await talk(page);
  await palette(page);
  await page.keyboard.type("backup");
  await page.getByRole("option", { name: /Why is the nightly backup/ }).click();
  await page.locator(".chat-head h1").getByText("Why is the nightly backup so slow?").waitFor();
  await palette(page);
  await page.keyboard.type("rename this");
  await chosen(page, /rename/i);
  await page.keyboard.press("Enter");
  await page.getByLabel("Title").fill("Cart tests before the weekend");
  await page.keyboard.press("Enter");
  await page.getByText("another conversation is called").waitFor();
  await page.getByLabel("Title").fill("Backups");
  await page.keyboard.press("Enter");
  await page.locator(".chat-row [aria-current]").getByText("Backups").waitFor();
  await palette(page);
  await page.keyboard.type("new conversation");
  await chosen(page, /new conversation/i);
  await page.keyboard.press("Enter");
  await page.getByText("New conversation").waitFor();
  await page.done();
});

test("timed: states: first run, skeleton only when slow, error with a retry, not found, stale, disconnected", async () => {
  const first = await open("/chat", { state: { empty: true } });
  await first.getByText("Chat with your whole history as context").waitFor();
  await first.getByRole("button", { name: "What did I work on last week?" }).click();
  await first.locator(".said-by-user", { hasText: "What did I work on last week?" }).waitFor(); // one click sends it
  await first.waitForURL(/\/chat\/\w+/);
  await first.done();

  const slow = await open("/chat", { state: { slow: { "/api/conversations": 900 } } });
  await slow.locator(".chats .skeleton").waitFor();
  await slow.locator(".chat-row").first().waitFor();
  it.fake.state.slow = {};
  await talk(slow);
  it.fake.state.slow = { "/api/conversations": 900 };
  await slow.locator(".chat-row").nth(1).click();
  await slow.locator(".chat-pane .skeleton").waitFor();
  await slow.locator(".said-by-agent").first().waitFor();
  // What is known is there at once, and refreshed behind it.
  it.fake.state.slow = { "/api/conversations": 8000 };
  await slow.locator(".chat-row", { hasText: "Cart tests" }).click();
  await slow.locator(".said-by-agent").nth(1).waitFor({ timeout: 6000 });
  await slow.locator(".chat-head .updating.on").waitFor();
  await slow.done();

  const fail = { status: 500, title: "Broken", detail: "Badly." };
  const bad = await open("/chat", { state: { fail: { "/api/conversations": fail } } });
  await bad.getByText("Conversations could not be loaded").waitFor();
  it.fake.state.fail = {};
  await bad.getByRole("button", { name: "Try again" }).click();
  await talk(bad);
  it.fake.state.fail = { "/api/conversations": fail };
  await send(bad, "will not go");
  await bad.getByRole("alert").getByText("Broken. Badly.").waitFor();
  await until(async () => assert.equal(await box(bad).inputValue(), "will not go", "the words stay"));
  it.fake.state.fail = {};
  await bad.keyboard.press("Enter");
  await bad.locator(".said-by-agent").nth(2).waitFor();
  await until(async () => assert.equal(await box(bad).inputValue(), ""));
  await bad.goto(`${it.fake.url}/chat/cnone`);
  await bad.getByText("Conversation not found").waitFor();
  await bad.done();

  const lost = await open("/chat");
  await talk(lost);
  await box(lost).fill("half a thought");
  it.fake.vanish();
  await lost.locator(".lost").waitFor();
  await until(async () => assert.equal(await box(lost).inputValue(), "half a thought"));
  await until(async () => assert.equal(await lost.locator(".said-by-agent").count(), 2));
  it.fake.state.refuse = false;
  await lost.locator(".lost").waitFor({ state: "detached", timeout: 30_000 });
  await until(async () => assert.equal(await box(lost).inputValue(), "half a thought"));
  await lost.done();
});

test("leaving ends the stream, coming back takes it up", async () => {
  const page = await open();
  await talk(page);
  it.fake.chat.script = (run, { metadata }) => [metadata(run, "native", "new", false), ["chunk", { text: "so far ", segment: 0 }]];
  await send(page);
  await page.locator(".said-by-agent").last().getByText("so far").waitFor();
  const ended = page.waitForEvent("requestfailed", (r) => /\/chat$/.test(r.url()));
  await page.getByRole("link", { name: "Sessions" }).click();
  await ended;
  const run = [...it.fake.chat.runs.values()].at(-1);
  run.left.push(["chunk", { text: "and on", segment: 0 }], ["done", { status: "completed", finish_reason: "stop", segments: 1, usage: { input: 1, output: 1, total: 2 }, elapsed_ms: 5 }]);
  run.step();
  await page.goBack();
  await page.locator(".said-by-agent").last().and(page.locator('[data-status="complete"]')).waitFor();
  await until(async () => assert.equal(await page.locator(".said-by-agent").last().locator(".md").textContent(), "so far and on"));
  await page.done();
});

test("a long answer: reading up is not disturbed, and one can follow again", async () => {
  const page = await open();
  await talk(page);
  it.fake.chat.pace = 20;
  it.fake.chat.script = (run, { metadata, done }) => [metadata(run, "native", "new", false), ...Array.from({ length: 90 }, (_, i) => ["chunk", { text: `Paragraph ${i}.\n\n`, segment: 0 }]), done()];
  await send(page);
  await page.getByText("Paragraph 30.").waitFor();
  const pane = page.getByRole("region", { name: "Messages" });
  const gap = () => pane.evaluate((e) => e.scrollHeight - e.scrollTop - e.clientHeight);
  await until(async () => assert.ok(await gap() < 60, "at the end it stays at the end"));
  await pane.evaluate((e) => (e.scrollTop = 0));
  const follow = page.getByRole("button", { name: /Follow|To the end/ });
  await follow.waitFor();
  await page.getByText("Paragraph 60.").waitFor();
  assert.equal(await pane.evaluate((e) => e.scrollTop), 0);
  await follow.click();
  await page.waitForFunction(() => { const e = document.querySelector(".messages"); return e.scrollHeight - e.scrollTop - e.clientHeight < 60; });
  await page.done();
});

for (const theme of ["light", "dark"]) {
  test(`axe finds nothing, ${theme}`, async () => {
    const page = await open("/chat", { theme });
    await page.locator(".chat-row").first().waitFor();
    await check(page, "new");
    await talk(page);
    await page.locator(".graph circle").first().waitFor();
    await page.locator(".steps .call > button").first().click();
    await page.locator("summary", { hasText: "Thinking" }).click();
    await page.getByText("Runtime trace").click();
    await check(page, "conversation");
    await page.getByRole("button", { name: /^Runtime:/ }).click();
    await check(page, "runtimes");
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: /Threads/ }).click();
    await check(page, "threads");
    await page.keyboard.press("Escape");
    it.fake.chat.script = (run, { metadata, progress }) => [metadata(run, "native", "new", false), progress("tool", "started", { tool: "terminal", call_id: "c", args_preview: "ls" }), progress("approval", "waiting", { approval: { id: "x", choices: [], command: "rm -r build" } })];
    await send(page);
    await page.getByRole("region", { name: "Approval" }).waitFor();
    await check(page, "asked");
    await page.getByRole("button", { name: "Deny" }).click();
    await until(() => assert.equal([...it.fake.chat.runs.values()].at(-1).choice, "deny"));
    await page.getByRole("button", { name: "Stop" }).click();
    await page.locator('.said-by-agent[data-status="cancelled"]').waitFor();
    it.fake.chat.script = (run, { metadata }) => [metadata(run, "native", "lost", false), ["chunk", { text: "half", segment: 0 }], ["error", { code: "upstream_error", message: "overloaded", http_status: 529 }], ["done", { status: "failed", finish_reason: "error", segments: 1, usage: { input: 0, output: 0, total: 0 }, elapsed_ms: 10 }]];
    await send(page);
    await page.locator(".trouble").getByText("overloaded (HTTP 529)").waitFor();
    await check(page, "failed");
    assert.deepEqual(page.errors, []);
    await page.done();
  });
}

test("at phone width: the list or the conversation, the panel over it", async () => {
  const page = await open("/chat", { size: phone });
  await page.locator(".chat-row").first().waitFor();
  await check(page, "list");
  await page.getByRole("link", { name: "New conversation" }).click();
  await box(page).waitFor();
  await page.getByRole("button", { name: "Back to the list" }).click();
  await talk(page);
  await until(async () => assert.equal(await panelOf(page).count(), 0));
  await check(page, "conversation");
  await until(async () => assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), phone.width, "nothing sticks out to the right"));
  await page.locator(".said-by-agent").last().getByRole("button", { name: "Details" }).click();
  await panelOf(page).locator(".graph circle").first().waitFor();
  await check(page, "panel");
  await page.getByRole("button", { name: "Close the panel" }).click();
  await page.getByRole("button", { name: "Back to the list" }).click();
  await page.locator(".chat-row").first().waitFor();
  await page.done();
});
