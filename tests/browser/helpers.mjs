// A browser, a page that is signed in, and the fake server of web/dev: what every test here begins with.
import assert from "node:assert/strict";
import { after, before } from "node:test";
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";
import { startFake } from "../../web/dev/fake-server.mjs";

export const root = join(dirname(fileURLToPath(import.meta.url)), "../..");
const args = "--no-sandbox --disable-dev-shm-usage --disable-gpu --disable-quic --no-first-run --disable-background-networking --disable-component-update --disable-sync".split(" ");
export const desktop = { width: 1280, height: 800 };
export const phone = { width: 390, height: 844 };

if (!existsSync(join(root, "build/web/app.js"))) throw new Error("build the page first: node web/build.mjs");

// Gives {fake, open}; open(path, {theme, size, ...}) is a page at that address, its console errors collected.
export function setup() {
  const it = { fake: null, browser: null };
  before(async () => {
    it.fake = await startFake();
    it.browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args });
  });
  after(async () => {
    await it.browser?.close();
    await it.fake?.close();
  });
  it.open = async (path = "/", { theme = "light", size = desktop, state = {}, url = it.fake.url, token = it.fake.token, signIn = true, prepare = null, ...more } = {}) => {
    const context = await it.browser.newContext({ colorScheme: theme, viewport: size, serviceWorkers: "block", ...more });
    const page = await context.newPage();
    page.setDefaultTimeout(30_000);
    page.errors = [];
    page.on("console", (m) => m.type() === "error" && page.errors.push(m.text()));
    page.on("pageerror", (e) => page.errors.push(String(e)));
    if (signIn) {
      const answer = await context.request.post(`${url}/api/auth`, { data: { token }, headers: { Origin: url } });
      if (!answer.ok()) throw new Error(`sign-in: ${answer.status()}`);
      const { page: part } = await answer.json();
      if (part) await context.addInitScript((kept) => localStorage.setItem("signed-in", kept), part);
    }
    if (url === it.fake.url) {
      it.fake.reset();
      Object.assign(it.fake.state, state);
    }
    if (prepare) await prepare(page);
    await page.goto(url + path);
    page.done = () => context.close();
    return page;
  };
  // To whoever listens, once somebody does: a page is drawn before its event stream is there.
  it.emit = async (event, value) => {
    await until(() => assert.ok(it.fake.streams() > 0, "nobody listens"));
    it.fake.emit(event, value);
  };
  return it;
}

// Asks again until what is asserted holds; what is on its way has 15 s to arrive. Gives what `look` gave.
export async function until(look, ms = 15_000) {
  for (const end = Date.now() + ms; ; await new Promise((r) => setTimeout(r, 30))) {
    try {
      return await look();
    } catch (cause) {
      if (Date.now() > end) throw cause;
    }
  }
}

// What `look` gives once it gives the same for half a second: all that was on its way is there.
export async function settled(look, ms = 15_000) {
  let last, same = 0;
  for (const end = Date.now() + ms; same < 5 && Date.now() < end; await new Promise((r) => setTimeout(r, 100))) {
    const now = await look();
    same = now === last ? same + 1 : 0;
    last = now;
  }
  return last;
}

// Ctrl-K, and what is typed there goes there.
export async function palette(page) {
  await page.keyboard.press("Control+k");
  await page.locator(".palette [role=combobox]:focus").waitFor();
}
export const chosen = (page, text) => page.locator('.palette [role=option][aria-selected="true"]').filter({ hasText: text }).waitFor();

// What is in flight, as the page sees it: a request ends with its answer, its failure or its cancelling. For
// open's `prepare`; window.doubled then lists the requests that ran beside an equal one.
export async function twice(page) {
  await page.addInitScript(() => {
    window.doubled = [];
    const open = new Map();
    const real = window.fetch;
    window.fetch = (path, options = {}) => {
      const key = `${options.method ?? "GET"} ${path}`;
      open.set(key, (open.get(key) ?? 0) + 1);
      if (open.get(key) > 1) window.doubled.push(key);
      let over = false;
      const end = () => {
        if (!over) open.set(key, open.get(key) - 1);
        over = true;
      };
      options.signal?.addEventListener("abort", end);
      return real(path, options).then(
        (r) => {
          const text = r.text.bind(r);
          r.text = () => text().finally(end);
          return r;
        },
        (cause) => { end(); throw cause; },
      );
    };
  });
}
