import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { setup, until } from "./helpers.mjs";

const it = setup();
const cards = (page) => page.locator(".badge").count();

test("score, five tiers, latest unlock, sixty cards, one request for them", async () => {
  const page = await it.open("/achievements");
  await page.getByText("of 60 unlocked").waitFor();
  await until(async () => assert.equal(await page.locator(".score .big b").textContent(), "42"));
  await until(async () => assert.match(await page.locator(".tier-bar").getAttribute("aria-label"), /6 Olympian, 4 Diamond, 2 Gold, 11 Silver, 18 Copper/));
  await page.locator(".latest").getByText("Subagent Commander").waitFor();
  await until(async () => assert.equal(await cards(page), 60));
  await until(() => assert.equal(it.fake.log.filter((l) => l === "GET /api/achievements").length, 1));
  await page.done();
});

test("every icon of the catalogue is embedded", async () => {
  const page = await it.open("/achievements");
  await page.getByText("of 60 unlocked").waitFor();
  await until(async () => assert.equal(await cards(page), 60));
  const missing = await page.evaluate(() => [...document.querySelectorAll("use")].map((u) => u.getAttribute("href")).filter((h) => !document.querySelector(h)));
  assert.deepEqual(missing, []);
  const plain = await page.evaluate(() => [...document.querySelectorAll('.badge:not([data-state="secret"]) use')].filter((u) => u.getAttribute("href").includes("question")).length);
  assert.equal(plain, 0, "none falls back to the secret's");
  await page.done();
});

test("chips, sort and the filter box are in the address", async () => {
  const page = await it.open("/achievements");
  await page.getByRole("button", { name: /^Unlocked/ }).click();
  await until(async () => assert.equal(await cards(page), 42));
  await page.getByRole("button", { name: /^Debugging Chaos/ }).click();
  await until(() => assert.match(page.url(), /state=unlocked&category=Debugging\+Chaos/));
  const some = await until(async () => {
    const n = await cards(page);
    assert.ok(n > 0 && n < 42);
    return n;
  });
  await page.reload();
  await page.locator(".badge").first().waitFor();
  await until(async () => assert.equal(await cards(page), some));
  await page.getByLabel("Filter achievements").fill("zzz");
  await page.getByRole("button", { name: "Show all" }).click();
  await until(async () => assert.equal(await cards(page), 60));
  await page.getByLabel("Sort").selectOption("tier");
  await until(async () => assert.equal(await page.locator(".badge").first().getAttribute("data-tier"), "Olympian"));
  await page.done();
});

test("what counts unfolds in place; secrets tell nothing; evidence opens the session", async () => {
  const page = await it.open("/achievements");
  const card = page.locator("#badge-let_him_cook");
  await card.getByRole("button", { name: "What counts" }).click();
  await card.locator(".ladder li.reached").getByText("200").waitFor();
  const secret = page.locator("#badge-port_3000_taken");
  await until(async () => assert.equal(await secret.locator("h3").textContent(), "Secret"));
  assert.doesNotMatch(await secret.textContent(), /Port|15/);
  await page.getByLabel("Filter achievements").fill("port_3000");
  await until(async () => assert.equal(await cards(page), 0, "the filter does not tell them either"));
  await page.getByLabel("Filter achievements").fill("");
  await card.locator(".evidence").click();
  await page.waitForURL("**/sessions/demo_*?m=8851");
  await page.locator("#m-8851.target").waitFor();
  await page.goBack();
  await card.waitFor();
  await page.done();
});

// Width and height stand at a fixed place of a PNG.
const pngSize = (bytes) => [bytes.toString("latin1", 1, 4), bytes.readUInt32BE(16), bytes.readUInt32BE(20)];

