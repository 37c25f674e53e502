// What other programs leave behind must not break the page: impossible times, malformed answers, unknown addresses.
import assert from "node:assert/strict";
import { test } from "node:test";
import { setup, until } from "./helpers.mjs";

const it = setup();
const session = "demo_20261115_203240_66f5bc";

for (const bad of [1e18, -5, null, 1e30]) {
  test(`a session whose time is ${bad} opens all the same`, async () => {
    const page = await it.open("/sessions");
    const s = it.fake.data.sessions.find((x) => x.id === session);
    const kept = { ...s };
    Object.assign(s, { started_at: bad, last_active: bad, parts: s.parts.map((p) => ({ ...p, started_at: bad })) });
    const said = Object.values(it.fake.data.transcripts)[0].parts.at(-1).transcript;
    const times = said.map((m) => m.timestamp);
    said.forEach((m) => (m.timestamp = bad));
    try {
      await page.goto(`${it.fake.url}/sessions/${session}`);
      await page.locator(".turn").first().waitFor();
      await until(async () => assert.equal(await page.locator(".session-head time").innerText(), "–"));
      assert.equal(await page.locator(".session-head time").getAttribute("title"), "Unknown time");
      await page.locator(".turn .call button").first().click();
      assert.deepEqual(page.errors, []);
    } finally {
      Object.assign(s, kept);
      said.forEach((m, i) => (m.timestamp = times[i]));
    }
    await page.done();
  });
}

test("a view that fails says so, the rest of the page goes on", async () => {
  const page = await it.open("/sessions", { prepare: (p) => p.route(`**/api/sessions/${session}`, (r) => r.fulfill({ json: { id: session, title: 7, parts: null } })) });
  await page.locator(".session-row a").nth(1).waitFor();
  await page.goto(`${it.fake.url}/sessions/${session}`);
  const told = page.getByRole("alert").filter({ hasText: "This session could not be shown" });
  await told.waitFor();
  await told.getByRole("button", { name: "Reload" }).waitFor();
  await told.getByRole("button", { name: "Back" }).waitFor();
  await page.locator(".session-row a").nth(3).click();
  await page.locator(".turn").first().waitFor();
  await page.done();
});

test("an unknown address is told in the page", async () => {
  const page = await it.open("/sessions");
  await page.goto(`${it.fake.url}/nope`);
  await page.getByRole("heading", { name: "Page not found" }).waitFor();
  await until(async () => assert.match(await page.title(), /Page not found/));
  await page.getByRole("link", { name: "Go to Sessions" }).click();
  await page.getByRole("heading", { name: "Sessions", level: 1 }).waitFor();
  await page.done();
});
