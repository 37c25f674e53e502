// Draws the pictures of docs/images from a page that shows the demo.
// usage: talaria serve --demo & node tools/pictures.mjs URL TOKEN-FILE
import { readFileSync } from "node:fs";
import { chromium } from "playwright-core";

const [url, tokenFile] = process.argv.slice(2);
const token = readFileSync(tokenFile, "utf8").trim();
const ask = async (path) => (await fetch(url + path, { headers: { Authorization: `Bearer ${token}` } })).json();
const named = (list, words) => list.find((s) => s.title?.includes(words)) ?? list[0];

const { sessions } = await ask("/api/sessions?limit=100");
const open = `/sessions/${encodeURIComponent(named(sessions, "Rebuild the checkout").id)}`;
const nights = (await ask("/api/sleep")).nights;
const review = nights.find((n) => n.accepted) ?? nights[0];
const chats = (await ask("/api/conversations")).conversations;

const wide = { width: 1280, height: 800 };
const pictures = [
  { name: "page-achievements", path: "/achievements" },
  { name: "page-sessions", path: open },
  { name: "page-search", path: "/sessions?q=cards%20cramped%20on%20phones" },
  { name: "page-phone", path: "/sessions", size: { width: 390, height: 844 } },
  { name: "page-palette", path: "/sessions", then: async (page) => { await page.keyboard.press("Control+k"); await page.keyboard.type("checkout"); } },
  { name: "page-share", path: "/achievements?share=score" },
  { name: "page-templates-dark", path: "/templates/release-notes", theme: "dark" },
  { name: "page-sleep", path: "/sleep" },
  { name: "page-review", path: `/sleep/${encodeURIComponent(review.staging)}` },
  { name: "chat", path: `/chat/${encodeURIComponent(chats[0].id)}`, size: { width: 1440, height: 900 } },
];

const browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox", "--disable-gpu"] });
for (const { name, path, size = wide, theme = "light", then } of pictures) {
  const context = await browser.newContext({ colorScheme: theme, viewport: size, serviceWorkers: "block" });
  const page = await context.newPage();
  await page.goto(`${url}/#token=${token}`);
  await page.locator("nav").first().waitFor();
  await page.goto(url + path);
  await page.waitForLoadState("domcontentloaded");
  await page.locator("main").first().waitFor();
  await page.waitForTimeout(1500); // pictures of what moves in: charts and lists are drawn in steps
  await then?.(page);
  await page.waitForTimeout(700);
  await page.screenshot({ path: new URL(`../docs/images/${name}.png`, import.meta.url).pathname });
  await context.close();
}
await browser.close();
