// A Discord on loopback: REST v10 and the gateway, as far as a bot needs them. discord.js judges in
// tests/platforms/discord.test.mjs whether it is faithful; the tests of our own connection stand on that.
//
//   const fake = await startDiscord(t);         t.after is used where there is a t
//   fake.api                                    what TALARIA_DISCORD_API_BASE is set to
//   fake.say({ channel, author, text })         somebody writes; author: { id, username, bot }
//   fake.user({ id }).roles = [...]             those of somebody, in every guild
//   fake.attach(name, bytes, fields)            a file for say({ attachments }), served without a token as the CDN does
//   fake.fault({ method, path, kind, times })   kind: '429' | '5xx' | 'cut' | 'lost' | status number
//   fake.onCall = async (what, phase) => {}     'before' it is done, 'after' it and before the answer
//   POST /_control/<function> with its argument as JSON does the same from another process.
import http from 'node:http';
import { WebSocketServer } from 'ws';

const EPOCH = 1420070400000n;
const INTENTS = { guilds: 1, guildMessages: 1 << 9, directMessages: 1 << 12, content: 1 << 15 };
const THREADS = [10, 11, 12];
const BOT = { id: '1000', username: 'talaria', discriminator: '0000', global_name: null, avatar: null, bot: true };

const error = (status, code, message) => Object.assign(new Error(message), { status, code });
const unknownChannel = () => error(404, 10003, 'Unknown Channel');

export class Discord {
  constructor({ token = 'fake-token', interval = 41250 } = {}) {
    Object.assign(this, {
      token, interval, bot: { ...BOT }, application: '2000', guilds: new Map(), channels: new Map(), users: new Map(),
      attached: new Map(), nonces: new Map(), nonceMs: 300000, commands: null, interactions: new Map(), sessions: new Map(), sockets: new Set(),
      faults: [], requests: [], identifies: [], resumes: [], heartbeats: 0, starts: { total: 1000, remaining: 1000, reset_after: 14400000, max_concurrency: 1 },
      ack: true, hello: true, resumable: true, contentAllowed: true, limits: {}, buckets: new Map(), last: 0n, count: 0n, held: null, closes: [],
    });
    this.users.set(this.bot.id, this.bot);
    this.guild({ id: '500', name: 'House' });
    this.channel({ id: '600', guild: '500', name: 'general' });
  }

  // -- what there is ---------------------------------------------------------------------------

  /** Grows with time, like the real ones. */
  snowflake() {
    const next = ((BigInt(Date.now()) - EPOCH) << 22n) + (this.count++ & 0xfffn);
    return String(this.last = next > this.last ? next : this.last + 1n);
  }

  guild({ id, name }) {
    this.guilds.set(id, { id, name, owner_id: '55' });
    return this.guilds.get(id);
  }

  channel({ id = this.snowflake(), guild = null, type = 0, name = 'channel', parent = null, forbid = [], recipient = null }) {
    const c = { id, type, guild_id: guild ?? undefined, name, parent_id: parent, last_message_id: null, forbid, messages: [], members: new Set() };
    if (type === 1) c.recipients = [this.user({ id: recipient })];
    this.channels.set(id, c);
    return this.seen(c);
  }

  user({ id, username = `user${id}`, bot = false }) {
    if (!this.users.has(id)) this.users.set(id, { id, username, discriminator: '0', global_name: username, avatar: null, bot });
    return this.users.get(id);
  }

  /** A channel as the API shows it. */
  seen(c) {
    const base = { id: c.id, type: c.type, last_message_id: c.last_message_id, flags: 0 };
    if (c.type === 1) return { ...base, recipients: c.recipients };
    Object.assign(base, { guild_id: c.guild_id, name: c.name, parent_id: c.parent_id });
    if (!THREADS.includes(c.type)) return { ...base, position: 0, permission_overwrites: [], topic: null, nsfw: false, rate_limit_per_user: 0 };
    return { ...base, owner_id: c.owner_id, thread_metadata: { archived: false, auto_archive_duration: c.archive ?? 1440, archive_timestamp: new Date().toISOString(), locked: false },
      message_count: c.messages.filter((m) => m.id !== c.id).length, member_count: c.members.size, rate_limit_per_user: 0, total_message_sent: c.messages.length };
  }

