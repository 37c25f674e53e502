import assert from "node:assert/strict";
import { test } from "node:test";
import { chosen, desktop, palette, phone, setup, twice, until } from "./helpers.mjs";

const it = setup();
const at = (page) => page.evaluate(() => location.pathname + location.search + location.hash);

test("the token of the address becomes a cookie and leaves the address", async () => {
  const page = await it.open(`/#token=${it.fake.token}`, { signIn: false });
  await page.getByRole("heading", { name: "Sessions", level: 1 }).waitFor();
  await until(async () => assert.equal(await at(page), "/"));
  assert.equal(await page.evaluate(() => document.cookie), "", "scripts do not see it");
  await page.reload();
  await page.getByRole("heading", { name: "Sessions", level: 1 }).waitFor();
  await page.done();
});

test("without a token it asks for one, and says when it is wrong", async () => {
  const page = await it.open("/sessions", { signIn: false });
  await page.getByLabel("Token").fill("nonsense");
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("alert").getByText("Wrong token").waitFor();
  await page.getByLabel("Token").fill(it.fake.token);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("heading", { name: "Sessions", level: 1 }).waitFor();
  await until(async () => assert.equal(await at(page), "/sessions", "and goes where one wanted to go"));
  await page.done();
});

test("signing out, by key and on a phone: the sign-in, also after a reload with what was kept", async () => {
  for (const size of [desktop, phone]) {
    const page = await it.open("/sessions", { size });
    await page.getByRole("heading", { name: "Sessions", level: 1 }).waitFor();
    if (size === phone) await page.getByRole("button", { name: "More" }).click();
    const button = page.getByRole("button", { name: "Sign out" });
    await button.waitFor();
    const box = await button.boundingBox();
    assert.ok(box.x >= 0 && box.y >= 0 && box.x + box.width <= size.width && box.y + box.height <= size.height, JSON.stringify(box));
    if (size === desktop) {
      await page.locator("body").press("Tab");
      await until(async () => {
        await page.keyboard.press("Tab");
        assert.ok(await button.evaluate((e) => e === document.activeElement), "Tab gets there");
      });
      await page.keyboard.press("Enter");
    } else await button.click();
    await page.getByLabel("Token").waitFor();
    assert.equal(await page.evaluate(() => localStorage.getItem("signed-in")), null);
    assert.deepEqual(await page.context().cookies(), []);
    await until(() => assert.equal(it.fake.streams(), 0, "nothing listens any more"));
    await page.reload();
    await page.getByLabel("Token").fill(it.fake.token);
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByRole("heading", { name: "Sessions", level: 1 }).waitFor();
    await page.done();
  }
});

test("signing out from the palette; a server that cannot do it is heard, and nobody is signed out", async () => {
  const page = await it.open("/sessions", { state: { refuseSignOut: true } });
  const leave = async () => {
    await palette(page);
    await page.getByRole("combobox", { name: "Find" }).fill("sign out");
    await chosen(page, /Sign out/);
    await page.keyboard.press("Enter");
  };
  await leave();
  await page.getByText("Not signed out: No space left. The disk is full.").waitFor();
  await page.getByRole("heading", { name: "Sessions", level: 1 }).waitFor();
  it.fake.state.refuseSignOut = false;
  await leave();
  await page.getByLabel("Token").waitFor();
  await page.done();
});

test("tabs by key, back and forward, reload keeps the place", async () => {
  const page = await it.open("/achievements");
  await page.getByText("of 60 unlocked").waitFor();
  await page.keyboard.press("g");
  await page.keyboard.press("s");
  await page.getByRole("heading", { name: "Sessions", level: 1 }).waitFor();
  await page.keyboard.press("g");
  await page.keyboard.press("t");
  await page.getByRole("heading", { name: "Templates", level: 1 }).waitFor();
  await until(async () => assert.equal(await at(page), "/templates"));
  await page.goBack();
  await page.getByRole("heading", { name: "Sessions", level: 1 }).waitFor();
  await page.goBack();
  await page.getByRole("heading", { name: "Achievements", level: 1 }).waitFor();
  await page.goForward();
  await page.reload();
  await page.getByRole("heading", { name: "Sessions", level: 1 }).waitFor();
  await until(async () => assert.equal(await page.title(), "Sessions · Talaria"));
  await page.done();
});

