// Every view fits its window: nothing runs out at the side, one pane at a time below 1025 px, five tabs on a phone.
import assert from "node:assert/strict";
import { test } from "node:test";
import { setup, settled, until } from "./helpers.mjs";

const it = setup();
const features = ["chat", "handoffs", "sleep"];
const session = "demo_20261115_203240_66f5bc";
// The address of a conversation of the fake, whose ids are made up anew each time.
const talk = async (page) => {
  const headers = { "X-Talaria-Page": await page.evaluate(() => localStorage.getItem("signed-in")) };
  return `/chat/${(await (await page.request.get(`${it.fake.url}/api/conversations?limit=1`, { headers })).json()).conversations[0].id}`;
};
const views = [
  "/sessions", `/sessions/${session}`, `/sessions/${session}?template=1`, "/sessions?q=the", "/chat", "/chat?new=1",
  "/handoffs", "/handoffs/local", "/handoffs/local/t1", "/sleep", "/sleep/20261108-030008", "/sleep/20261108-030008?view=tasks", "/sleep/20261108-030008?view=report",
  "/templates", "/templates/new", "/templates/study", "/achievements", "/nope",
];

for (const width of [1280, 1024, 768, 600, 390, 320]) {
  test(`nothing runs out of a window of ${width} px`, async () => {
    const page = await it.open("/sessions", { size: { width, height: 844 }, state: { features } });
    for (const path of [...views, await talk(page)]) {
      await page.goto(it.fake.url + path);
      await page.locator("main").first().waitFor();
      await settled(() => page.evaluate(() => document.body.innerText.length), 3000);
      const wide = await page.evaluate(() => {
        // What is scrolled inside of its own box may be wider than it; nothing else may reach past the window.
        const scrolls = (el) => el !== null && el !== document.body && (/auto|scroll|hidden|clip/.test(getComputedStyle(el).overflowX) || scrolls(el.parentElement));
        const out = [...document.querySelectorAll("#app *")].filter((el) => {
          const r = el.getBoundingClientRect();
          return r.width > 0 && r.height > 0 && r.right > innerWidth + 1 && r.left < innerWidth && !scrolls(el.parentElement);
        });
        return { page: document.documentElement.scrollWidth - innerWidth, panes: [...document.querySelectorAll("main, .page, .detail-pane, .messages, .list-pane")].filter((el) => el.scrollWidth > el.clientWidth + 1).map((el) => el.className), out: out.slice(0, 3).map((el) => el.outerHTML.slice(0, 120)) };
      });
      assert.deepEqual(wide, { page: 0, panes: [], out: [] }, `${path} at ${width}`);
    }
    await page.done();
  });
}

for (const width of [1024, 768, 600]) {
  test(`a window of ${width} px shows the list or what is open, and icons in the rail`, async () => {
    const page = await it.open("/sessions", { size: { width, height: 900 }, state: { features } });
    await page.getByRole("region", { name: "List of sessions" }).waitFor();
    assert.equal(await page.locator(".detail-pane").isVisible(), false);
    assert.ok((await page.locator(".rail").boundingBox()).width <= 60, "the rail is icons");
    await page.locator(".session-row a").first().click();
    await page.getByRole("button", { name: "Back to the list" }).click();
    await page.getByRole("region", { name: "List of sessions" }).waitFor();
    await page.goto(it.fake.url + (await talk(page)));
    await page.locator(".composer .send").waitFor();
    assert.equal(await page.locator(".list-pane").isVisible(), false);
    await page.done();
  });
}

test("the composer and its button are in sight at every width", async () => {
  for (const width of [1280, 1024, 768, 600, 390, 320]) {
    const page = await it.open("/chat", { size: { width, height: 700 }, state: { features } });
    for (const path of [await talk(page), "/chat?new=1", "/handoffs/local/t1"]) {
      await page.goto(it.fake.url + path);
      await page.locator(".composer .send").waitFor();
      await until(async () => {
        const box = await page.locator(".composer .send").boundingBox();
        assert.ok(box && box.x >= 0 && box.x + box.width <= width && box.y + box.height <= 700, `${path} at ${width}: ${JSON.stringify(box)}`);
      });
    }
    await page.done();
  }
});

test("a phone has a bar of five and More", async () => {
  const page = await it.open("/sessions", { size: { width: 390, height: 844 }, state: { features } });
  await page.locator(".rail").getByRole("link", { name: "Handoffs" }).waitFor();
  const shown = page.locator(".rail > :is(a, button):visible, .rail > ul li:visible");
  assert.deepEqual(await shown.allInnerTexts(), ["Find", "Sessions", "Chat", "Handoffs", "Sleep", "More"]);
  assert.equal(await page.getByRole("link", { name: "Achievements" }).isVisible(), false);
  await page.getByRole("button", { name: "More" }).click();
  await page.getByRole("link", { name: "Achievements" }).click();
  await page.getByRole("heading", { name: "Achievements", level: 1 }).waitFor();
  await until(async () => assert.equal(await page.getByRole("link", { name: "Templates" }).isVisible(), false, "and it closes"));
  await page.done();
});
