// The pictures of docs/page.md, from the fake server: same data, same places, every time.
// usage: node web/dev/pictures.mjs [DIR] [NAME…]      (after node web/build.mjs; needs /usr/bin/chromium)
import { join, dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";
import { startFake } from "./fake-server.mjs";

const dir = process.argv[2] ?? join(dirname(fileURLToPath(import.meta.url)), "../../docs/images");
const only = process.argv.slice(3);
const phone = { width: 390, height: 844 };
const one = "/sessions/demo_20261115_203240_66f5bc";
const pictures = {
  "page-achievements": { path: "/achievements", wait: ".badge" },
  "page-sessions": { path: one, wait: ".turn", then: (p) => p.locator('.call[data-outcome="failed"] > button').first().click() },
  "page-search": { path: "/sessions?q=deploy", wait: ".hit", then: (p) => p.locator(".hit").nth(1).click() },
  "page-palette": { path: "/sessions", wait: ".session-row", theme: "dark", then: async (p) => { await p.keyboard.press("Control+k"); await p.keyboard.type("deploy"); } },
  "page-share": { path: "/achievements?share=score", wait: ".share canvas" },
  "page-sleep": { path: "/sleep", wait: ".night-row", features: ["sleep"] },
  "page-review": { path: "/sleep/20261108-030008", wait: ".diff", features: ["sleep"] },
  "chat": { path: "/chat", wait: ".chat-row", size: { width: 1440, height: 900 }, features: ["sleep", "chat"], then: async (p) => { await p.locator(".chat-row").first().click(); await p.locator(".graph svg").waitFor(); } },
  "page-templates-dark": { path: "/templates/code_demo_202_1794778520", wait: ".examples .call", theme: "dark" },
  "page-phone": { path: "/sessions", wait: ".session-row", size: phone },
};

const fake = await startFake();
const browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu"] });
for (const [name, { path, wait, then, theme = "light", size = { width: 1280, height: 800 }, features = [] }] of Object.entries(pictures)) {
  if (only.length && !only.includes(name)) continue;
  const context = await browser.newContext({ colorScheme: theme, viewport: size, reducedMotion: "reduce" });
  await context.request.post(`${fake.url}/api/auth`, { data: { token: fake.token } });
  Object.assign(fake.state, { features });
  const page = await context.newPage();
  await page.goto(fake.url + path);
  await page.locator(wait).first().waitFor();
  await then?.(page);
  await page.waitForTimeout(400);
  await page.screenshot({ path: join(dir, `${name}.png`) });
  await context.close();
}
await browser.close();
await fake.close();
