// What the tests of handoffs share: gateways that come and go, questions to databases, waiting for a condition.
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { bin, pythonPeer } from './helpers.mjs';

/** A gateway that is ready; end() waits for it. */
export async function gateway(env, more = {}) {
  const began = Date.now();
  const child = spawn(bin, ['gateway', 'run'], { env: { ...env, ...more }, stdio: ['ignore', 'pipe', 'pipe'] });
  let said = '';
  child.stderr.on('data', (d) => { said += d; });
  const gone = new Promise((r) => child.once('exit', (code, signal) => r({ code, signal })));
  await new Promise((ready, failed) => {
    child.stdout.once('data', ready);
    gone.then(() => failed(new Error(said)));
  });
  return { began, said: () => said, end: (signal = 'SIGTERM') => { child.kill(signal); return gone; } };
}

/** One that is there, as others see it, and does nothing. */
export async function idleGateway(home) {
  fs.mkdirSync(home.data, { recursive: true, mode: 0o700 });
  const peer = pythonPeer(`
import fcntl, os, sys, time
fd = os.open(sys.argv[1], os.O_RDWR | os.O_CREAT, 0o600)
fcntl.flock(fd, fcntl.LOCK_EX)
print('ready')
time.sleep(600)`, path.join(home.data, 'gateway.lock'));
  await peer.next();
  return peer;
}

export async function until(what, condition, ms = 10_000) {
  for (const end = Date.now() + ms; Date.now() < end;) {
    const got = condition();
    if (got) return got;
    await new Promise((r) => setTimeout(r, 20));
  }
  throw new Error(`not in time: ${typeof what === 'function' ? what() : what}`);
}

/** Rows as arrays. Changes are made by the same. */
export function query(file, sql) {
  const db = new DatabaseSync(file, { timeout: 20_000 });
  try {
    const statement = db.prepare(sql);
    statement.setReturnArrays(true);
    return statement.all();
  } finally {
    db.close();
  }
}