  inGuild(id, threads) {
    return [...this.channels.values()].filter((c) => c.guild_id === id && THREADS.includes(c.type) === threads).map((c) => this.seen(c));
  }

  ourMember(guild) { return { user: this.bot, roles: this.guilds.get(guild).ours ?? [] }; }

  /** The bot has these roles in the guild from now on; `silent`: it is not told. */
  roles(guild, roles, { silent = false } = {}) {
    this.guilds.get(guild).ours = roles;
    if (!silent) this.dispatch('GUILD_MEMBER_UPDATE', { guild_id: guild, ...this.ourMember(guild) }, 0);
  }

  rolesOf(user) { return this.users.get(user)?.roles ?? []; }

  guildCreate(g) {
    const member = { ...this.ourMember(g.id), joined_at: '2026-01-01T00:00:00Z', deaf: false, mute: false, flags: 0 };
    return { ...g, unavailable: false, channels: this.inGuild(g.id, false), threads: this.inGuild(g.id, true), members: [member], member_count: 2,
      roles: [{ id: g.id, name: '@everyone', permissions: '137439341632', position: 0, color: 0, hoist: false, managed: false, mentionable: false, flags: 0 }],
      emojis: [], stickers: [], features: [], voice_states: [], presences: [], stage_instances: [], guild_scheduled_events: [], joined_at: '2026-01-01T00:00:00Z',
      large: false, premium_tier: 0, verification_level: 0, default_message_notifications: 0, explicit_content_filter: 0, mfa_level: 0, nsfw_level: 0,
      system_channel_flags: 0, preferred_locale: 'en-US', afk_timeout: 300, afk_channel_id: null, system_channel_id: null };
  }

  // -- what people do --------------------------------------------------------------------------

  /** Somebody writes. `silent`: nobody is told (it was missed). Returns the message. */
  say({ channel, author = { id: '55', username: 'ann' }, text, reply = null, type = 0, webhook = null, silent = false, mention = false, attachments = [] }) {
    const c = this.channels.get(channel);
    const content = mention ? `<@${this.bot.id}> ${text}` : text;
    const m = this.message(c, this.user(author), { content });
    m.attachments = attachments;
    Object.assign(m, { type: reply ? 19 : type }, webhook ? { webhook_id: webhook } : {});
    if (reply) {
      m.message_reference = { message_id: reply, channel_id: channel };
      m.referenced_message = c.messages.find((x) => x.id === reply) ?? null;
    }
    if (!silent) this.tell(c, m);
    return m;
  }

  attach(name, bytes, fields = {}) {
    const id = this.snowflake(), at = `/attachments/${id}/${encodeURIComponent(name)}`;
    this.attached.set(at, Buffer.from(bytes));
    return { id, filename: name, size: Buffer.byteLength(bytes), content_type: 'application/octet-stream', url: `${this.origin}${at}?ex=1&hm=2`, ...fields };
  }

  message(c, author, { content = '', nonce }) {
    const ids = [...content.matchAll(/<@!?(\d+)>/g)].map((x) => x[1]);
    const m = { id: this.snowflake(), channel_id: c.id, author, content, timestamp: new Date().toISOString(), edited_timestamp: null, tts: false,
      mention_everyone: false, mentions: ids.filter((id) => this.users.has(id)).map((id) => this.users.get(id)), mention_roles: [...content.matchAll(/<@&(\d+)>/g)].map((x) => x[1]), attachments: [], embeds: [],
      pinned: false, type: 0, ...(nonce === undefined ? {} : { nonce }) };
    c.messages.push(m);
    c.last_message_id = m.id;
    return m;
  }

  tell(c, m) {
    const extra = c.guild_id ? { guild_id: c.guild_id, member: { roles: this.rolesOf(m.author.id), joined_at: '2026-01-01T00:00:00Z', deaf: false, mute: false, flags: 0 } } : {};
    this.dispatch('MESSAGE_CREATE', { ...m, ...extra }, c.guild_id ? INTENTS.guildMessages : INTENTS.directMessages);
  }

