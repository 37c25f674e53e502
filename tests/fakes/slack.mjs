// As much of Slack as a bot meets, on loopback, with the troubles that the servers of others do not have: patience,
// errors, lost answers, envelopes twice and out of order, sockets that close or die. One team, forms in, JSON out.
import { once } from 'node:events';
import { createServer } from 'node:http';
import { WebSocketServer } from 'ws';

export const team = 'T1', me = 'UBOT';

const words = (error) => ({ ok: false, error });

/** channels: { C1: {...} }; ends with the test. */
export async function fakeSlack(t, { channels = {} } = {}) {
  const fake = {
    calls: [], messages: [], files: new Map(), sockets: [], acked: [], troubles: [], tokens: new Set(['xoxb-1', 'xapp-1']),
    channels: { C1: { id: 'C1', name: 'general', is_member: true }, C2: { id: 'C2', name: 'closed', is_member: false },
      D1: { id: 'D1', is_im: true, user: 'U1' }, ...channels },
  };
  let clock = 1_800_000_000, envelopes = 0;
  const next = () => `${clock}.${String(++envelopes).padStart(6, '0')}`;
  const find = (p) => fake.messages.find((m) => m.channel === p.channel && m.ts === p.ts);
  const shown = (m, p) => (p.include_all_metadata === 'true' ? m : { ...m, metadata: undefined });

  const methods = {
    'auth.test': () => ({ ok: true, user_id: me, user: 'talaria', team_id: team, bot_id: 'B1' }),
    'apps.connections.open': () => ({ ok: true, url: `ws://127.0.0.1:${fake.port}/link?ticket=${next()}` }),
    'conversations.open': (p) => (p.users === 'U1' ? { ok: true, channel: { id: 'D1' } } : words('user_not_found')),
    'conversations.info': (p) => (fake.channels[p.channel] ? { ok: true, channel: fake.channels[p.channel] } : words('channel_not_found')),
    'chat.postMessage': (p) => {
      if (!fake.channels[p.channel]) return words('channel_not_found');
      if (fake.channels[p.channel].is_member === false) return words('not_in_channel');
      const m = { channel: p.channel, ts: next(), thread_ts: p.thread_ts, text: p.text, user: me, bot_id: 'B1', metadata: p.metadata && JSON.parse(p.metadata) };
      fake.messages.push(m);
      return { ok: true, channel: m.channel, ts: m.ts };
    },
    'chat.update': (p) => (find(p) ? (find(p).text = p.text, { ok: true, ts: p.ts }) : words('message_not_found')),
    'chat.delete': (p) => { const m = find(p); fake.messages = fake.messages.filter((x) => x !== m); return m ? { ok: true } : words('message_not_found'); },
    'conversations.history': (p) => ({ ok: true, messages: fake.messages.filter((m) => m.channel === p.channel && !m.thread_ts).reverse().map((m) => shown(m, p)) }),
    'conversations.replies': (p) => ({ ok: true, messages: fake.messages.filter((m) => m.channel === p.channel && (m.thread_ts === p.ts || m.ts === p.ts)).map((m) => shown(m, p)) }),
    'assistant.threads.setStatus': () => words('missing_scope'),
  };

  /** As files.slack.com does: with the bot's token, else a page where people log in. Troubles: of the method 'file'. */
  async function sendFile(request, response, token) {
    const trouble = fake.troubles.find((x) => x.method === 'file' && x.times-- > 0);
    fake.calls.push({ method: 'file', p: { path: request.url }, token });
    if (trouble?.before) return trouble.before(response);
    await fake.onCall?.('file', 'before');
    if (!fake.files.has(request.url)) return response.writeHead(404).end();
    if (!fake.tokens.has(token) || fake.noFiles) return response.writeHead(200, { 'Content-Type': 'text/html; charset=utf-8' }).end('<html>log in</html>');
    return response.writeHead(200, { 'Content-Type': 'application/octet-stream' }).end(fake.files.get(request.url));
  }

  const server = createServer(async (request, response) => {
    let body = '';
    try { for await (const piece of request) body += piece; } catch { return; } // whoever asked is gone
    const method = request.url.replace(/^\/api\//, ''), p = Object.fromEntries(new URLSearchParams(body));
    const token = /^Bearer (.*)$/.exec(request.headers.authorization ?? '')?.[1];
    if (method.startsWith('/files-pri/')) return sendFile(request, response, token);
    const trouble = fake.troubles.find((x) => x.method === method && x.times-- > 0);
    fake.calls.push({ method, p, token });
    if (trouble?.before) return trouble.before(response);
    await fake.onCall?.(method, 'before');
    const known = fake.tokens.has(token), fits = (token ?? '').startsWith(method.startsWith('apps.') ? 'xapp-' : 'xoxb-');
    const answer = !known ? words(fake.refusal ?? 'invalid_auth') : !fits ? words('not_allowed_token_type')
      : methods[method] ? methods[method](p) : words('unknown_method');
    if (trouble?.after) return trouble.after(response);
    await fake.onCall?.(method, 'after');
    response.setHeader('Content-Type', 'application/json');
    response.end(JSON.stringify(answer));
  });

  /** The next `times` calls of a method: before it is done, or (lost) after it. */
  fake.trouble = (method, { status = 500, headers = {}, body = '', lost = false, times = 1 } = {}) => {
    const act = lost ? (r) => r.destroy() : (r) => { r.writeHead(status, headers); r.end(body); };
    fake.troubles.push({ method, times, [lost ? 'after' : 'before']: act });
  };

  const wss = new WebSocketServer({ server, path: '/link' });
  wss.on('connection', (ws) => {
    fake.sockets.push(ws);
    ws.on('message', (m) => fake.acked.push(JSON.parse(m).envelope_id));
    ws.on('error', () => {});
    if (!fake.mute) ws.send(JSON.stringify({ type: 'hello', num_connections: 1 }));
  });
  fake.socket = () => fake.sockets.findLast((s) => s.readyState === 1);
  fake.envelope = (payload, type = 'events_api') => JSON.stringify({ envelope_id: `e${++envelopes}`, type, payload, accepts_response_payload: false });
  fake.event = (event, rest = {}) => ({ type: 'event_callback', team_id: team, event_id: `Ev${++envelopes}`, event: { type: 'message', channel: 'C1', channel_type: 'channel', user: 'U1', ts: next(), ...event }, ...rest });
  /** Sends it over the newest socket; its envelope's name. */
  fake.push = (payload, type) => { const e = fake.envelope(payload, type); fake.socket().send(e); return JSON.parse(e).envelope_id; };
  /** What an event says of a file that is here. */
  fake.file = (name, bytes, fields = {}) => {
    const at = `/files-pri/T1-F${fake.files.size + 1}/${encodeURIComponent(name)}`;
    fake.files.set(at, Buffer.from(bytes));
    return { id: `F${fake.files.size}`, name, title: name, mimetype: 'text/plain', size: Buffer.byteLength(bytes), url_private: `http://127.0.0.1:${fake.port}${at}`, ...fields };
  };
  fake.called = (method) => fake.calls.filter((c) => c.method === method).length;

  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  fake.port = server.address().port;
  fake.env = { TALARIA_SLACK_TOKEN: 'xoxb-1', TALARIA_SLACK_APP_TOKEN: 'xapp-1', TALARIA_SLACK_API_BASE: `http://127.0.0.1:${fake.port}/api` };
  t.after(() => { for (const s of wss.clients) s.terminate(); wss.close(); server.closeAllConnections(); server.close(); });
  return fake;
}
