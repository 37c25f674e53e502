// Nights for the fake: a few weeks of them, the last one waiting for a review.
const day = 86_400;
const now = Math.floor(Date.now() / 1000);
const before = `---
name: release-notes
description: Write release notes from a range of commits
---

# Release notes

1. Read the commits with \`git log --oneline\`.
2. Group them by area.
3. Write one line for each.

Keep it short.
`;
const diff = `--- a/release-notes/SKILL.md
+++ b/release-notes/SKILL.md
@@ -5,8 +5,11 @@
 
 # Release notes
 
-1. Read the commits with \`git log --oneline\`.
-2. Group them by area.
-3. Write one line for each.
+1. Read the commits with \`git log --no-merges --format=%s%n%b\`.
+2. Group them by what a user would notice: added, changed, fixed.
+3. Write one line for each; leave out what nobody can see.
+4. End with the commands to upgrade, copied from README.md.
 
-Keep it short.
+Keep it short: at most twelve lines. Dates are ISO (2026-11-14).
+
+When a commit names an issue, put its number in brackets at the end of the line.
`;
const second = `--- a/csv-clean/SKILL.md
+++ b/csv-clean/SKILL.md
@@ -9,4 +9,5 @@
 - Never change the order of columns.
-- Amounts have a dot.
+- Amounts have a dot and two decimals; a comma in the source is a decimal comma.
 - Write to a new file, then rename it over the old one.
+- Count the rows before and after, and say both.
`;
const long = "1. Added: gift wrap can be chosen per item.\n2. Fixed: totals with a discount are rounded once, at the end.\n\nUpgrade: npm ci && npm run migrate";
const answer = (soft, response) => ({ hard: soft === 1 ? 1 : 0, soft, response, fail_reason: soft === 1 ? "" : "failed: section=Upgrade" });
const tasks = [
  { id: "task_t1", intent: "Write the release notes for 2.4", split: "val", reference_kind: "rule", before: answer(0.4, "Release 2.4\n- wrap\n- fix total\n- merge branch 'main'\n- bump"), after: answer(1, long) },
  { id: "task_t2", intent: "Clean the savings export into one tidy CSV", split: "val", reference_kind: "rule", before: answer(0.5, "Wrote tidy.csv with 118 rows."), after: answer(1, "Wrote tidy.csv: 120 rows in, 120 rows out. Amounts have two decimals.") },
  { id: "task_t3", intent: "Say what is left before the weekend", split: "val", reference_kind: "rubric", before: answer(0.75, "Three things are open: the wrap option, the storm lookup, the deploy."), after: answer(0.75, "Open: the wrap option, the storm lookup, the deploy.") },
  { id: "task_t4", intent: "Summarise yesterday's inbox", split: "test", reference_kind: "rubric", before: answer(0.8, "Nine mails, two need an answer today."), after: answer(0.7, "Nine mails. Two need an answer.") },
];
const edits = [
  { target: "skill", op: "replace", content: "Group them by what a user would notice: added, changed, fixed.", anchor: "2. Group them by area.", rationale: "Three reviews asked for the same regrouping." },
  { target: "skill", op: "add", content: "Count the rows before and after, and say both.", anchor: "", rationale: "A lost row was noticed only two days later." },
];
const shares = [
  { skill: "release-notes", share: 0.58, moved_tasks: ["task_t1"], sessions: ["demo_20261115_203240_66f5bc"] },
  { skill: "csv-clean", share: 0.42, moved_tasks: ["task_t2"], sessions: ["demo_20261024_171055_2c0747"] },
];
const rejected = [{ target: "memory", op: "add", content: "Always answer in bullet points.", anchor: "", rationale: "It made one task worse and none better." }];
const notes = ["2 of 31 tasks had no answer that can be checked and were left out.", "The judge agreed with itself in 19 of 20 repeats."];
const iso = (at) => new Date(at * 1000).toISOString().replace(/\.\d+Z/, "Z");
// Names as nights have them, by number so that tests can say them.
const nameOf = (night) => `20261108-03000${night}`;

const scores = [[0.52, 0.52], [0.53, 0.61], [0.61, 0.6], [0.6, 0.6], [0.62, 0.69], [0.68, 0.7], [0.69, 0.68], [0.68, 0.74]];

