// Discord's servers: who is let in by a role, heard as they write, by a slash command, or only after a gap.
import assert from 'node:assert/strict';
import test from 'node:test';
import { gateway, query, until } from '../cli/handoffs.mjs';
import { tmpHome } from '../cli/helpers.mjs';
import { startDiscord } from '../fakes/discord.mjs';
import { fakeModel } from '../http/fake_model.mjs';

const awhile = 30_000, author = (id) => ({ id, username: `user${id}` });

for (const name of ['TALARIA_DISCORD_ALLOWED_ROLES', 'DISCORD_ALLOWED_ROLES'])
  test(`${name}: a role is enough, and nothing else is`, { timeout: 120_000 }, async (t) => {
    const fake = await startDiscord(t), home = tmpHome(), file = `${home.data}/talaria.db`;
    const model = await fakeModel(t, (q) => ({ text: `heard: ${q.messages.at(-1).text}` }));
    fake.user(author('71')).roles = ['9', '801'];
    fake.user(author('72')).roles = ['9'];
    const env = { ...home.env, ...model.env, TALARIA_DISCORD_TOKEN: fake.token, TALARIA_DISCORD_API_BASE: fake.api, [name]: '800, 801' };
    const start = async () => {
      const g = await gateway(env);
      t.after(() => g.end('SIGKILL'));
      await until(() => `a line: ${g.said()}`, () => { const [link, since] = query(file, 'select link, since_ms from platform_state')[0] ?? []; return link === 'connected' && since >= g.began; }, awhile);
      return g;
    };
    const answered = (text, g) => until(() => `an answer to ${text}: ${g.said()}`, () => fake.ours({ channel: '600' }).some((m) => m.content === `heard: ${text}`), awhile);
    const reasons = () => query(file, "select reason from inbox where state = 'ignored'").flat();
    let g = await start();
    fake.say({ channel: '600', author: author('72'), text: 'no role', mention: true });
    fake.say({ channel: '600', author: author('71'), text: 'one role', mention: true });
    await answered('one role', g);
    fake.slash({ channel: '600', author: author('71'), name: 'status' });
    await until(() => `a status: ${g.said()}`, () => fake.ours({ channel: '600' }).length === 2, awhile);
    assert.deepEqual(reasons(), ['of a stranger in a group']);
    // Missed by everyone: fetched by the next session, without roles in it.
    await g.end();
    fake.say({ channel: '600', author: author('72'), text: 'missed, no role', mention: true, silent: true });
    fake.say({ channel: '600', author: author('71'), text: 'missed, one role', mention: true, silent: true });
    fake.cut({ forget: true });
    g = await start();
    await answered('missed, one role', g);
    assert.deepEqual(reasons(), ['of a stranger in a group', 'of a stranger in a group']);
    assert.ok(!fake.ours({ channel: '600' }).some((m) => /no role/.test(m.content)));
  });
