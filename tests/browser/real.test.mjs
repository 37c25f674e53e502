// The page against the server it is served by, on a demo history in a folder of its own. Skipped where the binary
// has no `serve` yet.
import assert from "node:assert/strict";
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { root, setup, twice, until } from "./helpers.mjs";

const binary = process.env.TALARIA_BIN ?? join(root, "build/talaria");
const serves = spawnSync(binary, ["help", "serve"]).status === 0;
const it = setup();
const dir = mkdtempSync(join(tmpdir(), "talaria-page-"));
const env = { ...process.env, HOME: dir, HERMES_HOME: join(dir, "none"), XDG_STATE_HOME: join(dir, "state"), XDG_CONFIG_HOME: join(dir, "config") };
let server, url, token;

before(async () => {
  if (!serves) return;
  execFileSync("python3", [join(root, "tests/fixtures/tools/fill_home.py"), dir], { env, stdio: "ignore" });
  execFileSync(binary, ["--data", dir, "templates", "harvest"], { env, stdio: "ignore" });
  server = spawn(binary, ["--data", dir, "serve", "--port", "0"], { env, stdio: ["ignore", "pipe", "pipe"] });
  url = await new Promise((done, fail) => {
    let text = "";
    const look = (chunk) => {
      text += chunk;
      const found = /http:\/\/[^\s/#]+/.exec(text);
      if (found) done(found[0]);
    };
    server.stdout.on("data", look);
    server.stderr.on("data", look);
    server.on("exit", (code) => fail(new Error(`serve ended with ${code}: ${text}`)));
    setTimeout(() => fail(new Error(`no address printed: ${text}`)), 60_000).unref();
  });
  token = readFileSync(join(dir, "server-token"), "utf8").trim();
});
after(async () => {
  if (server?.exitCode === null) {
    server.removeAllListeners("exit");
    const ended = new Promise((done) => server.on("exit", done));
    server.kill("SIGTERM");
    await ended; // it writes until then
  }
  rmSync(dir, { recursive: true, force: true });
});

test("the whole round on a demo history", { skip: !serves && "no `serve` in this binary" }, async () => {
  const page = await it.open(`/achievements#token=${token}`, { url, signIn: false, prepare: twice });
  await page.locator(".badge").first().waitFor({ timeout: 60_000 });
  await until(async () => assert.equal(await page.locator(".badge").count(), 60));
  await page.waitForFunction(() => document.querySelector(".scan") === null, null, { timeout: 60_000 });
  await page.keyboard.press("g");
  await page.keyboard.press("s");
  await page.locator(".session-row").first().waitFor();
  await page.keyboard.press("j");
  await page.locator(".turn").first().waitFor();
  await page.locator(".call > button").first().click();
  await page.locator(".unfolded").first().waitFor();
  const address = page.url();
  await page.reload();
  await page.locator(".turn").first().waitFor();
  await until(() => assert.equal(page.url(), address, "a deep link is served"));
  await page.getByRole("button", { name: "Make template" }).click();
  await page.getByText(/about .* tokens/).waitFor();
  await page.getByLabel("Name").fill("from-the-page");
  await page.getByRole("button", { name: "Create template" }).click();
  await page.waitForURL("**/templates/from-the-page");
  await page.getByRole("button", { name: "Inject" }).click();
  await page.locator(".result .put").first().waitFor();
  await page.getByRole("button", { name: "Delete" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
  await page.waitForURL(/templates$/);
  await page.locator(".template-card").first().waitFor();
  await page.goto(`${url}/templates/study`);
  await page.locator(".chart").first().waitFor({ timeout: 60_000 });
  await page.goto(`${url}/achievements`);
  await page.getByRole("button", { name: "Rescan" }).click();
  await page.getByRole("button", { name: "Rescan" }).waitFor({ timeout: 60_000 });
  assert.deepEqual(await page.evaluate(() => window.doubled), []);
  assert.deepEqual(page.errors, []);
  await page.done();
});

test("search, filters and export, where the server has them", { skip: !serves && "no `serve` in this binary" }, async (t) => {
  const routes = await (await fetch(`${url}/openapi.json`)).json();
  if (!routes.paths["/api/search"]) return t.skip("no search in this binary");
  const page = await it.open("/sessions", { url, token });
  await page.locator(".session-row").first().waitFor();
  await page.locator(".indexing").waitFor({ state: "detached", timeout: 60_000 });
  await page.locator(".filters .chip").nth(1).waitFor();
  await page.getByLabel("Search all sessions").fill("shop");
  await page.locator(".hit mark").first().waitFor({ timeout: 60_000 });
  await page.locator(".hit").first().click();
  await page.locator(".target").first().waitFor();
  await page.getByRole("button", { name: "Export" }).click();
  const saved = page.waitForEvent("download");
  await page.getByRole("link", { name: "Markdown" }).click();
  assert.match((await saved).suggestedFilename(), /\.md$/);
  assert.deepEqual(page.errors, []);
  await page.done();
});

test("a night: run from the page, reviewed, adopted, undone", { skip: !serves && "no `serve` in this binary" }, async () => {
  const page = await it.open("/sleep", { url, token, prepare: twice });
  await page.getByText("Skills that improve overnight").waitFor();
  await page.getByRole("region", { name: "Before the next night" }).getByText("repeated").waitFor({ timeout: 60_000 });
  await page.getByRole("button", { name: "Dry run" }).click();
  await page.getByText(/Dry run: \d+ tasks of \d+ sessions\. .* would raise the score/).waitFor({ timeout: 60_000 });
  assert.equal(await page.locator(".night-row").count(), 0, "a dry run leaves nothing");
  await page.getByRole("button", { name: "Run a night" }).click();
  await page.locator(".night-row").first().waitFor({ timeout: 60_000 });
  await page.locator(".scan").waitFor({ state: "detached" });
  await page.locator(".review-me").click();
  await page.waitForURL(/\/sleep\/\d{8}-\d{6}/);
  await page.locator(".diff").first().waitFor();
  await until(async () => assert.ok(await page.locator(".edit .proof summary").count() > 0, "edits with the tasks that they moved"));
  await page.getByRole("link", { name: /^Tasks/ }).click();
  await page.locator(".task > button").first().click();
  await page.locator(".answers").waitFor();
  await page.getByRole("link", { name: "Report" }).click();
  await page.locator(".report").getByRole("heading", { name: "Night 1" }).waitFor();
  await page.getByRole("button", { name: "Adopt" }).click();
  await page.locator(".title .verdict").getByText("Adopted").waitFor();
  const skill = join(dir, "skills/talaria-learned/SKILL.md");
  assert.match(readFileSync(skill, "utf8"), /name: talaria-learned/);
  await page.getByRole("button", { name: "Undo" }).click();
  await page.locator(".title .verdict").getByText("Adoption undone").waitFor();
  assert.equal(existsSync(skill), false);
  await page.getByRole("link", { name: "All nights" }).click();
  await page.locator(".night-row").first().getByText("Adoption undone").waitFor();
  await page.getByRole("button", { name: "Run a night" }).click();
  await page.getByText("Night 2: 0 tasks").waitFor({ timeout: 60_000 });
  assert.deepEqual(await page.evaluate(() => window.doubled), []);
  assert.deepEqual(page.errors, []);
  await page.done();
});

test("signing out ends every browser's cookie", { skip: !serves && "no `serve` in this binary" }, async () => {
  const other = await it.open("/sessions", { url, token }), page = await it.open("/sessions", { url, token });
  await page.locator(".session-row").first().waitFor();
  await other.locator(".session-row").first().waitFor();
  const { value } = (await page.context().cookies()).find((c) => c.name === "talaria");
  const part = await page.evaluate(() => localStorage.getItem("signed-in"));
  const status = async () => (await fetch(`${url}/api/sessions`, { headers: { Cookie: `talaria=${value}`, "X-Talaria-Page": part } })).status;
  assert.equal(await status(), 200);
  await page.getByRole("button", { name: "Sign out" }).click();
  await page.getByLabel("Token").waitFor();
  assert.equal(await status(), 401);
  await other.reload();
  await other.getByLabel("Token").waitFor();
  await page.getByLabel("Token").fill(token);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.locator(".session-row").first().waitFor();
  await page.done();
  await other.done();
});

test("timed: first view soon after the answer", { skip: !serves && "no `serve` in this binary" }, async () => {
  const page = await it.open("/achievements", { url, token });
  await page.locator(".badge").first().waitFor();
  const took = [];
  for (let i = 0; i < 10 && !(Math.min(...took) < 300); i++) { // a busy machine proves nothing
    await page.goto(`${url}/achievements`);
    await page.locator(".badge").first().waitFor();
    took.push(await page.evaluate(() => new Promise((done) => {
      const nav = performance.getEntriesByType("navigation")[0];
      requestAnimationFrame(() => done(performance.getEntriesByName("first-contentful-paint")[0]?.startTime - nav.responseEnd));
    })));
  }
  const best = Math.min(...took);
  assert.ok(best < 300, `${best.toFixed(0)} ms`);
  await page.done();
});
