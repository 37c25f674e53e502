// What one typed, chose or was shown stays, whatever arrives after it: titles, questions, answers, the event stream.
import assert from "node:assert/strict";
import { test } from "node:test";
import { setup, until } from "./helpers.mjs";

const it = setup();
const open = (path = "/chat", more = {}) => it.open(path, { ...more, state: { features: ["chat", "sleep"], ...more.state } });
const box = (page) => page.getByRole("textbox", { name: "Message" });
async function talk(page) {
  await page.locator(".chat-row", { hasText: "Cart tests" }).click();
  await page.locator(".said-by-agent").nth(1).waitFor();
}

test("a title that is being written stays when another program gives one", async () => {
  const page = await open();
  await talk(page);
  await page.locator(".rename").click();
  await page.getByLabel("Title").fill("half a na");
  await fetch(`${it.fake.url}/api/conversations/${it.fake.chat.main}`, { method: "PATCH", headers: { Cookie: `talaria=${it.fake.token}`, "X-Talaria-Page": "page-of-the-fake", "Content-Type": "application/json" }, body: '{"title":"From elsewhere"}' });
  await it.emit("chat", {});
  await page.waitForFunction(() => document.title === "From elsewhere · Talaria");
  assert.equal(await page.getByLabel("Title").inputValue(), "half a na");
  await page.getByLabel("Title").press("End");
  await page.keyboard.type("me");
  await page.keyboard.press("Enter");
  await page.locator(".chat-row [aria-current]").getByText("half a name").waitFor();
  assert.deepEqual(page.errors, []);
  await page.done();
});

test("however much is searched, what is on the page stays on it", async () => {
  const page = await open("/sessions");
  await page.getByRole("link", { name: "Chat" }).waitFor();
  const search = page.getByLabel("Search all sessions");
  for (let i = 0; i < 64; i++) {
    const answer = page.waitForResponse((r) => r.url().includes(`q=word${i}&`));
    await search.fill(`word${i}`);
    await answer;
  }
  await page.getByRole("heading", { name: "No matches" }).waitFor();
  await search.fill("");
  await page.locator(".session-row").first().waitFor();
  assert.equal(await page.getByRole("link", { name: "Chat" }).count(), 1);
  assert.ok((await page.getByLabel("Project").locator("option").count()) > 1, "and the filters have their choices");
  await page.done();
});

test("a second question right after the first is a question of its own", async () => {
  const page = await open();
  await talk(page);
  await page.getByRole("button", { name: "Close the panel" }).click();
  const asks = (progress, id) => progress("approval", "waiting", { approval: { id, choices: [], command: `rm ${id}` } });
  it.fake.chat.script = (run, { metadata, progress, done }) => [metadata(run, "native", "new", false), asks(progress, "one"), asks(progress, "two"), done()];
  await box(page).fill("go");
  await page.keyboard.press("Enter");
  const card = page.getByRole("region", { name: "Approval" });
  await card.getByText("rm one").waitFor();
  // The answer to the first and the second question are drawn at once.
  await page.evaluate(() => {
    window.frames_ = [];
    const real = window.requestAnimationFrame;
    window.requestAnimationFrame = (fn) => window.frames_.push(fn);
    window.goOn = () => { window.requestAnimationFrame = real; window.frames_.forEach((fn) => real(fn)); };
  });
  await card.getByRole("button", { name: "Once" }).click();
  await until(() => assert.equal([...it.fake.chat.runs.values()].at(-1).choice, "once"));
  await until(() => assert.equal([...it.fake.chat.runs.values()].at(-1).left.length, 1));
  await page.waitForFunction(() => window.frames_.length > 0);
  await page.evaluate(() => new Promise((done) => setTimeout(() => done(window.goOn()), 100)));
  await card.getByText("rm two").waitFor();
  await card.getByRole("button", { name: "Deny" }).click();
  await until(() => assert.equal([...it.fake.chat.runs.values()].at(-1).choice, "deny"));
  await page.locator(".said-by-agent").nth(2).and(page.locator('[data-status="complete"]')).waitFor();
  await page.done();
});

test("what was begun before the event stream was there is in the list", async () => {
  const held = Promise.withResolvers();
  const page = await open("/chat", { prepare: (p) => p.route("**/api/events", async (r) => { await held.promise; await r.continue(); }) });
  await page.locator(".chat-row", { hasText: "Cart tests" }).waitFor();
  it.fake.chat.begin("From a terminal");
  held.resolve();
  await page.locator(".chat-row", { hasText: "From a terminal" }).waitFor();
  await page.done();
});

test("two files given at once to what has not begun yet: one conversation with both", async () => {
  const page = await open();
  await page.locator(".chat-row").first().waitFor();
  const before = it.fake.log.filter((l) => l === "POST /api/conversations").length;
  await box(page).fill("with both");
  await page.evaluate(() => {
    for (const name of ["one.txt", "two.txt"]) {
      const data = new DataTransfer();
      data.items.add(new File(["more"], name, { type: "text/plain" }));
      document.querySelector(".chat-pane").dispatchEvent(new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true }));
    }
  });
  await page.waitForURL(/\/chat\/c/);
  for (const name of ["one.txt", "two.txt"]) await page.getByRole("button", { name: `Remove ${name}` }).waitFor();
  assert.equal(await box(page).inputValue(), "with both");
  assert.equal(it.fake.log.filter((l) => l === "POST /api/conversations").length, before + 1);
  await page.done();
});

test("keys and fields are ready with what is drawn, not a frame later", async () => {
  const page = await open();
  await talk(page);
  const after = (what) => page.evaluate(async (press) => {
    document.querySelector(press).click();
    for (let i = 0; i < 10; i++) await null;
    const on = document.activeElement;
    return on.getAttribute("role") ?? on.getAttribute("aria-label");
  }, what);
  assert.equal(await after(".runtime-menu > button"), "menuitemradio");
  await page.keyboard.press("Escape");
  assert.equal(await after(".rename"), "Title");
  await page.keyboard.press("Escape");
  // Nothing that comes after the drawing takes the focus away, and a key finds its view.
  await page.evaluate(async () => {
    document.activeElement?.blur();
    const press = (key) => document.body.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
    press("g"); press("t");
    for (let i = 0; i < 10; i++) await null;
    press("g"); press("s");
    for (let i = 0; i < 10; i++) await null;
    press("/");
    window.field = document.activeElement.getAttribute("aria-label");
  });
  assert.equal(await page.evaluate(() => window.field), "Search all sessions");
  await page.done();
});
