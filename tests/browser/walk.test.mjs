// The first five minutes of somebody who has read the first screen of the README and nothing else: `script/server` on a machine
// without a history serves the demo. Search, open a result, make a template, hand a session over and bring it back,
// run a night, adopt it and undo it.
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { binary } from "./chat-helpers.mjs";
import { setup, until } from "./helpers.mjs";

const it = setup();
const limit = { timeout: 180_000 };
let dir, env, up, url, token, page;

before(async () => {
  dir = mkdtempSync(join(tmpdir(), "talaria-walk-"));
  mkdirSync(join(dir, "user"));
  env = { PATH: process.env.PATH, HOME: join(dir, "user"), TALARIA_HOME: join(dir, "data"), TZ: "UTC", LANG: "C.UTF-8" };
  assert.equal(spawnSync(binary, ["demo"], { env }).status, 0);
  up = spawn(binary, ["up", "--demo", "--port", "0"], { env, stdio: ["ignore", "pipe", "pipe"] });
  let said = "";
  url = await new Promise((done, fail) => {
    const look = (d) => { const found = /http:\/\/[\d.]+:\d+/.exec((said += d)); if (found) done(found[0]); };
    up.stdout.on("data", look);
    up.stderr.on("data", look);
    up.once("exit", (code) => fail(new Error(`ended with ${code}: ${said}`)));
  });
  token = readFileSync(join(dir, "data/demo/data/server-token"), "utf8").trim();
});

after(async () => {
  if (up && up.exitCode === null && !up.signalCode) {
    up.kill("SIGTERM");
    await once(up, "exit");
  }
  rmSync(dir, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 });
});

const tab = (name) => page.getByRole("link", { name, exact: true }).first().click();

test("the link opens the sessions of three agents, and a list of what to try", limit, async () => {
  page = await it.open(`/#token=${token}`, { url, signIn: false });
  await page.getByRole("heading", { name: "Sessions" }).waitFor();
  await page.getByRole("region", { name: "Try in two minutes" }).waitFor();
  for (const agent of ["Hermes Agent", "Claude Code", "Codex"]) await page.getByRole("button", { name: new RegExp(`^${agent} \\d+`) }).waitFor();
});

test("search, and open a result", limit, async () => {
  await page.keyboard.press("/");
  await page.keyboard.type("cards cramped on phones");
  await page.locator("a.hit").first().click();
  await page.getByRole("link", { name: "Continue in chat" }).waitFor();
});

test("make a template of it", limit, async () => {
  await page.getByRole("button", { name: "Make template" }).click();
  await page.getByRole("form", { name: "Make a template" }).getByRole("button", { name: "Create template" }).click();
  await page.waitForURL(/\/templates\/./);
  await page.getByRole("button", { name: "Inject" }).waitFor();
});

test("hand it over to the local chat, write a line there, and bring it back", limit, async () => {
  await page.goBack();
  await page.getByRole("button", { name: "Hand over", exact: true }).click();
  const dialog = page.getByRole("dialog", { name: "Hand over" });
  await dialog.getByRole("radio", { name: /^Local chat/ }).check();
  await dialog.getByRole("button", { name: "Hand over to Local chat" }).click();
  await dialog.getByRole("link", { name: "Open the thread" }).click();
  const box = page.getByRole("textbox", { name: "Message" });
  await page.locator(".said-by-agent").first().waitFor();
  await box.fill("what is this session about?");
  await box.press("Enter");
  await page.locator(".said-by-user", { hasText: "what is this session about?" }).waitFor();
  await page.waitForFunction(() => [...document.querySelectorAll(".said-by-user, .said-by-agent")].at(-1)?.matches(".said-by-agent"));
  // While the agent still answers it is refused in words: the person waits, and presses again.
  const back = page.getByRole("button", { name: "Bring back to the terminal" }), home = page.getByText("The session was brought back");
  await until(async () => {
    if (await back.isVisible()) await back.click();
    assert.ok(await home.isVisible());
  }, 60_000);
});

test("run a night, adopt what it learned, and undo it", limit, async () => {
  await tab("Sleep");
  const rows = page.locator(".night-row");
  await rows.first().waitFor();
  const before = await rows.count();
  await page.getByRole("button", { name: "Run a night" }).click();
  await page.waitForFunction((n) => document.querySelectorAll(".night-row").length > n, before);
  await rows.first().click();
  await page.getByText("Simulated").first().waitFor();
  await page.getByRole("button", { name: /^Adopt/ }).click();
  await page.getByRole("button", { name: "Undo", exact: true }).click();
  await page.getByText("Adoption undone").first().waitFor();
  // A refusal is logged by the browser itself.
  assert.deepEqual(page.errors.filter((e) => !/status of 409/.test(e)), []);
});
