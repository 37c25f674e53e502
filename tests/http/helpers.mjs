// What the tests of the server share: a server of their own, requests as bytes and as fetch would make them.
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import http from 'node:http';
import net from 'node:net';
import path from 'node:path';
import { bin, fillHome, run, tmpHome } from '../cli/helpers.mjs';

export const plugin = '/api/plugins/hermes-achievements';

/** A server over a home of its own; demo: with three months of sessions. Ends with the test. */
export async function startServer(t, { args = [], demo = false, home, env = {} } = {}) {
  const server = {};
  t.after(() => server.stop?.('SIGKILL')); // before the hook that takes the home away
  home ??= tmpHome(t);
  if (demo) fillHome(home.env, '2026-11-15');
  const child = spawn(bin, ['serve', '--port', '0', ...args], { env: { ...home.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'] });
  Object.assign(server, { child, home, stderr: '', exited: new Promise((r) => child.once('exit', (code, signal) => r({ code, signal }))) });
  server.stop = async (signal = 'SIGTERM') => {
    if (child.exitCode === null && !child.signalCode) child.kill(signal);
    return server.exited;
  };
  child.stderr.on('data', (d) => (server.stderr += d));
  server.url = await new Promise((resolve, reject) => {
    let out = '';
    child.stdout.on('data', (d) => (out += d).includes('\n') && resolve(out.trim()));
    child.once('exit', (code) => reject(new Error(`serve ended with ${code}: ${server.stderr}`)));
  });
  server.port = Number(new URL(server.url).port);
  server.host = `127.0.0.1:${server.port}`;
  server.token = fs.readFileSync(path.join(home.data, 'server-token'), 'utf8').trim();
  return server;
}

/** One request on a connection of its own, with exactly these headers (Host included where not given). */
export function request(server, target, { method = 'GET', headers = {}, body, token = true, agent = false } = {}) {
  const all = { Host: server.host, ...(token ? { Authorization: `Bearer ${server.token}` } : {}), ...headers };
  if (body !== undefined && typeof body !== 'string') {
    body = JSON.stringify(body);
    all['Content-Type'] ??= 'application/json';
  }
  if (body !== undefined) all['Content-Length'] ??= Buffer.byteLength(body);
  for (const [k, v] of Object.entries(all)) if (v === null) delete all[k];
  return new Promise((resolve, reject) => {
    const rq = http.request({ host: '127.0.0.1', port: server.port, path: target, method, headers: all, agent, setHost: false }, (res) => {
      const parts = [];
      res.on('data', (d) => parts.push(d));
      res.on('end', () => {
        const bytes = Buffer.concat(parts);
        resolve({
          status: res.statusCode, headers: res.headers, bytes, text: bytes.toString(),
          get json() { return JSON.parse(bytes.toString()); },
        });
      });
      res.on('error', reject);
    });
    rq.on('error', reject);
    rq.end(body);
  });
}

/** Bytes on the wire; everything that comes back until the other side ends or ms have passed. */
export function raw(server, bytes, { ms = 3000, end = false } = {}) {
  return new Promise((resolve) => {
    const socket = net.connect(server.port, '127.0.0.1');
    let got = '';
    const done = (how) => { clearTimeout(timer); socket.destroy(); resolve({ text: got, how, statuses: [...got.matchAll(/HTTP\/1\.1 (\d+) /g)].map((m) => Number(m[1])) }); };
    const timer = setTimeout(() => done('timeout'), ms);
    socket.on('data', (d) => (got += d.toString('latin1')));
    socket.on('end', () => done('end'));
    socket.on('error', () => done('error'));
    for (const piece of [].concat(bytes)) socket.write(typeof piece === 'string' ? Buffer.from(piece, 'latin1') : piece);
    if (end) socket.end();
  });
}

/** An open event stream: next(name) awaits the next event of that name. */
export function events(server, { headers = {} } = {}) {
  return new Promise((resolve, reject) => {
    const rq = http.get({ host: '127.0.0.1', port: server.port, path: '/api/events', agent: false,
      headers: { Host: server.host, Authorization: `Bearer ${server.token}`, ...headers } }, (res) => {
      const seen = [], waiting = [];
      let rest = '';
      const stream = {
        status: res.statusCode, headers: res.headers, seen, rq,
        ended: new Promise((r) => { res.on('end', () => r('end')); res.on('close', () => r('close')); res.on('error', () => r('error')); }),
        next: (name, ms = 10_000) => new Promise((ok, no) => {
          const i = seen.findIndex((e) => e.event === name && !e.taken);
          if (i >= 0) { seen[i].taken = true; return ok(seen[i]); }
          const timer = setTimeout(() => no(new Error(`no event '${name}'`)), ms);
          waiting.push({ name, ok: (e) => { clearTimeout(timer); ok(e); } });
        }),
        close: () => rq.destroy(),
      };
      res.on('data', (d) => {
        rest += d;
        for (let i; (i = rest.indexOf('\n\n')) >= 0; rest = rest.slice(i + 2)) {
          const event = { event: 'comment', data: '' };
          for (const line of rest.slice(0, i).split('\n')) {
            if (line.startsWith('event: ')) event.event = line.slice(7);
            if (line.startsWith('data: ')) event.data += line.slice(6);
          }
          seen.push(event);
          const w = waiting.findIndex((x) => x.name === event.event);
          if (w >= 0) { event.taken = true; waiting.splice(w, 1)[0].ok(event); }
        }
      });
      resolve(stream);
    });
    rq.on('error', reject);
  });
}

export const sleep = (ms) => new Promise((r) => setTimeout(r, ms));

/** Resident memory of a process, in bytes. */
export function rss(pid) {
  return Number(/VmRSS:\s+(\d+)/.exec(fs.readFileSync(`/proc/${pid}/status`, 'utf8'))[1]) * 1024;
}

/** The server makes the index of a new home by itself; rows say more once it is made. */
export async function indexed(server, least) {
  for (let i = 0; i < 1200; i++) {
    const { updating, sessions } = (await request(server, '/api/index')).json;
    if (!updating && sessions >= least) return;
    await new Promise((r) => setTimeout(r, 25));
  }
  throw new Error('the index was not made');
}
