// talaria skills: found in every place, broken ones listed, the nearer one of two, shortlists.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';

import { run, runJson, tmpHome } from './helpers.mjs';

function put(folder, text) {
  fs.mkdirSync(folder, { recursive: true });
  fs.writeFileSync(path.join(folder, 'SKILL.md'), text);
}

const skill = (name, description, rest = '') => `---\nname: ${name}\ndescription: ${description}\n${rest}---\n`;

function machine() {
  const h = tmpHome();
  const project = path.join(h.dir, 'project');
  put(path.join(h.hermes, 'skills/ops/roll-out'), `${skill('roll-out', 'Ship a service.')}# Rollback\nhelm rollback to the last revision\n`);
  put(path.join(h.hermes, 'skills/mac-only'), skill('mac-only', 'helm on a mac', 'platforms: [macos]\n'));
  put(path.join(h.hermes, 'skills/switched-off'), skill('switched-off', 'helm no more'));
  put(path.join(h.hermes, 'skills/.archive/gone'), skill('gone', 'helm of old'));
  fs.writeFileSync(path.join(h.hermes, 'config.yaml'), 'skills:\n  disabled:\n    - switched-off\n');
  put(path.join(h.user, '.claude/skills/letters'), skill('letters', 'Write letters.'));
  put(path.join(h.user, '.claude/plugins/cache/shop/tool/1.0.0/skills/plug'), skill('plug', 'the old plug'));
  put(path.join(h.user, '.claude/plugins/cache/shop/tool/1.1.0/skills/plug'), skill('plug', 'the new plug'));
  put(path.join(h.user, '.agents/skills/broken'), '---\nname: [\n---\nwhatever\n');
  put(path.join(project, '.claude/skills/letters'), skill('letters', 'Letters of this project.'));
  return { ...h, project, options: { env: h.env, cwd: project } };
}

test('list finds every place, the nearer one of two, and broken ones with a warning', () => {
  const m = machine();
  const { format, skills, shadowed } = runJson(['skills', 'list', '--project', m.project], m.options);
  const by = Object.fromEntries(skills.map((s) => [s.name, s]));
  assert.equal(format, 1);
  assert.deepEqual(Object.keys(by).sort(), ['[', 'letters', 'mac-only', 'plug', 'roll-out', 'switched-off']);
  assert.equal(by.letters.description, 'Letters of this project.');
  assert.equal(by.letters.origin, 'project');
  assert.equal(by.plug.description, 'the new plug');
  assert.equal(by['roll-out'].category, 'ops');
  assert.equal(by['switched-off'].disabled, true);
  assert.match(by['['].warning, /front matter, line \d/);
  assert.equal(shadowed, 2);
  assert.match(run(['skills', 'list'], m.options).stderr, /broken\/SKILL\.md.*front matter/);
});

test('search says what fits, why, and what was left out', () => {
  const m = machine();
  const found = runJson(['skills', 'search', 'helm', 'rollback', 'please'], m.options);
  assert.equal(found.query, 'helm rollback please');
  assert.equal(found.skills[0].name, 'roll-out');
  assert.deepEqual(found.omitted, { platform: 1, disabled: 1, score: 0 });
  assert.ok(found.skills[0].reasons.length > 0);
  assert.equal(runJson(['skills', 'search', 'use letters for the helm'], m.options).skills[0].name, 'letters');
  assert.deepEqual(runJson(['skills', 'search', 'zebra'], m.options).skills, []);
});

test('show prints one; an unknown one is not found; a folder alone', () => {
  const m = machine();
  assert.match(run(['skills', 'show', 'roll-out'], m.options).stdout, /helm rollback to the last revision/);
  assert.equal(run(['skills', 'show', 'nobody'], m.options).code, 3);
  const only = runJson(['skills', 'list', '--folder', path.join(m.user, '.claude/skills')], m.options);
  assert.deepEqual(only.skills.map((s) => s.description), ['Write letters.']);
  assert.equal(run(['skills', 'list', '--folder', '/nonexistent'], m.options).code, 3);
});

test('no skills anywhere is an empty list', () => {
  const h = tmpHome();
  assert.deepEqual(runJson(['skills', 'list'], { env: h.env, cwd: h.dir }).skills, []);
});
