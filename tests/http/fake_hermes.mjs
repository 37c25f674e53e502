// A Hermes that writes down what it is sent, and answers as it is told.
import assert from 'node:assert/strict';
import http from 'node:http';
import { tmpHome } from '../cli/helpers.mjs';
import { request, startServer } from './helpers.mjs';

export const post = (server, target, body, headers = {}) => request(server, target, { method: 'POST', body, headers });

/** on: what a path (ids taken out) answers, as (request body, response, id) => anything; seen: all requests. */
export async function fakeHermes(t, features, on) {
  const fake = { seen: [], features, version: 'fake' };
  const server = http.createServer(async (rq, rs) => {
    const parts = [];
    for await (const d of rq) parts.push(d);
    const body = parts.length ? JSON.parse(Buffer.concat(parts).toString() || '{}') : {};
    const id = /\/(?:sessions|runs)\/([^/]+)/.exec(rq.url)?.[1];
    const name = `${rq.method} ${rq.url.replace(/(sessions|runs)\/[^/]+/, '$1/*')}`;
    fake.seen.push({ name, body, id, url: rq.url });
    const json = (status, value, headers = {}) => { rs.writeHead(status, { 'content-type': 'application/json', ...headers }); rs.end(JSON.stringify(value)); };
    if (name === 'GET /v1/capabilities') return json(200, { version: fake.version, features: Object.fromEntries(fake.features.map((f) => [f, true])) });
    const answer = on[name];
    if (!answer) return json(404, { error: { message: 'not here', code: 'not_found' } });
    return answer(body, Object.assign(rs, { json }), id);
  });
  await new Promise((r) => server.listen(0, '127.0.0.1', r));
  t.after(() => { server.closeAllConnections(); server.close(); });
  fake.url = `http://127.0.0.1:${server.address().port}`;
  fake.of = (name) => fake.seen.filter((s) => s.name === name);
  return fake;
}

export const stream = (rs, headers = {}) => { rs.writeHead(200, { 'content-type': 'text/event-stream', ...headers }); return rs; };
export const usage = { input_tokens: 3, output_tokens: 2, total_tokens: 5 };
export const runs = (say) => ({
  'POST /v1/runs': (body, rs) => rs.json(202, { run_id: 'run_1', status: 'started' }),
  'GET /v1/runs/*/events': (body, rs) => say(stream(rs)),
});
export const event = (rs, data) => rs.write(`data: ${JSON.stringify(data)}\n\n`);
export const done = (rs, output) => { event(rs, { event: 'message.delta', delta: output }); event(rs, { event: 'run.completed', output, usage }); rs.end(': stream closed\n\n'); };

export async function turn(server, id, body) {
  const r = await post(server, `/api/conversations/${id}/chat`, body);
  assert.equal(r.status, 200, r.text);
  const frames = r.text.slice('retry: 2000\n'.length).split('\n\n').filter((f) => f && !f.startsWith(':'))
    .map((f) => ({ event: /^event: (.*)$/m.exec(f)[1], data: JSON.parse(/^data: (.*)$/m.exec(f)[1]) }));
  assert.match(frames.map((f) => f.event[0]).join(''), /^m[pc]*e?d$/);
  return { frames, text: frames.filter((f) => f.event === 'chunk').map((f) => f.data.text).join(''), done: frames.at(-1).data,
    error: frames.find((f) => f.event === 'error')?.data, progress: (stage) => frames.filter((f) => f.event === 'progress' && f.data.stage === stage).map((f) => f.data) };
}

export async function serve(t, fake, env = {}) {
  const home = tmpHome(t);
  const server = await startServer(t, { home, env: { TALARIA_HERMES_BASE_URL: fake.url, ...env } });
  return { server, id: (await post(server, '/api/conversations', {})).json.id };
}
