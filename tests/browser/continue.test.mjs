// "Continue in chat" against the real server: a session of Claude Code and of Codex is shown, answered, and keeps its address.
import assert from "node:assert/strict";
import { test } from "node:test";
import { claude, claudeWork, codexWork, start, untouched } from "../cli/agents_said.mjs";
import { run, tmpHome } from "../cli/helpers.mjs";
import { fakeModel } from "../http/fake_model.mjs";
import { startServer } from "../http/helpers.mjs";
import { setup } from "./helpers.mjs";

const it = setup();
const sessions = [
  ["11111111-aaaa-4aaa-8aaa-000000000001", claudeWork, "Red and blue."],
  ["22222222-bbbb-7bbb-8bbb-000000000002", codexWork, "Two gulls."],
];

test("Continue in chat: every word is there, the answer comes, nothing of the agent's changes", async (t) => {
  const fake = await fakeModel(t, () => ({ text: "The fastest is Anna." }));
  const home = tmpHome();
  for (const [id, make] of sessions) make(home, id);
  const files = untouched(home.user);
  const server = await startServer(t, { home, env: fake.env });
  for (const [id, , last] of sessions) {
    const page = await it.browser.newPage();
    t.after(() => page.close());
    await page.goto(`http://${server.host}/sessions/${id}#token=${server.token}`);
    await page.getByRole("link", { name: "Continue in chat" }).click();
    await page.getByText(last, { exact: true }).first().waitFor();
    await page.getByRole("textbox", { name: "Message" }).fill("which is faster?");
    await page.keyboard.press("Enter");
    await page.getByText("The fastest is Anna.").first().waitFor();
    await page.reload();
    await page.getByText("The fastest is Anna.").first().waitFor();
    assert.equal(await page.getByText(last, { exact: true }).count(), 1, "said once");
  }
  assert.deepEqual(untouched(home.user), files);
});

test("a session that goes on in another names it, and is named there", async (t) => {
  const home = tmpHome(), [first, second] = [1, 2].map((n) => `11111111-aaaa-4aaa-8aaa-00000000010${n}`);
  claude(home, first).said("user", "count the boats").said("assistant", [{ type: "text", text: "Two." }])
    .line({ type: "continued-in", continuedInSessionId: second });
  claude(home, second).said("user", "paint the gulls", { sessionKind: "bg" }).said("user", "and the pier?");
  run(["index"], home);
  const server = await startServer(t, { home });
  const page = await it.browser.newPage();
  t.after(() => page.close());
  await page.goto(`http://${server.host}/sessions/${first}#token=${server.token}`);
  const head = page.locator(".session-head");
  await head.getByText("Continued in").getByRole("link", { name: "paint the gulls" }).click();
  await head.getByText("Continues").getByRole("link", { name: "count the boats" }).click();
  await head.getByText("Continued in").waitFor();
  assert.ok(new URL(page.url()).pathname.endsWith(first));
});

test("a session that was continued keeps its tools and its source in the list", async (t) => {
  const fake = await fakeModel(t);
  const home = tmpHome(), id = sessions[0][0];
  claudeWork(home, id);
  assert.equal((await start(["ask", "-c", id, "which is faster?"], { env: { ...home.env, ...fake.env } })).code, 0);
  const server = await startServer(t, { home });
  const page = await it.browser.newPage();
  t.after(() => page.close());
  await page.goto(`http://${server.host}/sessions#token=${server.token}`);
  const chip = (name) => page.getByRole("group", { name: "Source" }).getByRole("button", { name });
  await chip("Claude Code").filter({ hasText: "1" }).waitFor();
  await chip("Talaria").filter({ hasText: "0" }).waitFor();
  await page.getByRole("link", { name: /count the boats/ }).first().click();
  await page.locator(".session-head .meta").getByText("2 tool calls").waitFor();
});