  /** Somebody uses a slash command. */
  slash({ channel, author = { id: '55', username: 'ann' }, name, text }) {
    const c = this.channels.get(channel), user = this.user(author), id = this.snowflake(), token = `tok-${id}`;
    this.interactions.set(id, { id, token, at: Date.now(), answer: null });
    this.dispatch('INTERACTION_CREATE', { id, application_id: this.application, type: 2, token, version: 1, channel_id: c.id, channel: this.seen(c), locale: 'en-US',
      data: { id: '1', type: 1, name, ...(text ? { options: [{ type: 3, name: 'text', value: text }] } : {}) },
      ...(c.guild_id ? { guild_id: c.guild_id, member: { user, roles: this.rolesOf(user.id), permissions: '0', flags: 0 } } : { user }),
      app_permissions: '0', entitlements: [], authorizing_integration_owners: {}, context: 0, attachment_size_limit: 1000 }, 0);
    return id;
  }

  // -- what tests look at ------------------------------------------------------------------------

  messages({ channel }) { return this.channels.get(channel)?.messages ?? []; }
  ours({ channel }) { return this.messages({ channel }).filter((m) => m.author.id === this.bot.id); }
  threads({ parent }) { return [...this.channels.values()].filter((c) => c.parent_id === parent && THREADS.includes(c.type)).map((c) => ({ ...this.seen(c), members: [...c.members] })); }
  asked({ method, path }) { return this.requests.filter((r) => (!method || r.method === method) && new RegExp(path).test(r.path)); }
  state() { return { identifies: this.identifies.length, resumes: this.resumes.length, heartbeats: this.heartbeats, sockets: this.sockets.size, closes: this.closes, commands: this.commands, interactions: [...this.interactions.values()] }; }

  // -- trouble -------------------------------------------------------------------------------------

  /** The next `times` requests that match fare so. */
  fault({ method = '', path = '', kind, times = 1, after = 1, global = false }) {
    this.faults.push({ method, path: new RegExp(path), kind, times, after, global });
  }

  set(values) { Object.assign(this, values); } // ack, hello, resumable, contentAllowed, token, limits, interval, ...

  /** Cuts every gateway connection: without a word, or with a close code. `forget`: no session can be resumed. */
  cut({ code = null, forget = false } = {}) {
    for (const s of this.sockets) code ? s.close(code) : s.terminate();
    if (forget) this.sessions.clear();
  }

  /** Says op 7 (reconnect) or op 9 (invalid session). */
  op({ op, d = null }) {
    for (const s of this.sockets) s.send(JSON.stringify({ op, d, s: null, t: null }));
    if (op === 9 && !d) this.sessions.clear();
  }

  /** Bytes that are no text take a number of every session, like an event. */
  poison({ bytes }) {
    for (const session of this.sessions.values()) {
      const frame = { s: ++session.seq, raw: Buffer.from(bytes) };
      session.events.push(frame);
      this.deliver(session, frame);
    }
  }

  /** Stops reading and writing without closing: the other side sees a connection that is dead. */
  freeze() { for (const s of this.sockets) { s.frozen = true; s._socket.pause(); } }

  /** Keeps events back until release(), which sends them in that order ('reverse', 'twice' or as they are). */
  hold() { this.held = []; }
  release({ how = 'plain' } = {}) {
    const held = this.held;
    this.held = null;
    for (const [session, frame] of how === 'reverse' ? held.reverse() : how === 'twice' ? held.flatMap((x) => [x, x]) : held) this.deliver(session, frame);
  }

  // -- the gateway ---------------------------------------------------------------------------------

  dispatch(t, d, intent) {
    for (const session of this.sessions.values()) {
      if (intent && !(session.intents & intent)) continue;
      const blind = t === 'MESSAGE_CREATE' && d.guild_id && !(session.intents & INTENTS.content) && !d.mentions.some((u) => u.id === this.bot.id) && d.author.id !== this.bot.id;
      const frame = { op: 0, t, s: ++session.seq, d: blind ? { ...d, content: '' } : d };
      session.events.push(frame);
      if (this.held) this.held.push([session, frame]);
      else this.deliver(session, frame);
    }
  }

  deliver(session, frame) {
    if (session.socket?.readyState === 1 && !session.socket.frozen) session.socket.send(frame.raw ?? JSON.stringify(frame), { binary: false });
  }

  accept(socket, request) {
    const url = new URL(request.url, 'http://x');
    this.sockets.add(socket);
    socket.on('error', () => {});
    socket.on('close', (code) => { this.sockets.delete(socket); this.closes.push(code); });
    if (url.searchParams.get('v') !== '10' || url.searchParams.get('encoding') !== 'json') return socket.close(4012);
    socket.on('message', (bytes) => {
      let frame;
      try { frame = JSON.parse(bytes); } catch { return socket.close(4002); }
      if (bytes.length > 4096) return socket.close(4002);
      this.frame(socket, frame);
    });
    if (this.hello) socket.send(JSON.stringify({ op: 10, d: { heartbeat_interval: this.interval }, s: null, t: null }));
    return undefined;
  }

