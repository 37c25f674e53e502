import assert from "node:assert/strict";
import { test } from "node:test";
import { phone, setup } from "./helpers.mjs";

const it = setup();
const one = "demo_20261115_203240_66f5bc";
const chain = "demo_20261024_171055_2c0747";

test("the list: filters, text, and their address", async () => {
  const page = await it.open("/sessions");
  await page.getByText("What is left before the weekend?").waitFor();
  await page.getByLabel("Source").selectOption("telegram");
  await page.waitForFunction(() => [...document.querySelectorAll(".source")].every((s) => s.title === "telegram") && document.querySelector(".source"));
  assert.match(page.url(), /source=telegram/);
  await page.getByLabel("Source").selectOption("");
  await page.getByLabel("Archived").check();
  await page.getByLabel("archived", { exact: true }).first().waitFor({ state: "attached" }).catch(() => undefined);
  assert.ok(it.fake.log.some((l) => l.includes("archived=1")));
  await page.getByLabel("Since").selectOption("week");
  for (let i = 0; i < 100 && !it.fake.log.some((l) => /since=/.test(l)); i++) await page.waitForTimeout(50);
  assert.ok(it.fake.log.some((l) => /since=\d{4}-\d\d-\d\d/.test(l)));
  await page.goto(`${it.fake.url}/sessions`);
  await page.locator(".session-row").first().waitFor();
  await page.keyboard.press("/");
  await page.keyboard.type("lantern wrap");
  await page.waitForURL("**/sessions?q=lantern+wrap");
  await page.getByLabel("Filter by title, folder, model").fill("qqqq");
  await page.getByText("No session fits").waitFor();
  await page.done();
});

test("j and k walk through the list as one step of the history", async () => {
  const page = await it.open("/sessions");
  await page.getByText("What is left before the weekend?").waitFor();
  await page.keyboard.press("j");
  await page.waitForURL(`**/sessions/${one}`);
  await page.keyboard.press("j");
  await page.keyboard.press("j");
  await page.keyboard.press("k");
  await page.waitForURL("**/sessions/demo_20261113_122238_60bed0");
  await page.goBack();
  await page.waitForURL("**/sessions");
  await page.goForward();
  await page.keyboard.press("Escape");
  await page.waitForURL("**/sessions");
  await page.done();
});

test("a transcript: turns, folded calls, failures marked, copy, badges", async () => {
  const page = await it.open(`/sessions/${one}`, { permissions: ["clipboard-read", "clipboard-write"] });
  await page.getByText("what is left to do in the shop this week").waitFor();
  const call = page.locator(".call").filter({ hasText: "git status --short" });
  assert.match(await call.textContent(), /terminal.*3\.3 s/);
  assert.equal(await call.locator(".unfolded").count(), 0);
  await call.getByRole("button").first().click();
  await call.getByText("src/cart/total.ts").first().waitFor();
  await call.locator(".code .copy").first().click();
  assert.match(await page.evaluate(() => navigator.clipboard.readText()), /total\.ts/);
  assert.ok((await page.locator('.call[data-outcome="failed"]').count()) > 0);
  await page.locator(".session-badges").getByText("Let Him Cook").waitFor();
  await page.locator(".detail-pane").focus();
  await page.keyboard.press("x");
  await page.waitForFunction(() => [...document.querySelectorAll(".call > button")].every((b) => b.getAttribute("aria-expanded") === "true"));
  assert.deepEqual(page.errors, []);
  await page.done();
});

test("what sessions say is shown as text", async () => {
  const evil = '<img src=x onerror="window.hit=1"><script>window.hit=1</script>';
  const message = it.fake.data.transcripts[one].parts[0].transcript[2];
  const before = message.content;
  message.content = JSON.stringify({ output: `${evil}\nline`, exit_code: 0 });
  const page = await it.open(`/sessions/${one}`);
  await page.locator(".call > button").first().click();
  await page.getByText("<script>window.hit=1</script>").waitFor();
  assert.equal(await page.evaluate(() => window.hit), undefined);
  message.content = before;
  await page.done();
});

