import assert from "node:assert/strict";
import { test } from "node:test";
import { setup, until } from "./helpers.mjs";

const it = setup();
const open = (path, more = {}) => it.open(path, { ...more, state: { features: ["sleep"], ...more.state } });
const posted = () => it.fake.log.filter((l) => l.startsWith("POST"));

test("the tab is there only where the server has it", async () => {
  const without = await it.open("/achievements");
  await without.locator(".badge").first().waitFor();
  assert.equal(await without.getByRole("link", { name: "Sleep" }).count(), 0);
  await without.keyboard.press("g");
  await without.keyboard.press("n");
  assert.equal(new URL(without.url()).pathname, "/achievements");
  await without.goto(`${it.fake.url}/sleep`);
  await without.getByText("This server does not have this tab.").waitFor();
  assert.ok(!it.fake.log.some((l) => l.includes("/api/sleep")), "and nothing of it is asked for");
  await without.done();
  const page = await open("/achievements");
  await page.getByRole("link", { name: "Sleep" }).waitFor();
  await page.keyboard.press("g");
  await page.keyboard.press("n");
  await page.waitForURL("**/sleep");
  await until(async () => assert.equal(await page.title(), "Sleep · Talaria"));
  await page.done();
});

test("nights with score, interval, cost and verdict; what the next one would cost and could tell", async () => {
  const page = await open("/sleep");
  const row = page.locator(".night-row").first();
  await row.waitFor();
  await until(async () => assert.match(await row.textContent(), /Night 8.*68\.0 → 74\.0.*\+6\.0 \(95 %: \+1\.5 to \+11\.0\).*\$1\.50.*To review/s));
  await until(async () => assert.match(await page.locator(".night-row").nth(3).textContent(), /Adoption undone/));
  await until(async () => assert.match(await page.locator(".night-row").nth(4).textContent(), /no change.*No proposal/s));
  await until(async () => assert.match(await page.getByRole("img", { name: /Score before and after/ }).getAttribute("aria-label"), /night 8: 68\.0 to 74\.0, to review/));
  const worth = page.getByRole("region", { name: "Before the next night" });
  await until(async () => assert.match(await worth.textContent(), /31 tasks, enough to detect an improvement of 6 points or more.*12.*repeated.*Up to 260 calls and 480K tokens, \$1\.90.*single questions do not count/s));
  await page.getByText("Night 8 proposes a change that scored +6.0 points").click();
  await page.waitForURL("**/sleep/20261108-030008");
  await page.keyboard.press("Escape");
  await page.waitForURL("**/sleep");
  await page.done();
});

test("a night is run: asked for once, its work shown as it goes, gone when it is over", async () => {
  const page = await open("/sleep");
  await page.locator(".night-row").first().waitFor();
  await page.getByRole("button", { name: "Run a night" }).click();
  await page.getByText("Night 9: replaying").waitFor();
  await until(() => assert.equal(posted().length, 1));
  await until(async () => assert.ok(await page.getByRole("button", { name: "Run a night" }).isDisabled()));
  await it.emit("sleep", { night: 9, phase: "replaying", done: 7, total: 24 });
  await page.getByText("7 of 24").waitFor();
  it.fake.wake();
  await it.emit("sleep", { night: 9, phase: "done", done: 24, total: 24 });
  await page.locator(".scan").waitFor({ state: "detached" });
  it.fake.state.fail["/api/sleep/run"] = { status: 409, title: "A night is already running", detail: "Started elsewhere." };
  await page.getByRole("button", { name: "Dry run" }).click();
  await page.getByRole("alert").getByText("A night is already running").waitFor();
  await page.done();
});

test("the review: diff both ways, edits with tasks, evidence and share of the gain", async () => {
  const page = await open("/sleep/20261108-030008");
  const skill = page.locator(".skill").first();
  await skill.getByText("+7").waitFor();
  await until(async () => assert.equal(await skill.locator("tr").first().locator("td").getAttribute("colspan"), "6"));
  const row = skill.locator("tr", { hasText: "Group them by" });
  await until(async () => assert.deepEqual(await row.locator("td.text").allTextContents(), ["2. Group them by area.", "2. Group them by what a user would notice: added, changed, fixed."]));
  await until(async () => assert.equal(await row.locator("td.text b").first().textContent(), "area", "what differs is marked"));
  await page.getByRole("button", { name: "Unified" }).click();
  await until(async () => assert.equal(await skill.locator('td.text[data-kind="add"]').count(), 7));
  await page.reload();
  await page.getByRole("button", { name: "Unified", pressed: true }).waitFor();
  const edit = page.locator(".edit").first();
  await until(async () => assert.match(await edit.textContent(), /Changed rule.*58 % of the gain.*Three reviews asked.*Write the release notes for 2\.4.*40\.0 → 100\.0/s));
  assert.equal(await page.getByText("It made one task worse and none better.").isVisible(), false);
  await page.getByText("1 rule tried and not proposed").click();
  await page.getByText("It made one task worse and none better.").waitFor();
  await edit.locator(".seen-in a").first().click();
  await page.waitForURL("**/sessions/demo_20261115_203240_66f5bc");
  assert.deepEqual(page.errors, []);
  await page.done();
});

