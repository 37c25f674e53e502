// A Bot API server for tests: long polls with offsets, topics, limits and refusals as Telegram words them, and every
// trouble that a network can have. grammY, which others wrote, judges it in tests/platforms/telegram.test.mjs.
//
//   const fake = await startTelegram(t, { topics: true });
//   fake.addChat({ id: -100777, type: 'supergroup', is_forum: true, title: 'Forum' });
//   fake.say({ chat: 55, text: 'hello' });            // a user writes
//   fake.trouble('sendMessage', { status: 429, retry_after: 2 });   // the next call of it
//   fake.onCall = async (method, phase) => {};        // 'before' it is done, 'after' it and before the answer
//   await fake.until(() => fake.messages.length === 1);
import http from 'node:http';
import { EventEmitter, once } from 'node:events';

const HOLD_MS = 24 * 3600e3;

class Refusal extends Error {
  constructor(code, description, parameters) { super(description); Object.assign(this, { code, description, parameters }); }
}
const bad = (text, parameters) => new Refusal(400, `Bad Request: ${text}`, parameters);

const userOf = (u) => ({ id: u, is_bot: false, first_name: `User ${u}`, username: `user${u}` });

export class FakeTelegram extends EventEmitter {
  constructor({ token = '123456:TEST-token_of_the_fake', username = 'talaria_bot', topics = true } = {}) {
    super();
    this.setMaxListeners(0);
    this.token = token;
    this.me = { id: 123456, is_bot: true, first_name: 'Talaria', username, can_join_groups: true,
      can_read_all_group_messages: false, supports_inline_queries: false, has_topics_enabled: topics };
    this.chats = new Map(); // id -> {chat, member, topics: Map, moved_to}
    this.messages = []; // everything in every chat, ours and theirs: {message_id, chat, from, text, entities, thread, deleted, edits}
    this.files = new Map(); // path -> bytes
    this.updates = []; // not confirmed yet
    this.calls = []; // {method, body, at}
    this.actions = [];
    this.commands = null;
    this.webhook = '';
    this.nextUpdate = 700000001;
    this.nextMessage = 1;
    this.faults = []; // {method, ...what, times}
    this.pollers = new Set();
    this.sockets = new Set();
    this.ignoresOffset = false;
  }

