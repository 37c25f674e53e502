// axe finds nothing, in every view, theme and width; contrast included.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { desktop, palette, phone, root, setup, until } from "./helpers.mjs";

const it = setup();
const axe = readFileSync(join(root, "node_modules/axe-core/axe.min.js"), "utf8");
const session = "/sessions/demo_20261024_171055_2c0747";
const views = [
  ["/achievements", ".badge", "document.querySelector('.fold').click()"],
  ["/achievements?share=let_him_cook", ".share canvas"],
  ["/sessions", ".session-row"],
  ["/sessions?q=deploy&since=2026-01-01&until=2027-01-01", ".hit", "document.querySelectorAll('.hit')[1].click()"],
  [`${session}?template=1`, ".make .call", "document.querySelectorAll('.calls .call > button').forEach((b, i) => i < 3 && b.click())"],
  ["/templates", ".template-card"],
  ["/templates/code_demo_202_1794778520", ".examples .call", "document.querySelector('.panel button[type=submit]').click()"],
  ["/templates/new", ".session-row"],
  ["/templates/study", ".chart"],
  ["/sleep", ".night-row"],
  ["/sleep/20261108-030008", ".diff", "document.querySelector('.rejected').open = true"],
  ["/handoffs", ".handoff"],
  ["/handoffs/local/t1", ".said-by-agent"],
  ["/sessions/demo_20261115_203240_66f5bc?", ".turn", "document.querySelector('.session-head .menu > button').click()"],
  ["/sleep/20261108-030008?view=tasks", ".task", "document.querySelector('.task button').click()"],
];

async function check(page, name) {
  // Through the debugger, not as a script of the page: its policy would refuse that, rightly.
  await page.evaluate(axe);
  const found = await page.evaluate(() => axe.run(document, { rules: { "color-contrast": { enabled: true } } }));
  assert.deepEqual(found.violations.map((v) => `${name}: ${v.id}: ${v.nodes.slice(0, 3).map((n) => `${n.target} ${n.any.map((a) => a.message).join(" ")}`).join(" | ")}`), []);
}

for (const theme of ["light", "dark"]) {
  for (const [path, ready, then] of views) {
    test(`${path} ${theme}`, async () => {
      const page = await it.open(path, { theme, state: { features: ["sleep", "handoffs"] } });
      await page.locator(ready).first().waitFor();
      if (then) await page.evaluate(then);
      await page.waitForTimeout(250);
      await check(page, theme);
      await page.done();
    });
  }
  test(`palette and keys ${theme}`, async () => {
    const page = await it.open("/achievements", { theme, size: desktop });
    await page.locator(".badge").first().waitFor();
    await page.keyboard.press("?");
    await page.locator(".keys").waitFor();
    await check(page, "keys");
    await page.keyboard.press("Escape");
    await palette(page);
    await page.locator(".palette [role=option]").first().waitFor();
    await check(page, "palette");
    await page.done();
  });
  test(`trouble ${theme}`, async () => {
    const page = await it.open("/achievements", { theme, state: { fail: { "/api/achievements": { status: 500, title: "Broken", detail: "Badly." } } } });
    await page.getByRole("alert").waitFor();
    await check(page, "error");
    it.fake.vanish();
    await page.locator(".lost").waitFor();
    await check(page, "lost");
    await page.done();
    const out = await it.open("/", { theme, signIn: false });
    await out.getByLabel("Token").waitFor();
    await check(out, "sign-in");
    await out.done();
    const first = await it.open("/sessions", { theme, state: { empty: true } });
    await first.getByText("talaria demo").waitFor();
    await check(first, "first run");
    await first.done();
    const scan = await it.open("/achievements", { theme, state: { scan: "partial" } });
    await scan.locator(".scan").waitFor();
    await check(scan, "scan");
    await scan.done();
  });
}

for (const [path, ready] of [["/achievements", ".badge"], ["/sessions", ".session-row"], ["/sessions?q=deploy", ".hit"], [session, ".turn"], ["/templates", ".template-card"], ["/sleep", ".night-row"], ["/sleep/20261108-030008", ".diff"], ["/handoffs", ".handoff"], ["/handoffs/local", ".chats .room"], ["/handoffs/local/t1", ".bubble"], ["/achievements?share=score", ".share canvas"]]) {
  test(`${path} at phone width`, async () => {
    const page = await it.open(path, { size: phone, state: { features: ["sleep", "handoffs"] } });
    await page.locator(ready).first().waitFor();
    await page.waitForTimeout(500);
    await check(page, "phone");
    await until(async () => assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), phone.width, "nothing sticks out to the right"));
    await page.done();
  });
}
