import assert from "node:assert/strict";
import { test } from "node:test";
import { setup, until } from "./helpers.mjs";

const it = setup();
const name = "code_demo_202_1794778520";

test("cards, filter, and a detail as it will be injected", async () => {
  const page = await it.open("/templates");
  await page.locator(".template-card").nth(4).waitFor();
  await page.getByLabel("Filter templates").fill("code");
  await until(async () => assert.equal(await page.locator(".template-card").count(), 1));
  await page.locator(".template-card").click();
  await page.waitForURL(`**/templates/${name}`);
  await page.getByText("Call: execute_code").waitFor();
  await page.getByText("import csv, collections").first().waitFor();
  await page.getByText("1,292").waitFor();
  await page.keyboard.press("Escape");
  await page.waitForURL("**/templates");
  await page.done();
});

test("an injection tried: words, messages, and what is neither", async () => {
  const page = await it.open(`/templates/${name}`);
  await page.getByRole("button", { name: "Inject" }).click();
  await page.getByText("22 messages").waitFor();
  await until(async () => assert.equal(await page.locator(".result .put").count(), 21));
  const box = page.getByLabel("Text, or messages as JSON");
  await box.fill('{"messages": [{"role": "system", "content": "Be brief"}, {"role": "user", "content": "hi"}]}');
  await page.getByRole("button", { name: "Inject" }).click();
  await page.getByText("23 messages").waitFor();
  await until(async () => assert.match(await page.locator(".result li").first().textContent(), /Be brief/));
  await box.fill("[{");
  await page.getByRole("button", { name: "Inject" }).click();
  await page.getByRole("alert").getByText("Invalid JSON").waitFor();
  await page.done();
});

test("deleting is asked about, and only then done", async () => {
  const page = await it.open("/templates/file_demo_202_1794778520");
  await page.getByRole("button", { name: "Delete" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByText("The session it was made from is kept.").waitFor();
  await page.keyboard.press("Escape");
  await dialog.waitFor({ state: "hidden" });
  assert.match(page.url(), /file_demo/, "Esc closed the question, no more");
  assert.ok(!it.fake.log.some((l) => l.startsWith("DELETE")));
  await page.getByRole("button", { name: "Delete" }).click();
  await dialog.getByRole("button", { name: "Delete" }).click();
  await page.waitForURL("**/templates");
  await page.locator(".template-card").first().waitFor();
  await until(async () => assert.equal(await page.getByText("file_demo_202_1794778520").count(), 0));
  await page.done();
});

test("a new one: pick the session, see what it would hold", async () => {
  const page = await it.open("/templates");
  await page.getByRole("button", { name: "New" }).click();
  await page.getByText("What is left before the weekend?").click();
  await page.waitForURL("**session=demo_20261115_203240_66f5bc");
  await page.getByText("10 examples").waitFor();
  await page.done();
});

test("the study: a line with its interval for each kind, one scale, one sentence that claims no more than it knows", async () => {
  const page = await it.open("/templates/study");
  await page.getByText("no significant change over the course").waitFor();
  await until(async () => assert.equal(await page.locator(".chart").count(), 3));
  await until(async () => assert.equal(await page.locator(".chart .band").count(), 3));
  const tops = await page.locator(".chart svg text").filter({ hasText: "40 %" }).count();
  assert.equal(tops, 3);
  const kinds = it.fake.data.study.kinds;
  kinds[0].slope.differs_from_zero = true;
  await page.reload();
  await page.getByText("Your code-heavy sessions fail less towards the end").waitFor();
  kinds[0].slope.differs_from_zero = false;
  await page.done();
});
