// What is done with a session from its head, and the small things one does on the way there.
import assert from "node:assert/strict";
import { test } from "node:test";
import { desktop, setup, until } from "./helpers.mjs";

const it = setup();
const features = ["chat", "handoffs", "sleep"];
const session = "demo_20261115_203240_66f5bc";
const own = () => it.fake.data.sessions.find((s) => s.own);
const of = (origin) => it.fake.data.sessions.find((s) => s.origin === origin);

test("every session continues in chat, is handed over and resumed in its own agent", async () => {
  const page = await it.open("/sessions", { state: { features }, permissions: ["clipboard-read", "clipboard-write"] });
  for (const origin of ["hermes", "claude", "codex"]) {
    const s = of(origin);
    await page.goto(`${it.fake.url}/sessions/${s.id}`);
    assert.equal(await page.getByRole("link", { name: "Continue in chat" }).getAttribute("href"), `/chat/${s.id}`);
    await page.getByRole("button", { name: /^(Hand over|In progress)$/ }).waitFor();
    await page.getByRole("button", { name: "Resume in terminal" }).click();
    await page.getByText(`Copied: ${s.resume_command}`).waitFor();
    assert.equal(await page.evaluate(() => navigator.clipboard.readText()), s.resume_command);
    assert.equal(await page.getByRole("button", { name: "More", exact: true }).isVisible(), false, "another program's session is not changed");
  }
  await page.mouse.move(0, 0);
  await until(async () => {
    const looks = await page.locator(".actions > button, .actions > .button, .actions > .menu > button").evaluateAll((all) => [...new Set(all.map((e) => `${getComputedStyle(e).borderTopColor} ${e.getBoundingClientRect().height}`))]);
    assert.equal(looks.length, 1, `all actions look alike: ${looks}`);
  });
  await page.done();
});

test("one of our own is renamed, archived, and deleted after a question", async () => {
  const page = await it.open("/sessions", { state: { features } });
  const s = own();
  const kept = { ...s };
  const all = [...it.fake.data.sessions];
  await page.goto(`${it.fake.url}/sessions/${s.id}`);
  const more = page.locator(".actions").getByRole("button", { name: "More" });
  await more.click();
  await page.getByRole("button", { name: "Rename" }).click();
  await page.getByRole("dialog").getByLabel("Title").fill("A better name");
  await page.getByRole("dialog").getByRole("button", { name: "Rename" }).click();
  await page.getByRole("heading", { name: "A better name" }).waitFor();
  await page.locator(".session-row", { hasText: "A better name" }).waitFor();
  await more.click();
  await page.getByRole("button", { name: "Archive" }).click();
  await page.getByText("Archived").first().waitFor();
  assert.equal(own().archived, true);
  await more.click();
  await page.getByRole("button", { name: "Delete" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Keep it" }).click();
  assert.ok(own(), "nothing is deleted without the second click");
  await more.click();
  await page.getByRole("button", { name: "Delete" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
  await page.waitForURL("**/sessions");
  await until(async () => assert.equal(await page.locator(".session-row", { hasText: "A better name" }).count(), 0));
  assert.equal(own(), undefined);
  Object.assign(s, kept);
  it.fake.data.sessions = all;
  await page.done();
});

test("Esc clears the search box and leaves it; then j moves", async () => {
  const page = await it.open("/sessions");
  await page.locator(".session-row").first().waitFor();
  await page.keyboard.press("/");
  await page.keyboard.type("deploy");
  await page.locator(".hit").first().waitFor();
  await page.keyboard.press("Escape");
  await page.locator(".session-row").first().waitFor();
  await page.keyboard.press("j");
  await page.waitForURL(/\/sessions\/\w+/);
  assert.equal(await page.getByLabel("Search all sessions").inputValue(), "");
  await page.done();
});

test("no mark of a snippet is cut in half", async () => {
  const page = await it.open("/sessions?q=the", { size: desktop });
  await page.locator(".hit mark").first().waitFor();
  const cut = await page.locator(".hit").evaluateAll((all) => all.flatMap((hit) => {
    // The box that hides the rest, and how far down it paints.
    const boxes = [hit, ...hit.querySelectorAll("*")].filter((e) => getComputedStyle(e).overflowY === "hidden");
    const end = Math.min(...boxes.map((e) => e.getBoundingClientRect().bottom));
    return [...hit.querySelectorAll("mark")].flatMap((m) => [...m.getClientRects()]).filter((r) => r.top < end - 0.5 && r.bottom > end + 2);
  }).length);
  assert.equal(cut, 0);
  await page.done();
});

test("what the server says is told without advice for the terminal", async () => {
  const page = await it.open("/sessions", { state: { fail: { "/api/sessions/nope": { status: 404, title: "Not found", detail: "no session 'nope'; 'talaria sessions list' shows them" } } } });
  await page.goto(`${it.fake.url}/sessions/nope`);
  await page.getByText("Not found. No session 'nope'").waitFor();
  assert.doesNotMatch(await page.locator("main").innerText(), /talaria sessions/);
  await page.done();
});

test("the sample data has a checklist that leads to each tab, remembers and goes away", async () => {
  const page = await it.open("/sessions", { state: { features, demo: true } });
  const list = page.getByRole("region", { name: "Try in two minutes" });
  await list.getByText("0 of 4").waitFor();
  await list.getByRole("link", { name: "Run a night" }).click();
  await page.waitForURL("**/sleep");
  await page.goBack();
  await list.getByText("1 of 4").waitFor();
  await page.reload();
  await list.getByText("1 of 4").waitFor();
  await list.getByRole("button", { name: "Hide the checklist" }).click();
  await list.waitFor({ state: "detached" });
  await page.reload();
  await page.getByText("Select a session").waitFor();
  assert.equal(await list.count(), 0);
  await page.done();
});

test("an empty page names every place that was looked at", async () => {
  const page = await it.open("/sessions", { state: { empty: true } });
  const text = await until(async () => {
    const t = await page.locator(".first-run").innerText();
    assert.match(t, /\.codex/);
    return t;
  });
  for (const place of ["/home/you/.hermes", "/home/you/.claude", "/home/you/.codex", "/tmp/demo-data"]) assert.ok(text.includes(place), place);
  await page.done();
});

test("achievements say what they are counted over, and count one source alone", async () => {
  const page = await it.open("/achievements");
  await page.getByText("Counted over 151 sessions.").waitFor();
  const asked = page.waitForRequest((r) => /achievements\?source=claude/.test(r.url()));
  await page.getByRole("group", { name: "Source" }).getByRole("button", { name: "Claude Code 60" }).click();
  await asked;
  await page.getByText("Counted over 60 sessions of Claude Code.").waitFor();
  await page.done();
});
