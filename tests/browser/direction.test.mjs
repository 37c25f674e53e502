import assert from "node:assert/strict";
import { test } from "node:test";
import { setup, until } from "./helpers.mjs";

const it = setup();

test("a title with a mark that reverses text reads in its own order, in the list, the page and its tab", async () => {
  const title = "invoice \u202egpj.exe", shown = "invoice \ufffdgpj.exe";
  const page = await it.open("/sessions", { prepare: (p) => p.route(/\/api\/sessions(\?|\/|$)/, async (route) => {
    const answer = await route.fetch();
    const text = (await answer.text()).replaceAll("What is left before the weekend?", title);
    await route.fulfill({ response: answer, body: text });
  }) });
  await page.getByText(shown).first().waitFor();
  await page.locator(".session-row a").filter({ hasText: shown }).first().click();
  await until(async () => assert.ok((await page.locator("main").textContent()).includes(shown)));
  const all = await page.evaluate(() => document.documentElement.outerHTML + document.title);
  assert.ok(!/[\u202d\u202e]/.test(all), "nowhere");
  await page.done();
});