  frame(socket, { op, d }) {
    if (op === 1) {
      this.heartbeats++;
      if (this.ack) socket.send(JSON.stringify({ op: 11, d: null, s: null, t: null }));
    } else if (op === 2) this.identify(socket, d);
    else if (op === 6) this.resume(socket, d);
    else if (op < 0 || op > 31) socket.close(4001);
    else if (!socket.session) socket.close(4003);
  }

  identify(socket, d) {
    this.identifies.push({ intents: d.intents, properties: d.properties });
    if (socket.session) return socket.close(4005);
    if (d.token !== this.token) return socket.close(4004);
    if (!Number.isInteger(d.intents)) return socket.close(4013);
    if (d.intents & INTENTS.content && !this.contentAllowed) return socket.close(4014);
    this.starts.remaining--;
    const id = `session-${this.snowflake()}`;
    socket.session = { id, seq: 0, events: [], intents: d.intents, socket };
    this.sessions.set(id, socket.session);
    const only = (t, body) => { const f = { op: 0, t, s: ++socket.session.seq, d: body }; socket.session.events.push(f); this.deliver(socket.session, f); };
    only('READY', { v: 10, user: this.bot, session_id: id, resume_gateway_url: this.gateway, session_type: 'normal', private_channels: [], relationships: [], user_settings: {},
      guilds: [...this.guilds.keys()].map((g) => ({ id: g, unavailable: true })), application: { id: this.application, flags: 565248 }, shard: [0, 1] });
    for (const g of this.guilds.values()) only('GUILD_CREATE', this.guildCreate(g));
    return undefined;
  }

  resume(socket, d) {
    this.resumes.push({ session_id: d.session_id, seq: d.seq });
    if (d.token !== this.token) return socket.close(4004);
    const session = this.sessions.get(d.session_id);
    if (!session || !this.resumable) return socket.send(JSON.stringify({ op: 9, d: false, s: null, t: null }));
    if (d.seq > session.seq) return socket.close(4007);
    session.socket = socket;
    socket.session = session;
    for (const frame of session.events.filter((f) => f.s > d.seq)) this.deliver(session, frame);
    const resumed = { op: 0, t: 'RESUMED', s: ++session.seq, d: {} };
    session.events.push(resumed);
    return this.deliver(session, resumed);
  }

  // -- REST ------------------------------------------------------------------------------------------

  /** Counts the request in its bucket; throws where it is one too many. */
  bucket(request) {
    const name = Object.keys(this.limits).find((k) => new RegExp(k).test(`${request.method} ${request.path}`));
    if (!name) return {};
    const { limit, ms } = this.limits[name], now = Date.now();
    let b = this.buckets.get(name);
    if (!b || b.until <= now) this.buckets.set(name, b = { used: 0, until: now + ms });
    const left = (b.until - now) / 1000;
    const headers = { 'X-RateLimit-Limit': limit, 'X-RateLimit-Remaining': Math.max(0, limit - b.used - 1), 'X-RateLimit-Reset': b.until / 1000, 'X-RateLimit-Reset-After': left.toFixed(3), 'X-RateLimit-Bucket': Buffer.from(name).toString('hex').slice(0, 32) };
    if (b.used++ >= limit) throw Object.assign(error(429, 0, 'You are being rate limited.'), { retry: left, headers: { ...headers, 'X-RateLimit-Scope': 'user' } });
    return headers;
  }

