// Files that somebody sends at a platform: they reach the model, once, or everybody hears why not.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import fs from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import test from 'node:test';
import { gateway, query, until } from '../cli/handoffs.mjs';
import { tmpHome } from '../cli/helpers.mjs';
import { fakeModel } from '../http/fake_model.mjs';
import { worlds } from './worlds.mjs';

const awhile = 30_000;
const large = 6 << 20; // more than a conversation keeps

/** The owner sends files in a private chat: [{ name, bytes, ...fields as that platform names them }]; what we said there. */
const places = {
  telegram: (w) => ({
    sends: (text, files) => files.map((f, i) => {
      const { name, bytes, ...fields } = f;
      return w.fake.say({ chat: 55, document: w.fake.file(bytes, { file_name: name, mime_type: 'text/plain', ...fields }), ...(text && i === 0 ? { caption: text } : {}) });
    }),
    ours: () => w.fake.ours(55).map((m) => m.text),
    fetched: () => w.fake.called('file').length,
    isFile: (name) => name === 'file',
    fails: (status) => w.fake.trouble('file', { status }),
    size: 'file_size',
  }),
  discord: (w) => {
    w.fake.channel({ id: '701', type: 1, recipient: '55' });
    return {
      sends: (text, files) => w.fake.say({ channel: '701', text, attachments: files.map(({ name, bytes, ...fields }) => w.fake.attach(name, bytes, { content_type: 'text/plain', ...fields })) }),
      ours: () => w.fake.ours({ channel: '701' }).map((m) => m.content),
      fetched: () => w.fake.asked({ method: 'GET', path: '^/attachments/' }).length,
      isFile: (name) => name.startsWith('GET /attachments/'),
      fails: (status) => w.fake.fault({ method: 'GET', path: '^/attachments/', kind: status }),
      size: 'size',
    };
  },
  slack: (w) => ({
    sends: (text, files) => w.fake.push(w.fake.event({ channel: 'D1', channel_type: 'im', subtype: 'file_share', text, files: files.map(({ name, bytes, ...fields }) => w.fake.file(name, bytes, fields)) })),
    ours: () => w.fake.messages.filter((m) => m.channel === 'D1').map((m) => m.text),
    fetched: () => w.fake.called('file'),
    isFile: (name) => name === 'file',
    fails: (status) => w.fake.trouble('file', { status }),
    size: 'size',
  }),
};

async function begin(t, name, reply = () => ({ text: 'seen' })) {
  const home = tmpHome(t), seen = [], world = await worlds[name](t), chat = places[name](world);
  const model = await fakeModel(t, (q) => { seen.push(q); return reply(q); });
  const env = { ...home.env, ...model.env, ...world.env }, file = `${home.data}/talaria.db`;
  const start = async () => {
    const g = await gateway(env);
    t.after(() => g.end('SIGKILL'));
    await until(() => `a line: ${g.said()}`, () => query(file, `select link from platform_state where platform = '${name}'`)[0]?.[0] === 'connected', awhile);
    return g;
  };
  const it = { world, chat, seen, home, file, start, g: await start(), last: () => seen.at(-1).messages.at(-1).text };
  it.answered = (n = 1) => until(() => `${n} answers: ${JSON.stringify(chat.ours())} ${it.g.said()}`, () => chat.ours().filter((x) => x === 'seen').length === n, awhile);
  it.kept = () => query(file, `select name, mime, size, message_id is not null from attachment where kind = 'file' order by created_ms, name`);
  it.onDisk = () => (fs.existsSync(`${home.data}/files`) ? fs.readdirSync(`${home.data}/files`).flatMap((c) => fs.readdirSync(path.join(home.data, 'files', c))) : []);
  return it;
}