test("share: a card of 1200 by 630, downloaded and copied, of the score or of one badge", async () => {
  const page = await it.open("/achievements", { permissions: ["clipboard-read", "clipboard-write"] });
  await page.getByRole("button", { name: "Share", exact: true }).first().click();
  const card = page.getByRole("complementary", { name: "Share" });
  await card.getByRole("img", { name: "Card: 42 of 60 badges unlocked" }).waitFor();
  let saved = page.waitForEvent("download");
  await card.getByRole("button", { name: "Download" }).click();
  const file = await saved;
  assert.equal(file.suggestedFilename(), "talaria-score.png");
  assert.deepEqual(pngSize(readFileSync(await file.path())), ["PNG", 1200, 630]);
  await card.getByRole("button", { name: "Copy" }).click();
  await page.getByText("Picture copied").waitFor();
  const kinds = await page.evaluate(async () => (await navigator.clipboard.read()).flatMap((i) => i.types));
  assert.ok(kinds.includes("image/png"));
  const colours = () => page.evaluate(() => new Set(new Uint32Array(document.querySelector(".share canvas").getContext("2d").getImageData(0, 0, 1200, 630).data.buffer)).size);
  await until(async () => assert.ok((await colours()) > 100, "something is drawn"));
  await page.keyboard.press("Escape");
  await until(async () => assert.equal(await card.count(), 0));
  await page.getByRole("button", { name: "Share Let Him Cook" }).click();
  await card.getByRole("img", { name: "Card: Let Him Cook, Copper" }).waitFor();
  saved = page.waitForEvent("download");
  await card.getByRole("button", { name: "Download" }).click();
  assert.equal((await saved).suggestedFilename(), "talaria-let_him_cook.png");
  await until(() => assert.match(page.url(), /share=let_him_cook/));
  await page.getByRole("button", { name: "Close" }).click();
  await until(() => assert.equal(new URL(page.url()).search, ""));
  assert.deepEqual(page.errors, []);
  await page.done();
});

test("first scan: sessions done of total, badges as they are earned, then the whole", async () => {
  const page = await it.open("/achievements", { state: { scan: "pending" } });
  await page.getByText("Reading your history for the first time").waitFor();
  await until(() => assert.equal(it.fake.streams(), 1));
  await it.emit("progress", { done: 1250, total: 8000 });
  await page.getByText("1,250 of 8,000 sessions").waitFor();
  await until(async () => assert.equal(await page.locator(".score .big b").textContent(), "0"));
  await it.emit("unlock", { id: "let_him_cook", name: "Let Him Cook", tier: "Gold" });
  await page.locator("#badge-let_him_cook[data-tier=Gold]").waitFor();
  await until(async () => assert.equal(await page.locator(".score .big b").textContent(), "1"));
  await page.locator(".recent").getByText("Let Him Cook").waitFor();
  it.fake.state.scan = "complete";
  await it.emit("snapshot", {});
  await page.waitForFunction(() => document.querySelector(".score .big b").textContent === "42");
  await until(async () => assert.equal(await page.locator(".scan").count(), 0));
  await page.done();
});

test("a partial scan is moved on by asking now and then, should no event come", async () => {
  const page = await it.open("/achievements", { state: { scan: "partial" } });
  await page.getByText(/^60 of 1\d\d sessions/).waitFor();
  it.fake.state.scan = "complete";
  await page.waitForFunction(() => document.querySelector(".score .big b").textContent === "42", null, { timeout: 30_000 });
  await page.done();
});

test("figures that are not fresh are marked until they are; a failed scan says why instead", async () => {
  const page = await it.open("/achievements", { state: { stale: true } });
  const mark = page.getByRole("status").filter({ hasText: /^updating$/ });
  await mark.waitFor();
  await until(async () => assert.equal(await cards(page), 60));
  it.fake.state.stale = false;
  await it.emit("snapshot", {});
  await until(async () => assert.equal(await mark.count(), 0));
  Object.assign(it.fake.state, { stale: true, scanError: "'state.db' is locked by another process" });
  await it.emit("snapshot", {});
  await page.getByRole("alert").getByText("is locked by another process").waitFor();
  await until(async () => assert.equal(await mark.count(), 0));
  await until(async () => assert.equal(await cards(page), 60));
  Object.assign(it.fake.state, { stale: false, scanError: null });
  await it.emit("snapshot", {});
  await until(async () => assert.equal(await page.getByRole("alert").count(), 0));
  await page.done();
});

test("rescan asks for one, and says when it fails while the old stays", async () => {
  const page = await it.open("/achievements");
  await page.getByRole("button", { name: "Rescan" }).click();
  await page.getByRole("button", { name: "Rescan" }).waitFor();
  await until(() => assert.equal(it.fake.log.filter((l) => l.startsWith("POST") && l.endsWith("/rescan")).length, 1));
  it.fake.state.fail["/api/achievements/rescan"] = { status: 500, title: "The scan failed", detail: "database is locked" };
  await page.getByRole("button", { name: "Rescan" }).click();
  await page.getByRole("alert").getByText("database is locked").waitFor();
  await until(async () => assert.equal(await cards(page), 60));
  await page.done();
});
