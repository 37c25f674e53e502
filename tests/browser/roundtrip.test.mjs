// The whole way, on a machine on which nothing is set up: `talaria up`, `talaria chat` at a real terminal, /handoff local,
// an answer in the browser, `talaria handoff back`, and on at the terminal with what was said in the browser.
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { terminal } from "../cli/terminal.mjs";
import { binary } from "./chat-helpers.mjs";
import { setup } from "./helpers.mjs";

const it = setup();
const limit = { timeout: 120_000 };
let dir, env, up, url, token;

before(async () => {
  dir = mkdtempSync(join(tmpdir(), "talaria-round-"));
  mkdirSync(join(dir, "user"));
  env = { PATH: process.env.PATH, HOME: join(dir, "user"), TALARIA_HOME: join(dir, "data"), TZ: "UTC", LANG: "C.UTF-8" };
  up = spawn(binary, ["up", "--port", "0"], { env, stdio: ["ignore", "pipe", "pipe"] });
  let said = "";
  url = await new Promise((done, fail) => {
    const look = (d) => { const found = /http:\/\/[\d.]+:\d+/.exec((said += d)); if (found) done(found[0]); };
    up.stdout.on("data", look);
    up.stderr.on("data", look);
    up.once("exit", (code) => fail(new Error(`ended with ${code}: ${said}`)));
  });
  token = readFileSync(join(dir, "data", "server-token"), "utf8").trim();
});

after(async () => {
  if (up && up.exitCode === null && !up.signalCode) {
    up.kill("SIGTERM");
    await once(up, "exit");
  }
  rmSync(dir, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 });
});

const talaria = (...args) => spawnSync(binary, args, { env, encoding: "utf8", timeout: 60_000 });

async function until(what, look, ms = 20_000) {
  for (const end = Date.now() + ms; Date.now() < end; await new Promise((r) => setTimeout(r, 20))) {
    const got = await look();
    if (got) return got;
  }
  throw new Error(`not in time: ${what}`);
}

test("a conversation goes from the terminal to the browser and back", limit, async (t) => {
  await until("a gateway", () => JSON.parse(talaria("handoff", "status", "--json").stdout).gateway);
  const page = await it.open("/handoffs", { url, token });
  const term = terminal(t, ["chat"], { env, columns: 200 });
  await term.until("/help shows");
  term.type("where is the anchor kept?\r");
  await term.until("-- completed");
  term.type("/handoff local\r");
  assert.equal(await term.exited, 0, term.screen.text());
  assert.match(term.screen.text(), /queued[^]*picked up by the gateway\ndone: continued in the local chat\n/);
  const id = /talaria handoff back --session (c\w+)/.exec(term.screen.text())[1];

  // The page has it without being asked; the card has the last exchange.
  await page.locator(".handoff").getByText("Delivered", { exact: true }).waitFor();
  await page.getByRole("link", { name: "Open the thread" }).click();
  await page.locator(".said-by-agent", { hasText: "where is the anchor kept?" }).first().waitFor();
  const before = await page.locator(".said-by-agent").count();
  const box = page.getByRole("textbox", { name: "Message" });
  await box.fill("and the spare one?");
  await box.press("Enter");
  await page.locator(".said-by-user", { hasText: "and the spare one?" }).waitFor();
  await page.waitForFunction((n) => document.querySelectorAll(".said-by-agent").length > n, before);

  // Not at the terminal meanwhile; then back, by the command that was said.
  assert.equal(talaria("chat", "--resume", id).status, 4);
  const back = await until("the answer there is over", () => {
    const r = talaria("handoff", "back");
    assert.ok(r.status === 0 || /still answering/.test(r.stderr), r.stderr);
    return r.status === 0 && r;
  });
  assert.match(back.stdout, new RegExp(`returned from local; to continue: talaria chat --resume ${id}`));
  await page.getByText("The session was brought back").waitFor();

  const again = terminal(t, ["chat", "--resume", id], { env, columns: 200 });
  await again.until("> and the spare one?");
  again.type("thanks\r");
  await again.until("-- completed");
  again.type("/quit\r");
  assert.equal(await again.exited, 0);
  assert.deepEqual(page.errors, []);
  await page.done();
});