  // -- life ------------------------------------------------------------------------------------------------------
  async start(port = 0) {
    this.server = http.createServer((rq, rs) => this.#request(rq, rs));
    this.server.keepAliveTimeout = 30_000;
    this.server.on('connection', (s) => { this.sockets.add(s); s.once('close', () => this.sockets.delete(s)); });
    this.server.listen(port, '127.0.0.1');
    await once(this.server, 'listening');
    this.port = this.server.address().port;
    this.url = `http://127.0.0.1:${this.port}`;
    return this;
  }

  async stop() {
    for (const s of this.sockets) s.destroy();
    if (this.server?.listening) await new Promise((r) => this.server.close(r));
  }

  /** Resolves when the condition holds; looked at whenever anything happens here. */
  async until(condition, ms = 20_000) {
    const end = Date.now() + ms;
    for (let got; !(got = condition());) {
      const left = end - Date.now();
      if (left <= 0) throw new Error(`not within ${ms} ms: ${condition}; calls: ${this.calls.map((c) => c.method).join(' ').slice(-400)}`);
      await new Promise((resolve) => {
        const done = () => { clearTimeout(timer); this.off('news', done); resolve(); };
        const timer = setTimeout(done, Math.min(left, 100));
        this.once('news', done);
      });
    }
    return condition();
  }

  // -- what tests do -----------------------------------------------------------------------------------------------
  addChat(chat, { member = { status: 'member' }, moved_to } = {}) {
    this.chats.set(String(chat.id), { chat, member, topics: new Map(), moved_to });
    return this.chats.get(String(chat.id));
  }

  /** A user's topic; createForumTopic makes the bot's. */
  addTopic(chat, name, from = userOf(55)) {
    const c = this.#chat(chat);
    const m = this.#keep(c, { from, forum_topic_created: { name, icon_color: 7322096 } });
    m.message_thread_id = m.message_id;
    m.is_topic_message = true;
    c.topics.set(m.message_id, { name, opened: m, closed: false });
    return m.message_id;
  }

  /** Its user deletes a topic, with all that stands in it. */
  deleteTopic(chat, id) {
    const c = this.#chat(chat);
    c.topics.delete(Number(id));
    for (const m of this.messages) if (m.chat.id === c.chat.id && m.message_thread_id === Number(id)) m.deleted = true;
    this.#news();
  }

  /** How a topic takes words of the bot: 'any'; 'answers', only as an answer to a message in it; 'none', although people write there. */
  topicTakes(chat, id, takes) { this.#chat(chat).topics.get(Number(id)).takes = takes; }

  /** Somebody writes. extra: fields of the message; `update: false` only makes it. */
  say({ chat, from = Number(chat) > 0 ? Number(chat) : 55, text, thread, reply, edited = false, update = true, ...extra }) {
    if (!this.chats.has(String(chat)) && Number(chat) > 0) this.addChat({ id: Number(chat), type: 'private', first_name: `User ${chat}`, username: `user${chat}` });
    const c = this.#chat(chat);
    const topic = thread !== undefined ? c.topics.get(Number(thread)) : undefined;
    const m = this.#keep(c, {
      ...(c.chat.type === 'channel' ? { sender_chat: c.chat } : { from: typeof from === 'object' ? from : userOf(from) }),
      ...(text === undefined ? {} : { text, ...entitiesIn(text) }),
      ...(thread !== undefined ? { message_thread_id: Number(thread), is_topic_message: true } : {}),
      ...(reply ? { reply_to_message: this.#message(c, reply) } : topic ? { reply_to_message: topic.opened } : {}),
      ...extra,
    });
    const name = c.chat.type === 'channel' ? 'channel_post' : 'message';
    if (update) this.push({ [edited ? `edited_${name}` : name]: m });
    return m;
  }

  /** A file that somebody has sent: what a message says of it. Fetching it is a call of 'file'; gone: only its number is left. */
  file(bytes, { gone = false, ...fields } = {}) {
    const id = `AgAD-${this.files.size + 1}_x`, path = `documents/file_${this.files.size + 1}`;
    this.files.set(id, { path, bytes: Buffer.from(bytes), gone });
    return { file_id: id, file_unique_id: `u${id}`, file_size: Buffer.byteLength(bytes), ...fields };
  }

  /** An update for the bot. */
  push(update) {
    const u = { update_id: this.nextUpdate++, ...update };
    this.updates.push({ u, at: Date.now() });
    this.#news();
    for (const wake of [...this.pollers]) wake();
    return u.update_id;
  }

  /** Trouble for the next `times` calls of a method ('*': any): {status, retry_after, description, parameters} answers
   *  so; {cut: 'before'|'after'} ends the connection without an answer, before or after it is done; {half: true} only
   *  says that no more will be sent; {reset: true}; {hang: ms}; {html: status}; {torn: true} sends half of the answer. */
  trouble(method, what, times = 1) { this.faults.push({ method, what, left: times }); }

  /** Updates come again, although they were confirmed; in any order. */
  again(updates) { this.updates.push(...updates.map((u) => ({ u, at: Date.now() }))); for (const wake of [...this.pollers]) wake(); }

  shuffleNext() { this.shuffles = true; }

  called(method) { return this.calls.filter((c) => c.method === method); }
  in(chat, thread) { return this.messages.filter((m) => String(m.chat.id) === String(chat) && (thread === undefined || m.message_thread_id === Number(thread)) && !m.deleted); }
  ours(chat, thread) { return this.in(chat, thread).filter((m) => m.from?.id === this.me.id && m.text !== undefined); }
  topicsOf(chat) { return [...this.#chat(chat).topics].map(([id, t]) => ({ id, ...t })); }

  // -- the wire --------------------------------------------------------------------------------------------------------
  #news() { this.emit('news'); }

  async #request(rq, rs) {
    const parts = [];
    try { for await (const part of rq) parts.push(part); } catch { return; } // whoever asked is gone
    const [, token, method] = /^\/bot([^/]*)\/(\w+)/.exec(rq.url) ?? [];
    const file = /^\/file\/bot([^/]*)\/(.+)$/.exec(rq.url);
    if (file) return this.#sendFile(rs, file[1], file[2]);
    const body = bodyOf(rq, Buffer.concat(parts).toString(), rq.url);
    if (method === undefined) return answer(rs, 404, { ok: false, error_code: 404, description: 'Not Found' });
    if (token !== this.token) return answer(rs, 401, { ok: false, error_code: 401, description: 'Unauthorized' });
    this.calls.push({ method, body, at: Date.now() });
    const fault = this.#fault(method);
    this.#news();
    if (fault && await this.#troubled(fault, rq, rs, method, body)) return;
    await this.onCall?.(method, 'before');
    if (rs.destroyed) return;
    const outcome = await this.#outcome(method, body, rq);
    await this.onCall?.(method, 'after');
    if (!rs.destroyed) this.#finish(rs, outcome);
  }

  async #sendFile(rs, token, path) {
    const found = token === this.token && [...this.files.values()].find((f) => f.path === path && !f.gone);
    const fault = this.#fault('file');
    this.calls.push({ method: 'file', body: { path }, at: Date.now() });
    this.#news();
    await this.onCall?.('file', 'before');
    if (fault?.status || !found) { rs.writeHead(fault?.status ?? 404); return rs.end(); }
    rs.writeHead(200, { 'Content-Type': 'application/octet-stream', 'Content-Length': found.bytes.length });
    return rs.end(found.bytes);
  }

  #fault(method) {
    const i = this.faults.findIndex((f) => f.method === method || f.method === '*');
    if (i < 0) return undefined;
    const f = this.faults[i];
    if (--f.left <= 0) this.faults.splice(i, 1);
    return f.what;
  }

  /** True: that was the answer. */
  async #troubled(what, rq, rs, method, body) {
    if (what.hang) await new Promise((r) => setTimeout(r, what.hang));
    if (what.cut === 'after' || what.torn) {
      const [code, envelope] = await this.#outcome(method, body, rq);
      if (what.torn) {
        const all = JSON.stringify(envelope);
        rs.writeHead(code, { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(all) });
        await new Promise((r) => rs.write(all.slice(0, all.length / 2), r));
      }
    }
    if (what.cut || what.torn) rq.socket.destroy();
    else if (what.reset) rq.socket.resetAndDestroy();
    else if (what.half) rq.socket.end();
    else if (what.html) { rs.writeHead(what.html, { 'Content-Type': 'text/html' }); rs.end('<html><h1>Bad gateway</h1></html>'); }
    else if (what.status) {
      const parameters = what.parameters ?? (what.retry_after === undefined ? undefined : { retry_after: what.retry_after });
      const words = { 401: 'Unauthorized', 403: 'Forbidden: bot was blocked by the user', 409: 'Conflict: terminated by other getUpdates request; make sure that only one bot instance is running',
        429: `Too Many Requests: retry after ${what.retry_after}`, 500: 'Internal Server Error', 502: 'Bad Gateway', 503: 'Service Unavailable' };
      this.#finish(rs, [what.status, { ok: false, error_code: what.status, description: what.description ?? words[what.status] ?? 'Bad Request', ...(parameters ? { parameters } : {}) }]);
    } else return false;
    this.#news();
    return true;
  }

  #finish(rs, [code, envelope]) { answer(rs, code, envelope); this.#news(); }

  async #outcome(method, body, rq) {
    try {
      const fn = this[`do_${method}`];
      if (!fn) throw new Refusal(404, 'Not Found: method not found');
      return [200, { ok: true, result: await fn.call(this, body, rq) }];
    } catch (e) {
      if (!(e instanceof Refusal)) throw e;
      return [e.code, { ok: false, error_code: e.code, description: e.description, ...(e.parameters ? { parameters: e.parameters } : {}) }];
    }
  }