  async serve(req, res) {
    const parts = [];
    try { for await (const part of req) parts.push(part); } catch { return undefined; } // whoever asked is gone
    const url = new URL(req.url, 'http://x'), raw = Buffer.concat(parts).toString();
    if (url.pathname.startsWith('/_control/')) return this.control(res, url.pathname.slice(10), raw);
    const request = { method: req.method, path: url.pathname.replace(/^\/api\/v10/, ''), query: url.searchParams, headers: req.headers, raw };
    this.requests.push(request);
    const fault = this.faults.find((f) => f.times > 0 && (!f.method || f.method === req.method) && f.path.test(request.path));
    if (fault) fault.times--;
    if (fault?.kind === 'cut') return res.socket.destroy();
    if (this.attached.has(request.path) && req.method === 'GET' && !fault) {
      await this.onCall?.(`GET ${request.path}`, 'before');
      return res.writeHead(200, { 'Content-Type': 'application/octet-stream' }).end(this.attached.get(request.path));
    }
    let status = 200, body, headers = {};
    try {
      if (fault?.kind === '429') throw Object.assign(error(429, 0, 'You are being rate limited.'), { retry: fault.after, global: fault.global });
      if (fault?.kind === '5xx') throw error(502, 0, 'Bad Gateway');
      if (typeof fault?.kind === 'number') throw error(fault.kind, 0, 'switched on');
      headers = this.bucket(request);
      request.body = raw ? JSON.parse(raw) : {};
      await this.onCall?.(`${request.method} ${request.path}`, 'before');
      [status, body] = this.answer(request);
      await this.onCall?.(`${request.method} ${request.path}`, 'after');
    } catch (e) {
      if (!e.status) throw e;
      ({ status } = e);
      headers = { ...e.headers };
      body = e.status === 429 ? { message: e.message, retry_after: e.retry, global: !!e.global } : { message: e.message, code: e.code };
      if (e.status === 429) Object.assign(headers, { 'Retry-After': Math.ceil(e.retry), 'X-RateLimit-Scope': e.global ? 'global' : 'user', ...(e.global ? { 'X-RateLimit-Global': 'true' } : {}) });
    }
    request.status = status;
    if (fault?.kind === 'lost') return res.socket.end('HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{'); // it breaks in the middle
    res.writeHead(status, { ...(body === undefined ? {} : { 'Content-Type': 'application/json' }), ...headers });
    return res.end(body === undefined ? undefined : JSON.stringify(body));
  }

  control(res, name, raw) {
    const value = this[name](raw ? JSON.parse(raw) : {});
    res.writeHead(200, { 'Content-Type': 'application/json' });
    res.end(JSON.stringify(value ?? null));
  }

  answer(r) {
    const open = /^\/interactions\/(\d+)\/([^/]+)\/callback$/.exec(r.path);
    if (open) return this.callback(open[1], open[2], r.body);
    const edit = /^\/webhooks\/(\d+)\/([^/]+)\/messages\/@original$/.exec(r.path);
    if (edit && r.method === 'PATCH') return this.answerAgain(edit[1], edit[2], r.body);
    if (r.headers.authorization !== `Bot ${this.token}`) throw error(401, 0, '401: Unauthorized');
    for (const [method, pattern, fn] of ROUTES) {
      const m = r.method === method && new RegExp(`^${pattern.replaceAll(':id', '(\\d+)')}$`).exec(r.path);
      if (m) return fn(this, r, ...m.slice(1));
    }
    throw error(404, 0, '404: Not Found');
  }

  /** The channel, where we may do that there. */
  may(id, what) {
    const c = this.channels.get(id);
    if (!c) throw unknownChannel();
    const rule = c.forbid.length ? c : this.channels.get(c.parent_id) ?? c;
    if (c.forbid.includes('view')) throw error(403, 50001, 'Missing Access');
    if (what && rule === c && c.forbid.includes(what)) throw error(403, 50013, 'Missing Permissions');
    if (what === 'send' && THREADS.includes(c.type) && this.channels.get(c.parent_id)?.forbid.includes('send_in_threads')) throw error(403, 50013, 'Missing Permissions');
    return c;
  }

  post(id, body) {
    const c = this.may(id, 'send'), content = body.content ?? '', same = `${id} ${body.nonce}`, before = this.nonces.get(same);
    if (!content.length) throw error(400, 50006, 'Cannot send an empty message');
    if ([...content].length > 2000) throw error(400, 50035, 'Invalid Form Body');
    if (body.nonce !== undefined && String(body.nonce).length > 25) throw error(400, 50035, 'Invalid Form Body');
    if ([4, 13, 15, 16].includes(c.type)) throw error(400, 50008, 'Cannot send messages in a non-text channel');
    if (body.message_reference?.message_id && body.message_reference.fail_if_not_exists !== false && !c.messages.some((m) => m.id === body.message_reference.message_id)) throw error(400, 50035, 'Invalid Form Body');
    if (body.enforce_nonce && before && Date.now() - before.at < this.nonceMs) return [200, before.m];
    const m = this.message(c, this.bot, body);
    m.allowed_mentions = undefined;
    Object.defineProperty(m, 'asked', { value: body, enumerable: false });
    if (body.nonce !== undefined) this.nonces.set(same, { m, at: Date.now() });
    this.tell(c, m);
    return [200, m];
  }