test("parts as a breadcrumb, links to a message", async () => {
  const page = await it.open(`/sessions/${chain}`);
  await page.getByText("Summary of what came before").waitFor();
  await page.getByRole("link", { name: /Part 1/ }).click();
  await page.waitForURL("**part=demo_20261024_165055_7d98e7");
  await page.getByRole("link", { name: "Continue with part 2" }).scrollIntoViewIfNeeded();
  await page.getByRole("link", { name: "Continue with part 2" }).click();
  await page.getByText("Summary of what came before").waitFor();
  const id = it.fake.data.transcripts[chain].parts[1].transcript[90].id;
  await page.goto(`${it.fake.url}/sessions/${chain}?m=${id}`);
  await page.waitForFunction((m) => {
    const box = document.getElementById(`m-${m}`)?.getBoundingClientRect();
    return box && box.top > 0 && box.bottom < innerHeight + 400;
  }, id);
  await page.done();
});

test("a template from here: preview without writing, then created", async () => {
  const page = await it.open(`/sessions/${one}`);
  await page.getByRole("button", { name: "Make template" }).click();
  await page.getByText("10 examples").waitFor();
  await page.getByLabel("Most examples").fill("4");
  await page.getByText("4 examples").waitFor();
  assert.equal(it.fake.data.templates.length, 5, "nothing was written");
  await page.getByLabel("Name").fill("weekly");
  await page.getByRole("button", { name: "Create template" }).click();
  await page.waitForURL("**/templates/weekly");
  await page.locator(".examples .call").nth(3).waitFor();
  await page.goto(`${it.fake.url}/sessions/${one}?template=1`);
  await page.getByLabel("Name").fill("weekly");
  await page.getByText("There is already a template of this name.").waitFor();
  await page.done();
});

test("a hundred thousand sessions: few rows in the document, all within reach, and smooth", async () => {
  const page = await it.open("/sessions", { state: { sessions: 100_000 } });
  await page.locator(".session-row").first().waitFor();
  const pane = page.locator(".list-pane .scroll");
  // To the end again and again: each time more is there, until thousands are.
  const height = () => page.evaluate(() => document.querySelector(".virtual").clientHeight);
  for (let at = await height(); at / 64 <= 5000; at = await height()) {
    await pane.evaluate((e) => { e.scrollTop = e.scrollHeight; });
    await page.waitForFunction((before) => document.querySelector(".virtual").clientHeight > before, at);
  }
  assert.ok((await page.locator(".session-row").count()) < 60);
  // Frames while it scrolls through what is loaded: none may be longer than a blink.
  const worst = await pane.evaluate((e) => new Promise((done) => {
    const frames = [];
    let last = performance.now(), n = 0;
    e.scrollTop = 0;
    const step = (now) => {
      if (n > 2) frames.push(now - last);
      last = now;
      e.scrollTop += 900;
      if (++n < 60) requestAnimationFrame(step);
      else done(Math.max(...frames));
    };
    requestAnimationFrame(step);
  }));
  assert.ok(worst < 200, `longest frame ${worst.toFixed(0)} ms`);
  await page.done();
});

test("reload keeps the place in the list", async () => {
  const page = await it.open("/sessions", { state: { sessions: 3000 } });
  await page.locator(".session-row").first().waitFor();
  const pane = page.locator(".list-pane .scroll");
  for (let i = 0; i < 3; i++) {
    await pane.evaluate((e) => { e.scrollTop = e.scrollHeight; });
    await page.waitForTimeout(200);
  }
  const place = await pane.evaluate((e) => e.scrollTop);
  assert.ok(place > 40_000);
  await page.reload();
  await page.waitForFunction((p) => Math.abs(document.querySelector(".list-pane .scroll").scrollTop - p) < 2, place);
  await page.done();
});

test("at phone width: list or transcript, and a way back", async () => {
  const page = await it.open("/sessions", { size: phone });
  await page.getByText("What is left before the weekend?").click();
  await page.getByText("what is left to do in the shop this week").waitFor();
  assert.equal(await page.locator(".list-pane").isVisible(), false);
  await page.getByRole("button", { name: "Back to the list" }).click();
  assert.equal(await page.locator(".list-pane").isVisible(), true);
  await page.done();
});