for (const name of Object.keys(places)) {
  test(`${name}: a document reaches the model, with words and without`, { timeout: 120_000 }, async (t) => {
    const it = await begin(t, name);
    it.chat.sends('what does it say?', [{ name: '../../etc/notes.txt', bytes: 'the door is blue\n' }]);
    await it.answered();
    assert.match(it.last(), /^File 'notes\.txt' \(text\/plain, 17 B\), at .*\n```\nthe door is blue\n```\n\nwhat does it say\?$/s);
    it.chat.sends('', [{ name: 'größe.txt', bytes: 'tall' }]);
    await it.answered(2);
    assert.match(it.last(), /^File 'größe\.txt'.*tall.*\n\n\[sent without text: 'größe\.txt'\]$/s);
    assert.equal(it.chat.ours().length, 2, 'nothing else was said');
    assert.deepEqual(it.kept(), [['notes.txt', 'text/plain', 17, 1], ['größe.txt', 'text/plain', 4, 1]]);
    assert.ok(it.onDisk().every((f) => /^f[0-9a-f]{24}\.txt$/.test(f)), `${it.onDisk()}`);
    assert.equal((await it.g.end()).code, 0);
  });

  test(`${name}: what is too large, lies about its size or is gone does not stop the turn, and both sides hear of it`, { timeout: 120_000 }, async (t) => {
    const it = await begin(t, name);
    it.chat.sends('first', [{ name: 'film.mp4', bytes: 'x', [it.chat.size]: 31_000_000 }]);
    await it.answered();
    const why = "[file 'film.mp4' (31 MB) was not read: larger than 5.2 MB]";
    assert.equal(it.last(), `first\n\n${why}`);
    assert.equal(it.chat.fetched(), 0, 'it was not even asked for');
    await until(() => `${it.chat.ours()}`, () => it.chat.ours().includes(why), awhile);
    it.chat.sends('second', [{ name: 'liar.bin', bytes: Buffer.alloc(large), [it.chat.size]: 10 }]);
    await it.answered(2);
    assert.equal(it.last(), "second\n\n[file 'liar.bin' (10 B) was not read: larger than 5.2 MB]");
    it.chat.fails(404);
    it.chat.sends('', [{ name: 'gone.txt', bytes: 'gone' }]);
    await it.answered(3);
    assert.equal(it.last(), `[file 'gone.txt' (4 B) was not read: ${name} no longer has it]`);
    it.chat.fails(403);
    it.chat.sends('fourth', [{ name: 'closed.txt', bytes: 'closed' }]);
    await it.answered(4);
    assert.match(it.last(), /^fourth\n\n\[file 'closed\.txt' \(6 B\) was not read: \w+ refuses the download \(status 403\)\]$/);
    it.chat.fails(503);
    it.chat.sends('fifth', [{ name: 'later.txt', bytes: 'came at last' }]);
    await it.answered(5);
    assert.match(it.last(), /came at last/);
    assert.deepEqual(it.kept().map(([n]) => n), ['later.txt']);
    assert.deepEqual(it.onDisk().length, 1);
    await until(() => `${it.chat.ours()}`, () => it.chat.ours().length === 9, awhile);
    assert.equal((await it.g.end()).code, 0);
  });

  for (const when of ['while the file is fetched', 'while the model answers']) {
    test(`${name}: killed ${when}, the turn is made again and the file is there once`, { timeout: 120_000 }, async (t) => {
      let kill = true, it;
      const stop = () => { if (!kill) return undefined; kill = false; return it.g.end('SIGKILL'); };
      const fetching = when.includes('fetched');
      it = await begin(t, name, () => { if (!fetching) stop(); return { text: 'seen' }; });
      if (fetching) it.world.fake.onCall = (call, phase) => (phase === 'before' && it.chat.isFile(call) ? stop() : undefined);
      it.chat.sends('read it', [{ name: 'notes.txt', bytes: 'the door is blue' }]);
      await until(() => `its end: ${it.g.said()}`, () => !kill, awhile);
      await it.g.end('SIGKILL');
      it.g = await it.start();
      await it.answered();
      assert.match(it.last(), /the door is blue.*read it$/s);
      assert.equal(it.chat.fetched(), fetching ? 2 : 1);
      assert.deepEqual(it.kept(), [['notes.txt', 'text/plain', 16, 1]]);
      assert.equal(it.onDisk().length, 1);
      assert.deepEqual(query(it.file, `select count(*) from messages where role = 'user'`), [[1]]);
      assert.equal((await it.g.end()).code, 0);
    });
  }
}