  thread(parent, { id, type, name, auto_archive_duration: archive }) {
    if (!name || [...name].length > 100) throw error(400, 50035, 'Invalid Form Body');
    this.channel({ id, guild: parent.guild_id, type, name, parent: parent.id });
    const c = this.channels.get(id);
    Object.assign(c, { owner_id: this.bot.id, archive });
    c.members.add(this.bot.id);
    this.dispatch('THREAD_CREATE', { ...this.seen(c), newly_created: true }, INTENTS.guilds);
    return c;
  }

  openThread(parentId, body) {
    const parent = this.may(parentId, 'thread'), forum = [15, 16].includes(parent.type);
    if (!forum && ![0, 5].includes(parent.type)) throw error(400, 50024, 'Cannot execute action on this channel type');
    if (forum && !body.message) throw error(400, 50035, 'Invalid Form Body');
    const c = this.thread(parent, { ...body, id: this.snowflake(), type: forum ? 11 : body.type ?? 12 });
    if (!forum) return [201, this.seen(c)];
    const m = this.message(c, this.bot, body.message);
    m.id = c.id; // the starter of a post has the post's own number
    parent.last_message_id = c.id;
    return [201, { ...this.seen(c), message: m }];
  }

  threadFrom(parentId, messageId, body) {
    const parent = this.may(parentId, 'thread');
    if (![0, 5].includes(parent.type)) throw error(400, 50024, 'Cannot execute action on this channel type');
    if (!parent.messages.some((m) => m.id === messageId)) throw error(404, 10008, 'Unknown Message');
    if (this.channels.has(messageId)) throw error(400, 160004, 'A thread has already been created for this message');
    return [201, this.seen(this.thread(parent, { ...body, id: messageId, type: parent.type === 5 ? 10 : 11 }))];
  }

  callback(id, token, body) {
    const i = this.interactions.get(id);
    if (!i || i.token !== token || Date.now() - i.at > 3000) throw error(404, 10062, 'Unknown interaction');
    if (i.answer) throw error(400, 40060, 'Interaction has already been acknowledged.');
    Object.assign(i, { answer: body, ms: Date.now() - i.at });
    return [204];
  }

  /** Instead of what the callback said. */
  answerAgain(application, token, body) {
    const i = [...this.interactions.values()].find((x) => x.token === token && x.answer);
    if (!i || application !== this.application) throw error(404, 10015, 'Unknown Webhook');
    i.said = body.content;
    return [200, { id: i.id, content: body.content }];
  }
}

const after = (c, q) => c.messages.filter((m) => !q.get('after') || BigInt(m.id) > BigInt(q.get('after')));