test("Ctrl-K finds sessions, templates and commands", async () => {
  const page = await it.open("/achievements");
  await page.getByText("of 60 unlocked").waitFor();
  await palette(page);
  const box = page.getByRole("combobox", { name: "Find" });
  await box.fill("weekend");
  await chosen(page, /What is left before the weekend/);
  await page.keyboard.press("Enter");
  await page.waitForURL("**/sessions/demo_20261115_203240_66f5bc");
  await palette(page);
  await box.fill("code_demo");
  await page.getByRole("option", { name: /^code_demo/ }).click();
  await page.waitForURL("**/templates/code_demo_*");
  await palette(page);
  await box.fill("zzq vvk");
  await page.getByRole("option").filter({ hasText: "Search all sessions for “zzq vvk”" }).waitFor();
  await until(async () => assert.equal(await page.locator(".palette [role=option]").count(), 1));
  await page.keyboard.press("Escape");
  await box.waitFor({ state: "detached" });
  assert.match(await at(page), /^\/templates\/code_demo/, "Esc closed the palette, no more");
  await page.keyboard.press("Escape");
  await page.waitForURL("**/templates");
  await page.done();
});

test("the palette by keyboard alone: fuzzy, grouped, marked, told to a screen reader, focus given back", async () => {
  const page = await it.open("/sessions", { permissions: ["clipboard-read", "clipboard-write"] });
  await page.locator(".session-row").first().waitFor();
  await page.getByLabel("Project").focus();
  await palette(page);
  const box = page.getByRole("combobox", { name: "Find" });
  await page.locator(".palette [role=option]").first().waitFor();
  await until(async () => assert.equal(await box.evaluate((e) => e === document.activeElement), true));
  await page.getByRole("group", { name: "Commands" }).waitFor();
  await page.getByRole("group", { name: "Sessions" }).waitFor();
  await page.keyboard.type("gtt");
  const picked = page.locator('[role=option][aria-selected="true"]');
  await picked.filter({ hasText: "Go to Templates" }).waitFor();
  await until(async () => assert.deepEqual(await picked.locator("mark").allTextContents(), ["G", "t", "T"]));
  await until(async () => assert.equal(await box.getAttribute("aria-activedescendant"), await picked.getAttribute("id")));
  await box.fill("theme");
  await page.keyboard.press("ArrowUp");
  await picked.filter({ hasText: "Search all sessions for “theme”" }).waitFor();
  await page.keyboard.press("ArrowDown");
  await until(async () => assert.match(await picked.textContent(), /theme/));
  await box.fill("dark th");
  await chosen(page, /dark/i);
  await page.keyboard.press("Enter");
  await until(async () => assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), "dark"));
  await palette(page);
  await page.keyboard.press("Escape");
  await until(async () => assert.equal(await page.evaluate(() => document.activeElement.getAttribute("aria-label")), "Project", "focus is where it was"));
  await palette(page);
  await box.fill("copy link");
  await chosen(page, /link/i);
  await page.keyboard.press("Enter");
  await page.getByText("Link copied").waitFor();
  await until(async () => assert.equal(await page.evaluate(() => navigator.clipboard.readText()), `${it.fake.url}/sessions`));
  await page.done();
});

test("the palette searches what was said, exports what is open, and rescans", async () => {
  const page = await it.open("/templates");
  await page.locator(".template-card").first().waitFor();
  await palette(page);
  const box = page.getByRole("combobox", { name: "Find" });
  await box.fill("three commits behind");
  await page.getByRole("group", { name: "Messages" }).locator("mark").first().waitFor();
  await page.keyboard.press("Enter");
  await page.waitForURL("**/sessions/demo_20261115_203240_66f5bc?q=three+commits+behind&m=*");
  await page.locator(".turn.target").waitFor();
  await palette(page);
  await box.fill("export mark");
  await chosen(page, /markdown/i);
  const saved = page.waitForEvent("download");
  await page.keyboard.press("Enter");
  assert.equal((await saved).suggestedFilename(), "demo_20261115_203240_66f5bc.md");
  await palette(page);
  await box.fill("rescan");
  await chosen(page, /scan/i);
  await page.keyboard.press("Enter");
  await page.getByText("Scanned").waitFor();
  await page.waitForURL("**/achievements");
  assert.deepEqual(page.errors, []);
  await page.done();
});