test("per task the two answers side by side, what got worse first; the report as it was written", async () => {
  const page = await open("/sleep/20261108-030008");
  await page.getByRole("link", { name: "Tasks 4" }).click();
  await page.waitForURL("**/sleep/20261108-030008?view=tasks");
  const first = page.locator(".task").first();
  await until(async () => assert.match(await first.textContent(), /Summarise yesterday's inbox.*80\.0 → 70\.0/s));
  await first.getByRole("button").first().click();
  await first.locator(".answers > div").nth(1).waitFor();
  const [left, right] = await first.locator(".answers > div").evaluateAll((all) => all.map((e) => [e.getBoundingClientRect().top, e.textContent]));
  assert.equal(left[0], right[0]);
  assert.match(left[1], /Before.*two need an answer today/s);
  assert.match(right[1], /After.*Two need an answer\./s);
  await page.getByRole("link", { name: "Report" }).click();
  await page.getByText("31 tasks from 84 sessions").waitFor();
  await page.reload();
  await page.getByText("The judge agreed with itself").waitFor();
  await page.done();
});

test("adopt some, undo; and what is refused is said", async () => {
  const page = await open("/sleep/20261108-030008");
  await page.getByLabel("Adopt csv-clean").uncheck();
  it.fake.state.fail["/api/sleep/nights/20261108-030008/adopt"] = { status: 409, title: "The skill was changed since", detail: "Run another night." };
  await page.getByRole("button", { name: "Adopt 1 of 2" }).click();
  await page.getByRole("alert").getByText("The skill was changed since").waitFor();
  it.fake.state.fail = {};
  const body = page.waitForRequest((r) => r.url().endsWith("/adopt"));
  await page.getByRole("button", { name: "Adopt 1 of 2" }).click();
  assert.deepEqual((await body).postDataJSON(), { skills: ["release-notes"] });
  await page.getByRole("button", { name: "Undo" }).waitFor();
  await until(async () => assert.equal(await page.getByRole("button", { name: /^Adopt/ }).count(), 0));
  await page.getByRole("button", { name: "Undo" }).click();
  await page.locator(".title .verdict").getByText("Adoption undone").waitFor();
  await page.keyboard.press("Escape");
  await page.locator(".night-row").first().getByText("Adoption undone").waitFor();
  await page.locator(".night-row").first().click();
  await page.getByLabel("Adopt csv-clean").check();
  await page.getByRole("button", { name: "Adopt again" }).click();
  await page.getByRole("button", { name: "Undo" }).waitFor();
  await page.done();
});

test("rules come before the diff, each with both answers and the sessions it was learned from", async () => {
  const page = await open("/sleep/20261108-030008");
  const rule = page.locator(".edit").first();
  await rule.getByText("Group them by what a user would notice").waitFor();
  assert.ok((await rule.boundingBox()).y < (await page.locator(".skill").first().boundingBox()).y);
  await rule.locator("summary").click();
  await rule.getByText("merge branch 'main'").waitFor();
  await rule.getByText("Upgrade: npm ci").waitFor();
  await rule.getByRole("link", { name: /What is left before the weekend/ }).waitFor();
  await page.getByText("Accepted: best score so far").waitFor();
  await page.done();
});

test("a night whose answers were made up says so, in the list and in the review", async () => {
  const page = await open("/sleep");
  const row = page.locator(".night-row", { hasText: "Night 2" });
  await row.getByText("Simulated", { exact: true }).waitFor();
  assert.equal(await page.locator(".night-row", { hasText: "Night 8" }).getByText("Simulated", { exact: true }).count(), 0);
  await page.getByText("Score (0–100)").waitFor();
  await row.click();
  await page.locator(".night-sum").getByText("Simulated", { exact: true }).waitFor();
  await page.done();
});

test("the report is drawn, with the tasks by name", async () => {
  const page = await open("/sleep/20261108-030008?view=report");
  const report = page.locator(".report");
  await report.getByRole("heading", { name: "Night 8" }).waitFor();
  await report.getByRole("cell", { name: "Write the release notes for 2.4" }).waitFor();
  await report.getByText("2026-11-16T16:38:31Z").waitFor();
  assert.doesNotMatch(await report.innerText(), /\\|task_t1|\*\*/);
  await page.done();
});

test("rejecting is asked about once more", async () => {
  const page = await open("/sleep/20261108-030008");
  await page.getByRole("button", { name: "Reject" }).click();
  await page.getByRole("button", { name: "Keep it" }).click();
  assert.deepEqual(posted(), []);
  await page.getByRole("button", { name: "Reject" }).click();
  await page.getByRole("button", { name: "Reject the proposal" }).click();
  await page.locator(".title .verdict").getByText("Rejected").waitFor();
  await until(() => assert.equal(posted().length, 1));
  await page.done();
});

test("slow, unknown, none yet, disconnected", async () => {
  const held = Promise.withResolvers();
  const slow = await open("/sleep", { state: { slow: { "/api/sleep": held.promise } } });
  await slow.locator(".skeleton").waitFor();
  held.resolve();
  await slow.locator(".night-row").first().waitFor();
  await slow.done();
  const page = await open("/sleep/77");
  await page.getByText("There is no night '77'.").waitFor();
  await page.goto(`${it.fake.url}/sleep/20261108-030004`);
  await page.getByText("No proposal: no rule was found").first().waitFor();
  await page.goto(`${it.fake.url}/sleep/20261108-030008`);
  await page.getByLabel("Adopt csv-clean").uncheck();
  await until(() => assert.equal(it.fake.streams(), 1));
  it.fake.vanish();
  await page.locator(".lost").waitFor();
  it.fake.state.refuse = false;
  await page.locator(".lost").waitFor({ state: "detached", timeout: 30_000 });
  await until(async () => assert.equal(await page.getByLabel("Adopt csv-clean").isChecked(), false, "what was chosen stays"));
  await page.done();
});
