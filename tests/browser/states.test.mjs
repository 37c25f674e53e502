// Every state that is designed, and that none of them costs anything one typed.
import assert from "node:assert/strict";
import { test } from "node:test";
import { setup, until } from "./helpers.mjs";

const it = setup();
const views = [
  ["/achievements", "Achievements could not be loaded", ".badge"],
  ["/sessions", "Sessions could not be loaded", ".session-row"],
  ["/sessions/demo_20261115_203240_66f5bc", "The transcript could not be loaded", ".turn"],
  ["/sessions?q=deploy", "The search failed", ".hit"],
  ["/templates", "Templates could not be loaded", ".template-card"],
  ["/templates/code_demo_202_1794778520", "This template could not be opened", ".example, .examples .call"],
  ["/templates/study", "The study could not be loaded", ".chart"],
  ["/sleep", "Nights could not be loaded", ".night-row"],
  ["/sleep/20261108-030008", "This night could not be loaded", ".skill"],
];

for (const [path, what, good] of views) {
  test(`${path}: an error says what, why and what to do; retry mends it`, async () => {
    const failing = path.includes("?q=") ? "/api/search" : path.startsWith("/sleep") ? "/api/sleep" : path.startsWith("/sessions/") ? `/api${path}/messages` : "/api/";
    const page = await it.open(path, { state: { features: ["sleep"], fail: { [failing]: { status: 503, title: "The database is busy", detail: "Another program writes." } } } });
    const alert = page.getByRole("alert").filter({ hasText: what });
    await alert.waitFor();
    await until(async () => assert.match(await alert.textContent(), /The database is busy.*Another program writes/));
    it.fake.state.fail = {};
    await alert.getByRole("button", { name: "Try again" }).click();
    await page.locator(good).first().waitFor();
    await page.done();
  });
}

test("an answer without anything in it is an error, not a blank page", async () => {
  const page = await it.open("/achievements", { state: { blank: "/api/achievements" } });
  await page.getByRole("alert").getByText("Unexpected answer from the server").waitFor();
  it.fake.state.blank = "";
  await page.getByRole("button", { name: "Try again" }).click();
  await page.locator(".badge").first().waitFor();
  assert.deepEqual(page.errors, []);
  await page.done();
});

test("timed: a skeleton only after 150 ms", async () => {
  // On a busy machine an answer may really take that long; then it proves nothing and is tried again.
  for (let tries = 1, seen = 1; seen; tries++) {
    const page = await it.open("/achievements", { state: { delay: 40 } });
    await page.evaluate(() => {
      window.seen = 0;
      new MutationObserver(() => { window.seen += document.querySelectorAll(".skeleton").length; }).observe(document.body, { childList: true, subtree: true });
    });
    await page.locator(".badge").first().waitFor();
    for (const key of ["s", "t"]) {
      await page.keyboard.press("g");
      await page.keyboard.press(key);
      await page.waitForTimeout(300);
    }
    seen = await page.evaluate(() => window.seen);
    await page.done();
    assert.ok(!seen || tries < 12, "quick answers flash nothing");
  }
  const slow = await it.open("/achievements", { state: { delay: 900 } });
  await slow.locator(".skeleton.cards").waitFor();
  await slow.locator(".badge").first().waitFor();
  await until(async () => assert.equal(await slow.locator(".skeleton").count(), 0));
  await slow.done();
});

test("stale: what was there stays, with a quiet dot", async () => {
  const page = await it.open("/achievements", { state: { stale: true } });
  await page.getByText("updating").waitFor();
  await until(async () => assert.equal(await page.locator(".badge").count(), 60));
  await page.done();
  const back = await it.open("/sessions");
  await back.locator(".session-row").first().waitFor();
  await back.keyboard.press("g");
  await back.keyboard.press("t");
  await back.locator(".template-card").first().waitFor();
  it.fake.state.delay = 8000;
  await back.keyboard.press("g");
  await back.keyboard.press("s");
  await back.locator(".session-row").first().waitFor({ timeout: 6000 });
  await back.getByText("updating").waitFor({ timeout: 6000 });
  await back.done();
});

test("partial: what is read so far, how far that is, and the whole when it is there", async () => {
  const page = await it.open("/sessions", { state: { partial: true } });
  await page.locator(".session-row").first().waitFor();
  await page.locator(".indexing").getByText("60 of 156").waitFor();
  await it.emit("index", { done: 120, total: 156 });
  await page.locator(".indexing").getByText("120 of 156").waitFor();
  await page.getByLabel("Search all sessions").fill("deploy");
  await page.getByText(/3 messages so far/).waitFor();
  it.fake.state.partial = false;
  await it.emit("index", { done: 156, total: 156 });
  await page.locator(".indexing").waitFor({ state: "detached" });
  await page.getByText(/^3 messages$/).waitFor();
  await page.done();
  const quiet = await it.open("/sessions", { state: { partial: true } });
  await quiet.locator(".indexing").waitFor();
  it.fake.state.partial = false;
  await quiet.locator(".indexing").waitFor({ state: "detached" });
  await quiet.locator(".session-row").first().waitFor();
  await quiet.done();
});