function nights() {
  return scores.map(([baseline, candidate], i) => {
    const last = i === scores.length - 1;
    const accepted = candidate > baseline + 0.015;
    const none = candidate === baseline;
    return {
      night: i + 1, started_at: iso(now - (scores.length - i) * day), ended_at: iso(now - (scores.length - i) * day + 1900), project: "lantern-shop",
      backend: i === 1 ? "mock" : "claude", model: i === 1 ? "" : "claude-sonnet-4-5", simulated: i === 1, accepted, gate_action: accepted ? "accept_new_best" : "reject", baseline, candidate,
      interval: none ? null : [candidate - baseline - 0.045, candidate - baseline + 0.05], n_tasks: 24 + i, n_sessions: 60 + 3 * i, tokens: 310_000 + 22_000 * i,
      cost_usd: i % 3 === 2 ? 0 : 0.8 + i / 10, staging: nameOf(i + 1), adopted: accepted && !last && i !== 4, undone: i === 4, rejected: false,
      no_edits_reason: accepted ? "" : none ? "nothing_proposed" : "all_rejected", n_proposals: accepted ? 2 : 0,
    };
  }).reverse();
}

export function fakeSleep() {
  const all = nights();
  let running = null;
  const find = (name) => all.find((n) => n.staging === name);
  const worth = (empty) => ({ format: 1, sessions: empty ? 0 : 84, tasks: empty ? 0 : 31, recurring: empty ? 0 : 12, checkable: empty ? 0 : 22, max_calls: 260, max_tokens: 480_000, max_cost_usd: 1.9, detectable_effect: 0.06, verdict: empty ? "nothing" : "worth", text: empty ? "There is no session to learn from yet." : "Worth a run: 31 tasks, enough to detect an improvement of 6 points or more." });
  const skill = (n, name, text) => ({ skill_name: name, kind: "skill", live_path: `~/.claude/skills/${name}/SKILL.md`, live_state: n.adopted ? "adopted" : "as_before", diff: text, before, after: "", adopted: n.adopted });
  const detail = (n) => ({ format: 1, proposal: {
    ...n, skills: n.n_proposals ? [skill(n, "release-notes", diff), skill(n, "csv-clean", second)] : [],
    edits: n.n_proposals ? edits : [], edit_shares: n.n_proposals ? shares : [], rejected_edits: n.no_edits_reason === "nothing_proposed" ? [] : rejected, unmatched_edits: [],
    tasks: n.no_edits_reason === "nothing_proposed" ? [] : tasks, gate_trials: [], skill_groups: [], notes, report_md: `# Night ${n.night}\n\n31 tasks from 84 sessions; 24 replayed.\n\n| task | before | after |\n|---|---:|---:|\n| task\\_t1 | 40.0 | 100.0 |\n\n- ended 2026\\-11\\-16T16\\:38\\:31Z\n`,
  } });
  return {
    // Gives {body}, {status, body} or null for a path that is not one of these.
    route(method, path, body, { empty, problem }) {
      if (path === "/api/sleep") return { body: { format: 1, nights: empty ? [] : all, running, last: null, last_error: null, backend: "model", schedules: empty ? [] : [{ project: "/home/you/lantern-shop", kind: "systemd", when: "every night at 03:00" }] } };
      if (path === "/api/sleep/worth") return { body: worth(empty) };
      if (path === "/api/sleep/run" && method === "POST") {
        running = { night: all.length + 1, phase: body.dry_run ? "looking" : "replaying", done: 0, total: 24, since: now, elsewhere: false };
        return { status: 202, body: { format: 1, dry_run: Boolean(body.dry_run), backend: "model" } };
      }
      if (path === "/api/sleep/undo" && method === "POST") {
        const n = find(body.night);
        if (!n?.adopted) return problem(404, "Not found", "Nothing that is adopted can be undone.");
        Object.assign(n, { adopted: false, undone: true });
        return { body: { format: 1, ok: true } };
      }
      const one = path.match(/^\/api\/sleep\/nights\/([^/]+)(\/adopt|\/reject)?$/);
      if (!one) return null;
      const n = find(decodeURIComponent(one[1]));
      if (!n) return problem(404, "No such night", `There is no night '${one[1]}'.`);
      if (one[2] === "/adopt") n.adopted = true;
      if (one[2] === "/reject") n.rejected = true;
      return { body: one[2] ? { format: 1, ok: true } : detail(n) };
    },
    end() { running = null; },
  };
}
