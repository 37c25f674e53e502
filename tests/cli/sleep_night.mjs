// A staged night for tests of the binary: the files as a night leaves them.
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';

const sha = (text) => createHash('sha256').update(text).digest('hex');
const read = (file) => (fs.existsSync(file) ? fs.readFileSync(file, 'utf8') : null);

/**
 * home: of tmpHome(). skills: [{name, before, after}] in `roots`; managed, memory: {path, before, after}.
 * before null: the document does not exist. Returns the name and folder of the night, and the documents.
 */
export function stageNight(home, { name = '20261115-031700', skills = [], managed, memory, report } = {}) {
  const dir = fs.realpathSync(home.dir);
  const root = path.join(dir, 'skills');
  const folder = path.join(home.data, 'sleep/staging', name);
  fs.mkdirSync(folder, { recursive: true, mode: 0o700 });
  const docs = [];
  const row = (file, live, before, after) => {
    if (before !== null) {
      fs.mkdirSync(path.dirname(live), { recursive: true });
      fs.writeFileSync(live, before);
    }
    fs.writeFileSync(path.join(folder, file), after, { mode: 0o600 });
    docs.push({ live, before, after });
    return { proposed_file: file, sha256: sha(after), live_sha256: before === null ? '' : sha(before), live_realpath: live };
  };
  const manifest = {
    schema: 'skillopt-sleep-staging', schema_version: 2, live_skill_path: '', live_memory_path: '', has_skill: false, has_memory: false,
    has_managed_skill: !!managed, has_managed_memory: !!memory, accepted: true, skill_roots: [root],
  };
  if (skills.length) {
    manifest.skills = skills.map(({ name: skill, before, after }) => {
      const live = path.join(root, skill, 'SKILL.md');
      return { skill_name: skill, live_skill_path: live, ...row(`proposed_SKILL.${skill}.md`, live, before, after) };
    });
  }
  if (managed || memory) manifest.legacy = {};
  if (managed) manifest.legacy.skill = { live_path: managed.path, ...row('proposed_SKILL.md', managed.path, managed.before, managed.after) };
  if (memory) manifest.legacy.memory = { live_path: memory.path, ...row('proposed_CLAUDE.md', memory.path, memory.before, memory.after) };
  if (report) fs.writeFileSync(path.join(folder, 'report.json'), JSON.stringify(report));
  fs.writeFileSync(path.join(folder, 'report.md'), '# Night 1\n');
  fs.writeFileSync(path.join(folder, 'manifest.json'), JSON.stringify(manifest));
  fs.writeFileSync(path.join(path.dirname(folder), '.latest'), name);
  return { name, folder, docs, root };
}

/** 'old', 'new' or what else a document is. */
export function stateOf({ live, before, after }) {
  const now = read(live);
  return now === before ? 'old' : now === after ? 'new' : `broken: ${JSON.stringify(now)}`;
}