const ROUTES = [
  ['GET', '/gateway/bot', (f) => [200, { url: f.gateway, shards: f.shards ?? 1, session_start_limit: f.starts }]],
  ['GET', '/users/@me', (f) => [200, f.bot]],
  ['GET', '/guilds/:id/members/:id', (f, r, guild, user) => [200, user === f.bot.id ? f.ourMember(guild) : { user: f.user({ id: user }), roles: f.rolesOf(user) }]],
  ['POST', '/users/@me/channels', (f, r) => {
    const old = [...f.channels.values()].find((c) => c.type === 1 && c.recipients[0].id === r.body.recipient_id);
    return [200, old ? f.seen(old) : f.channel({ type: 1, recipient: r.body.recipient_id })];
  }],
  ['GET', '/channels/:id', (f, r, id) => [200, f.seen(f.may(id))]],
  ['DELETE', '/channels/:id', (f, r, id) => {
    const c = f.may(id, 'manage');
    f.channels.delete(id);
    f.dispatch(THREADS.includes(c.type) ? 'THREAD_DELETE' : 'CHANNEL_DELETE', f.seen(c), INTENTS.guilds);
    return [200, f.seen(c)];
  }],
  ['GET', '/channels/:id/messages', (f, r, id) => {
    const c = f.may(id), limit = Number(r.query.get('limit') ?? 50);
    // The newest where nothing is said; behind `after` the oldest; either way the newest stands first.
    return [200, (r.query.get('after') ? after(c, r.query).slice(0, limit) : c.messages.slice(-limit)).reverse()];
  }],
  ['GET', '/channels/:id/messages/:id', (f, r, id, m) => {
    const found = f.may(id).messages.find((x) => x.id === m);
    if (!found) throw error(404, 10008, 'Unknown Message');
    return [200, found];
  }],
  ['POST', '/channels/:id/messages', (f, r, id) => f.post(id, r.body)],
  ['DELETE', '/channels/:id/messages/:id', (f, r, id, m) => {
    const c = f.channels.get(id), at = c?.messages.findIndex((x) => x.id === m) ?? -1;
    if (at < 0) throw error(404, 10008, 'Unknown Message');
    c.messages.splice(at, 1);
    return [204];
  }],
  ['PATCH', '/channels/:id/messages/:id', (f, r, id, m) => {
    const found = f.may(id).messages.find((x) => x.id === m);
    if (!found) throw error(404, 10008, 'Unknown Message');
    if (found.author.id !== f.bot.id) throw error(403, 50005, 'Cannot edit a message authored by another user');
    if ([...(r.body.content ?? '')].length > 2000) throw error(400, 50035, 'Invalid Form Body');
    Object.assign(found, { content: r.body.content ?? found.content, edited_timestamp: new Date().toISOString() });
    return [200, found];
  }],
  ['POST', '/channels/:id/typing', (f, r, id) => { f.may(id, 'send'); return [204]; }],
  ['POST', '/channels/:id/threads', (f, r, id) => f.openThread(id, r.body)],
  ['POST', '/channels/:id/messages/:id/threads', (f, r, id, m) => f.threadFrom(id, m, r.body)],
  ['PUT', '/channels/:id/thread-members/:id', (f, r, id, user) => {
    const c = f.may(id);
    if (!THREADS.includes(c.type)) throw error(400, 50024, 'Cannot execute action on this channel type');
    if (!f.users.has(user)) throw error(404, 10013, 'Unknown User');
    c.members.add(user);
    return [204];
  }],
  ['GET', '/channels/:id/thread-members', (f, r, id) => [200, [...f.may(id).members].map((user) => ({ id, user_id: user, join_timestamp: '2026-01-01T00:00:00Z', flags: 0 }))]],
  ['GET', '/guilds/:id', (f, r, id) => {
    if (!f.guilds.has(id)) throw error(404, 10004, 'Unknown Guild');
    return [200, f.guildCreate(f.guilds.get(id))];
  }],
  ['GET', '/guilds/:id/channels', (f, r, id) => [200, f.inGuild(id, false)]],
  ['GET', '/guilds/:id/threads/active', (f, r, id) => [200, { threads: f.inGuild(id, true), members: [] }]],
  ['PUT', '/applications/:id/commands', (f, r, id) => {
    if (id !== f.application) throw error(403, 20012, 'You are not authorized to perform this action on this application');
    f.commands = r.body;
    return [200, r.body.map((c, i) => ({ id: String(9000 + i), application_id: id, version: '1', type: 1, ...c }))];
  }],
];

export async function startDiscord(t, options = {}) {
  const fake = new Discord(options);
  const server = http.createServer((req, res) => fake.serve(req, res).catch((e) => { res.writeHead(500); res.end(String(e.stack)); }));
  const gateway = new WebSocketServer({ server });
  gateway.on('connection', (socket, request) => fake.accept(socket, request));
  await new Promise((resolve) => { server.listen(options.port ?? 0, '127.0.0.1', resolve); });
  const { port } = server.address();
  Object.assign(fake, { port, origin: `http://127.0.0.1:${port}`, api: `http://127.0.0.1:${port}/api/v10`, gateway: `ws://127.0.0.1:${port}` });
  fake.stop = async () => {
    fake.cut();
    gateway.close();
    server.closeAllConnections();
    await new Promise((resolve) => { server.close(resolve); });
  };
  t?.after(fake.stop);
  return fake;
}

// On its own: prints where it listens, and ends with its standard input.
if (import.meta.url === `file://${process.argv[1]}`) {
  const fake = await startDiscord(null, { port: Number(process.argv[2] ?? 0) });
  console.log(fake.origin);
  process.stdin.on('end', () => process.exit(0)).resume();
}