  // -- chats -------------------------------------------------------------------------------------------------------------
  #chat(id) {
    const c = this.chats.get(String(id));
    if (!c) throw bad('chat not found');
    if (c.moved_to) throw bad('group chat was upgraded to a supergroup chat', { migrate_to_chat_id: c.moved_to });
    return c;
  }

  #writable(id) {
    const c = this.#chat(id);
    if (c.member.status === 'kicked') throw new Refusal(403, `Forbidden: bot was kicked from the ${c.chat.type} chat`);
    if (c.member.status === 'left') throw new Refusal(403, `Forbidden: bot is not a member of the ${c.chat.type} chat`);
    if (c.blocked) throw new Refusal(403, 'Forbidden: bot was blocked by the user');
    if (c.member.can_send_messages === false) throw bad('not enough rights to send text messages to the chat');
    return c;
  }

  #keep(c, fields) {
    const m = { message_id: this.nextMessage++, date: Math.floor(Date.now() / 1000), chat: c.chat, ...fields };
    this.messages.push(m);
    this.#news();
    return m;
  }

  #message(c, id) {
    const m = this.messages.find((x) => x.chat.id === c.chat.id && x.message_id === Number(id) && !x.deleted);
    if (!m) throw bad('message not found');
    return m;
  }

  /** What a message answers; undefined: nothing. */
  #answered(c, { message_id, allow_sending_without_reply } = {}) {
    if (!message_id) return undefined;
    const m = this.messages.find((x) => x.chat.id === c.chat.id && x.message_id === Number(message_id) && !x.deleted);
    if (!m && !allow_sending_without_reply) throw bad('message to be replied not found');
    return m;
  }

  #thread(c, id, { general = false, answered } = {}) {
    if (id === undefined || id === null) return undefined;
    if (general && Number(id) === 1 && c.chat.is_forum) return 1;
    // Messages to General must not name it.
    if (!c.topics.has(Number(id))) throw bad('message thread not found');
    const { closed, takes = 'any' } = c.topics.get(Number(id));
    if (closed) throw bad('TOPIC_CLOSED');
    if (takes === 'none' || (takes === 'answers' && answered?.message_thread_id !== Number(id))) throw bad('message thread not found');
    return Number(id);
  }

  // -- methods --------------------------------------------------------------------------------------------------------------
  do_getMe() { return this.me; }
  do_setMyCommands({ commands }) {
    if (!Array.isArray(commands) || commands.length > 100) throw bad("can't parse BotCommands");
    for (const c of commands) {
      if (!/^[a-z0-9_]{1,32}$/.test(c.command)) throw bad('BOT_COMMAND_INVALID');
      if (!c.description || c.description.length > 256) throw bad('BOT_COMMAND_DESCRIPTION_INVALID');
    }
    this.commands = commands;
    return true;
  }
  do_getFile({ file_id }) {
    const f = this.files.get(file_id);
    if (!f) throw bad('wrong file_id or the file is temporarily unavailable');
    if (f.bytes.length > 20 << 20) throw bad('file is too big');
    return { file_id, file_unique_id: `u${file_id}`, file_size: f.bytes.length, file_path: f.path };
  }
  do_getMyCommands() { return this.commands ?? []; }
  do_deleteWebhook({ drop_pending_updates }) { this.webhook = ''; if (drop_pending_updates) this.updates = []; return true; }
  do_getWebhookInfo() { return { url: this.webhook, has_custom_certificate: false, pending_update_count: this.updates.length }; }

  async do_getUpdates({ offset = 0, limit = 100, timeout = 0, allowed_updates }, rq) {
    if (this.webhook) throw new Refusal(409, "Conflict: can't use getUpdates method while webhook is active; use deleteWebhook to delete the webhook first");
    for (const end of this.otherPoll ?? []) end();
    const now = Date.now();
    this.updates = this.updates.filter(({ u, at }) => (this.ignoresOffset || !(offset > 0) || u.update_id >= offset) && now - at < HOLD_MS);
    if (offset < 0) this.updates = this.updates.slice(offset);
    const wanted = () => this.updates.map(({ u }) => u).filter((u) => !allowed_updates?.length || allowed_updates.some((k) => k in u)).slice(0, Math.min(Number(limit), 100));
    let got = wanted();
    if (!got.length && Number(timeout) > 0) {
      await new Promise((resolve, reject) => {
        const done = () => { clearTimeout(timer); this.pollers.delete(wake); rq.socket.off('close', done); resolve(); };
        const wake = () => wanted().length && done();
        const timer = setTimeout(done, Number(timeout) * 1000);
        this.otherPoll = [() => { reject(new Refusal(409, 'Conflict: terminated by other getUpdates request; make sure that only one bot instance is running')); done(); }];
        this.pollers.add(wake);
        rq.socket.once('close', done);
      }).finally(() => { this.otherPoll = undefined; });
      got = wanted();
    }
    if (this.shuffles && got.length > 1) { this.shuffles = false; got = [...got].reverse(); }
    this.#news();
    return got;
  }

  #checkText(text, entities) {
    if (typeof text !== 'string' || !text.trim()) throw bad('message text is empty');
    if (text.length > 4096) throw bad('message is too long');
    for (const e of entities ?? []) {
      if (!/^(mention|bold|italic|underline|strikethrough|spoiler|blockquote|code|pre|text_link|text_mention)$/.test(e.type)) throw bad(`can't parse entities: unsupported type "${e.type}"`);
      if (!(e.offset >= 0) || !(e.length > 0) || e.offset + e.length > text.length) throw bad('ENTITY_BOUNDS_INVALID');
      if (e.type === 'text_link' && !URL.canParse(e.url)) throw bad('ENTITY_URL_INVALID');
    }
    for (const [i, a] of (entities ?? []).entries()) for (const b of entities.slice(i + 1)) {
      const [x, y] = a.offset <= b.offset ? [a, b] : [b, a];
      if (y.offset < x.offset + x.length && y.offset + y.length > x.offset + x.length) throw bad("can't parse entities: entities cross");
    }
  }

  do_sendMessage({ chat_id, text, entities, message_thread_id, reply_parameters }) {
    const c = this.#writable(chat_id);
    const answered = this.#answered(c, reply_parameters);
    const thread = this.#thread(c, message_thread_id, { answered });
    this.#checkText(text, entities);
    return this.#keep(c, { from: this.me, text, ...(entities?.length ? { entities } : {}),
      ...(thread ? { message_thread_id: thread, is_topic_message: true } : {}),
      ...(answered ? { reply_to_message: answered } : {}) });
  }

  do_editMessageText({ chat_id, message_id, text, entities }) {
    const c = this.#writable(chat_id);
    const m = this.messages.find((x) => x.chat.id === c.chat.id && x.message_id === Number(message_id) && !x.deleted);
    if (!m) throw bad('message to edit not found');
    if (m.from?.id !== this.me.id) throw bad("message can't be edited");
    this.#checkText(text, entities);
    if (m.text === text && JSON.stringify(m.entities ?? []) === JSON.stringify(entities ?? [])) throw bad('message is not modified: specified new message content and reply markup are exactly the same as a current content and reply markup of the message');
    (m.edits ??= []).push(m.text);
    delete m.entities;
    Object.assign(m, { text, edit_date: Math.floor(Date.now() / 1000) }, entities?.length ? { entities } : {});
    this.#news();
    const { edits, ...shown } = m;
    return shown;
  }

  do_deleteMessage({ chat_id, message_id }) {
    const c = this.#writable(chat_id);
    const m = this.messages.find((x) => x.chat.id === c.chat.id && x.message_id === Number(message_id) && !x.deleted);
    if (!m) throw bad('message to delete not found');
    return (m.deleted = true);
  }

  do_sendChatAction({ chat_id, action, message_thread_id }) {
    const c = this.#writable(chat_id);
    if (!['typing', 'upload_photo', 'upload_document'].includes(action)) throw bad('wrong parameter action in request');
    const thread = this.#thread(c, message_thread_id, { general: true });
    this.actions.push({ chat: c.chat.id, action, thread });
    return true;
  }

  do_getChat({ chat_id }) {
    const c = this.#chat(chat_id);
    return { ...c.chat, accent_color_id: 0, max_reaction_count: 11, ...(c.permissions ? { permissions: c.permissions } : {}) };
  }

  do_getChatMember({ chat_id, user_id }) {
    const c = this.#chat(chat_id);
    return Number(user_id) === this.me.id ? { user: this.me, ...c.member } : { user: userOf(Number(user_id)), status: 'member' };
  }

  // -- topics ------------------------------------------------------------------------------------------------------------------
  #topicsIn(chat_id) {
    const c = this.#writable(chat_id);
    if (c.chat.type === 'private' ? !this.me.has_topics_enabled : !c.chat.is_forum) throw bad('the chat is not a forum');
    if (c.chat.type !== 'private' && c.member.status === 'administrator' && c.member.can_manage_topics === false) throw bad('not enough rights to create a topic');
    return c;
  }
  #topic(chat_id, id) {
    const c = this.#topicsIn(chat_id);
    if (!c.topics.has(Number(id))) throw bad('TOPIC_ID_INVALID');
    return [c, c.topics.get(Number(id))];
  }
  do_createForumTopic({ chat_id, name }) {
    this.#topicsIn(chat_id);
    if (!name || name.length > 128) throw bad('TOPIC_TITLE_INVALID');
    const message_thread_id = this.addTopic(chat_id, name, this.me);
    return { message_thread_id, name, icon_color: 7322096 };
  }
  do_editForumTopic({ chat_id, message_thread_id, name }) { this.#topic(chat_id, message_thread_id)[1].name = name; return true; }
  do_closeForumTopic({ chat_id, message_thread_id }) { return (this.#topic(chat_id, message_thread_id)[1].closed = true); }
  do_deleteForumTopic({ chat_id, message_thread_id }) {
    this.#topic(chat_id, message_thread_id);
    this.deleteTopic(chat_id, message_thread_id);
    return true;
  }
}

/** Mentions and commands, as Telegram marks them. */
function entitiesIn(text) {
  const entities = [...text.matchAll(/(^|\s)(@\w{3,}|\/\w+(?:@\w+)?)/g)].map((m) => ({
    type: m[2][0] === '@' ? 'mention' : 'bot_command', offset: m.index + m[1].length, length: m[2].length }));
  return entities.length ? { entities } : {};
}

function bodyOf(rq, text, url) {
  const query = Object.fromEntries(new URL(url, 'http://x').searchParams);
  if (/json/.test(rq.headers['content-type'] ?? '')) { try { return { ...query, ...JSON.parse(text || '{}') }; } catch { return query; } }
  return { ...query, ...Object.fromEntries(new URLSearchParams(text)) };
}

function answer(rs, code, envelope) {
  const text = JSON.stringify(envelope);
  rs.writeHead(code, { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(text), ...(envelope.parameters?.retry_after ? { 'Retry-After': envelope.parameters.retry_after } : {}) });
  rs.end(text);
}

/** A server that ends with the test. */
export async function startTelegram(t, options) {
  const fake = await new FakeTelegram(options).start();
  t?.after(() => fake.stop());
  return fake;
}