test("timed: a search: skeleton only when it takes long, the last answer stays while the next is asked", async () => {
  const page = await it.open("/sessions?q=deploy", { state: { slow: { "/api/search": 600 } } });
  await page.locator(".hits .skeleton").waitFor();
  await page.locator(".hit").first().waitFor();
  it.fake.state.slow = { "/api/search": 3000 };
  const next = page.waitForRequest(/\/api\/search/);
  await page.getByLabel("Search all sessions").fill("deploy three");
  await next;
  await page.waitForTimeout(250);
  assert.equal(await page.locator(".hits .skeleton").count(), 0);
  assert.ok((await page.locator(".hit").count()) > 1);
  await page.waitForFunction(() => document.querySelectorAll(".hit").length === 1);
  it.fake.state.slow = {};
  it.fake.vanish();
  await page.locator(".lost").waitFor();
  await page.getByLabel("Search all sessions").fill("deploy");
  it.fake.state.refuse = false;
  await page.locator(".lost").waitFor({ state: "detached", timeout: 30_000 });
  await page.waitForFunction(() => document.querySelectorAll(".hit").length === 3);
  await until(async () => assert.equal(await page.getByLabel("Search all sessions").inputValue(), "deploy"));
  await page.done();
});

test("first run: what this is, where was looked, the one thing to do", async () => {
  for (const [path, title] of [["/achievements", "Achievements from your history"], ["/sessions", "Every agent session in one place"], ["/templates", "Start from what worked"], ["/sleep", "Skills that improve overnight"]]) {
    const page = await it.open(path, { state: { empty: true, features: ["sleep"] } });
    await page.getByRole("heading", { name: title }).waitFor();
    await page.getByText("talaria demo").waitFor();
    await page.getByText("/tmp/demo-data").waitFor();
    await page.done();
  }
});

test("what does not exist", async () => {
  const page = await it.open("/sessions/nobody");
  await page.getByText("No session 'nobody' in any home.").waitFor();
  await page.goto(`${it.fake.url}/templates/nothing`);
  await page.getByText("No template 'nothing'.").waitFor();
  await page.done();
});

test("disconnected: a thin bar, nothing typed is lost, and it comes back by itself", async () => {
  const page = await it.open("/templates/code_demo_202_1794778520");
  await page.getByLabel("Text, or messages as JSON").fill("half a thought");
  await until(() => assert.equal(it.fake.streams(), 1));
  it.fake.vanish();
  await page.locator(".lost").waitFor();
  await until(async () => assert.ok((await page.locator(".lost").boundingBox()).height <= 24));
  await until(async () => assert.equal(await page.getByLabel("Text, or messages as JSON").inputValue(), "half a thought"));
  await page.keyboard.press("Escape");
  it.fake.state.refuse = false;
  await page.locator(".lost").waitFor({ state: "detached", timeout: 30_000 });
  await until(async () => assert.equal(await page.getByLabel("Text, or messages as JSON").inputValue(), "half a thought"));
  await page.done();
});

test("disconnected at the first look: once back, the view is there without a click", async () => {
  const page = await it.open("/templates");
  await page.locator(".template-card").first().waitFor();
  it.fake.vanish();
  await page.keyboard.press("g");
  await page.keyboard.press("a");
  await page.getByText("Achievements could not be loaded").waitFor();
  it.fake.state.refuse = false;
  await page.locator(".badge").first().waitFor({ timeout: 30_000 });
  await page.done();
});

test("a session that ended asks for the token, not for patience", async () => {
  const page = await it.open("/templates");
  await page.locator(".template-card").first().waitFor();
  await page.context().clearCookies();
  await page.keyboard.press("g");
  await page.keyboard.press("a");
  await page.getByLabel("Token").waitFor();
  await page.done();
});

test("timed: no layout shift after the first draw", async () => {
  for (const path of ["/achievements", "/sessions?q=deploy", "/sessions/demo_20261115_203240_66f5bc", "/templates"]) {
    const page = await it.open("/templates/new");
    await page.addInitScript(() => {
      window.shift = 0;
      new PerformanceObserver((list) => { for (const e of list.getEntries()) window.shift += e.value; }).observe({ type: "layout-shift", buffered: true });
    });
    await page.goto(it.fake.url + path);
    await page.waitForTimeout(700);
    const shift = await page.evaluate(() => window.shift);
    assert.ok(shift < 0.05, `${path}: ${shift}`);
    await page.done();
  }
});