/** A server that is none of the platform's. */
async function stranger(t) {
  const asked = [], server = http.createServer((rq, rs) => { asked.push(rq.headers); rs.end('secrets of the house'); });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => { server.closeAllConnections(); server.close(); });
  return { asked, url: `http://127.0.0.1:${server.address().port}/metadata` };
}

for (const [name, field] of [['discord', 'url'], ['slack', 'url_private']]) {
  test(`${name}: a file elsewhere is not fetched, whatever the message says`, { timeout: 120_000 }, async (t) => {
    const it = await begin(t, name), other = await stranger(t);
    const bad = [other.url, 'http://169.254.169.254/latest', 'https://slack.com.evil.example/x', 'https://cdn.discordapp.com@evil.example/x', 'file:///etc/passwd', 'http://slack.com/x', ''];
    it.chat.sends('look', bad.map((url, i) => ({ name: `f${i}`, bytes: 'x', [field]: url })));
    await it.answered();
    const notes = it.last().split('\n\n')[1].split('\n');
    assert.equal(notes.length, bad.length);
    for (const line of notes) assert.match(line, /^\[file 'f\d' \(1 B\) was not read: (it is stored at '[\w.]+', not at |its address does not belong to |the platform does not provide the file)/);
    assert.deepEqual(other.asked, []);
    // Nor where the platform itself sends us there.
    if (name === 'slack') {
      it.world.fake.trouble('file', { status: 302, headers: { Location: other.url } });
      it.chat.sends('again', [{ name: 'away.txt', bytes: 'x' }]);
      await it.answered(2);
      assert.match(it.last(), /\[file 'away\.txt' \(1 B\) was not read: it is stored at '127\.0\.0\.1', not at slack\]$/);
      assert.deepEqual(other.asked, []);
      it.world.fake.trouble('file', { status: 302, headers: { Location: `http://127.0.0.1:${it.world.fake.port}/files-pri/moved` } });
      it.world.fake.files.set('/files-pri/moved', Buffer.from('it moved'));
      it.chat.sends('', [{ name: 'moved.txt', bytes: 'x' }]);
      await it.answered(3);
      assert.match(it.last(), /it moved/);
    }
    assert.equal((await it.g.end()).code, 0);
  });
}

test('slack: an app that may not read files gets a page, and says so', { timeout: 120_000 }, async (t) => {
  const it = await begin(t, 'slack');
  it.world.fake.noFiles = true;
  it.chat.sends('look', [{ name: 'a.txt', bytes: 'a' }]);
  await it.answered();
  assert.equal(it.last(), "look\n\n[file 'a.txt' (1 B) was not read: slack returned a web page instead; allow the app to read files]");
});

test('discord: more files than are read are counted', { timeout: 120_000 }, async (t) => {
  const it = await begin(t, 'discord');
  it.chat.sends('many', Array.from({ length: 12 }, (_, i) => ({ name: `f${i}.txt`, bytes: `number ${i}.` })));
  await it.answered();
  assert.match(it.last(), /number 9\..*many\n\n\[2 more files were not read: at most 10 files per message\]$/s);
  assert.equal(it.kept().length, 10);
});

test('telegram: patience that is asked for is had, a voice and a photo have names, a caption may be a command', { timeout: 120_000 }, async (t) => {
  const it = await begin(t, 'telegram'), { fake } = it.world;
  fake.trouble('getFile', { status: 429, retry_after: 1 });
  const asked = fake.say({ chat: 55, caption: 'listen', voice: fake.file('OggS', { mime_type: 'audio/ogg', duration: 2 }) });
  await it.answered();
  assert.match(it.last(), new RegExp(`^File 'voice_${asked.message_id}\\.ogg' \\(audio/ogg, 4 B\\).*listen$`, 's'));
  const [first, second] = fake.called('getFile');
  assert.ok(second.at - first.at >= 1000, `${second.at - first.at} ms`);
  const photo = [fake.file('small', { width: 90 }), fake.file('as large as it gets', { width: 1280 }), fake.file('x', { width: 4000, file_size: large })];
  fake.say({ chat: 55, photo });
  await it.answered(2);
  assert.match(it.last(), /^File 'photo_\d+\.jpg' \(image\/jpeg, 19 B\)/);
  fake.say({ chat: 55, caption: '/status', caption_entities: [{ type: 'bot_command', offset: 0, length: 7 }], document: fake.file('x', { file_name: 'x' }) });
  await until(() => `${it.chat.ours()}`, () => it.chat.ours().length === 3, awhile);
  assert.equal(it.seen.length, 2, 'a command is no turn');
});

test('telegram: an album is one turn, though its pictures come one after the other', { timeout: 120_000 }, async (t) => {
  const it = await begin(t, 'telegram'), { fake } = it.world;
  const picture = (i, more = {}) => fake.say({ chat: 55, media_group_id: '77', document: fake.file(`picture ${i}`, { file_name: `p${i}.txt` }), ...more });
  // The first of them ends the long poll, and the others come behind it.
  const answered = new Promise((done) => { fake.onCall = (call, phase) => call === 'getUpdates' && phase === 'after' && done(); });
  picture(1);
  await answered;
  fake.onCall = undefined;
  picture(2, { caption: 'my holiday' });
  picture(3);
  const late = fake.updates.at(-1).u;
  await it.answered();
  assert.match(it.last(), /picture 1.*picture 2.*picture 3.*my holiday$/s);
  fake.again([late]); // it is known, though it was taken in by another
  fake.say({ chat: 55, text: 'and now?' });
  await it.answered(2);
  assert.equal(it.seen.length, 2);
  assert.equal(it.kept().length, 3);
  assert.equal((await it.g.end()).code, 0);
});

test('telegram: a file, and the question about it as the next message: the question has the file', { timeout: 120_000 }, async (t) => {
  // It never comes to an end about a file alone.
  const it = await begin(t, 'telegram', (q) => (/\[sent without text: .*\]$/.test(q.messages.at(-1).text) ? { text: 'let me think about that', hang: true } : { text: 'seen' }));
  const { fake } = it.world;
  // Before the file has come.
  fake.onCall = async (call, phase) => {
    if (call !== 'file' || phase !== 'before') return;
    fake.onCall = undefined;
    fake.say({ chat: 55, text: 'which colour?' });
    await until('both', () => query(it.file, `select count(*) from inbox where state = 'taken'`)[0][0] === 2, awhile);
  };
  it.chat.sends('', [{ name: 'door.txt', bytes: 'the door is blue' }]);
  await it.answered();
  assert.match(it.last(), /the door is blue.*which colour\?$/s);
  // While it is being answered.
  it.chat.sends('', [{ name: 'wall.txt', bytes: 'the wall is green' }]);
  await until(() => it.g.said(), () => /the wall is green/.test(it.last()), awhile);
  fake.say({ chat: 55, text: 'and the wall?' });
  await it.answered(2);
  assert.match(it.last(), /File 'wall\.txt'.*the wall is green.*and the wall\?$/s);
  fake.say({ chat: 55, text: 'thanks' });
  await it.answered(3);
  assert.equal(it.last(), 'thanks', 'what was answered is not read again');
  assert.equal(it.kept().length, 2);
  assert.equal((await it.g.end()).code, 0);
});
