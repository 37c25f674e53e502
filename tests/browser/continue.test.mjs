// "Continue in chat" against the real server: a session of Claude Code and of Codex is shown, answered, and keeps its address.
import assert from "node:assert/strict";
import { test } from "node:test";
import { claudeWork, codexWork, untouched } from "../cli/agents_said.mjs";
import { tmpHome } from "../cli/helpers.mjs";
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