test("/ filters, ? lists the keys, Esc goes back; nothing fires while typing", async () => {
  const page = await it.open("/achievements");
  await page.getByText("of 60 unlocked").waitFor();
  await page.keyboard.press("/");
  await page.keyboard.type("g s?");
  await until(async () => assert.equal(await page.getByLabel("Filter achievements").inputValue(), "g s?"));
  await until(async () => assert.equal(await page.locator(".keys").count(), 0));
  await page.keyboard.press("Escape");
  await until(async () => assert.equal(await page.getByLabel("Filter achievements").inputValue(), ""));
  await page.keyboard.press("Escape");
  await page.keyboard.press("?");
  await page.getByRole("heading", { name: "Keyboard shortcuts" }).waitFor();
  await page.keyboard.press("Escape");
  await until(async () => assert.equal(await page.locator(".keys").count(), 0));
  await page.done();
});

test("the rail narrows and stays so; at phone width it is a bar below", async () => {
  const page = await it.open("/achievements");
  const width = () => page.locator(".rail").evaluate((e) => e.getBoundingClientRect().width);
  await page.getByText("of 60 unlocked").waitFor();
  await until(async () => assert.equal(await width(), 192));
  await page.keyboard.press("\\");
  await page.waitForFunction(() => document.querySelector(".rail").getBoundingClientRect().width === 56);
  await page.reload();
  await page.getByText("of 60 unlocked").waitFor();
  await until(async () => assert.equal(await width(), 56));
  await page.setViewportSize(phone);
  await until(async () => {
    const bar = await page.locator(".rail").boundingBox();
    assert.equal(bar.width, 390);
    assert.ok(bar.y > 700);
    const wide = await page.evaluate(() => document.documentElement.scrollWidth);
    assert.equal(wide, 390, "nothing sticks out to the right");
  });
  await page.setViewportSize(desktop);
  await page.done();
});

test("the theme follows the system until one is chosen", async () => {
  const page = await it.open("/achievements", { theme: "dark" });
  await page.getByText("of 60 unlocked").waitFor();
  const ground = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const dark = await ground();
  await page.emulateMedia({ colorScheme: "light" });
  await until(async () => assert.notEqual(dark, await ground()));
  await page.getByRole("button", { name: /System theme/ }).click();
  await page.getByRole("button", { name: /Light theme/ }).click();
  await page.getByRole("button", { name: /Dark theme/ }).waitFor();
  await until(async () => assert.equal(await ground(), dark));
  await page.reload();
  assert.equal(await ground(), dark, "also before the script runs");
  await page.done();
});

test("fast navigation: equal requests are never in flight twice, and left ones are cancelled", async () => {
  const page = await it.open("/achievements", { state: { delay: 60 }, prepare: twice });
  await page.locator(".badge").first().waitFor();
  const cancelled = [];
  page.on("requestfailed", (r) => cancelled.push(r.url()));
  for (let i = 0; i < 12; i++) {
    for (const key of ["s", "a", "t", "s", "j", "j", "k", "j"]) {
      if ("ast".includes(key)) await page.keyboard.press("g");
      await page.keyboard.press(key);
      if (i % 3 === 0) await page.waitForTimeout(15);
    }
    if (i % 4 === 3) await page.goBack();
  }
  await page.waitForTimeout(400);
  assert.deepEqual(await page.evaluate(() => window.doubled), []);
  // However fast the keys were so far: now the answers are slower than anybody.
  it.fake.state.delay = 5000;
  await until(async () => {
    for (const key of ["g", "s", "g", "t", "g", "a"]) await page.keyboard.press(key);
    assert.ok(cancelled.length > 0, "leaving cancels");
  });
  it.fake.state.delay = 0;
  await until(() => assert.equal(it.fake.streams(), 1, "one event stream"));
  assert.deepEqual(page.errors, []);
  await page.done();
});

test("no request leaves the machine, and nothing breaks the strict policy", async () => {
  const page = await it.open("/");
  const foreign = [];
  await page.route("**", (r) => (r.request().url().startsWith(it.fake.url) ? r.continue() : (foreign.push(r.request().url()), r.abort())));
  for (const path of ["/", "/sessions", "/sessions?q=deploy", "/sessions/demo_20261115_203240_66f5bc?template=1", "/templates", "/templates/study", "/templates/new"]) {
    await page.goto(it.fake.url + path);
    await page.waitForTimeout(250);
  }
  assert.deepEqual(foreign, []);
  assert.deepEqual(page.errors, []);
  await page.done();
});

test("less motion where less is wanted", async () => {
  const page = await it.open("/achievements", { reducedMotion: "reduce", state: { stale: true } });
  await page.locator(".updating.on").waitFor();
  const animated = await page.evaluate(() => document.getAnimations().length);
  assert.equal(animated, 0);
  await page.done();
});
