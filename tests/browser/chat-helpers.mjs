// For the tests of the Chat tab: a real server on a demo history, with a fake Hermes, a model on loopback
// whose words a test gives one by one, and a line in between that can be cut.
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import http from "node:http";
import net from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fakeHermes } from "../fakes/hermes.mjs";
import { root } from "./helpers.mjs";

export const binary = process.env.TALARIA_BIN ?? join(root, "build/talaria");
export const serves = spawnSync(binary, ["help", "serve"]).status === 0;

// The first line of a program's output that fits.
function line(child, pattern) {
  return new Promise((done, fail) => {
    let text = "";
    const look = (chunk) => {
      const found = pattern.exec((text += chunk));
      if (found) done(found[0]);
    };
    child.stdout.on("data", look);
    child.stderr.on("data", look);
    child.once("exit", (code) => fail(new Error(`ended with ${code}: ${text}`)));
    setTimeout(() => fail(new Error(`nothing came: ${text}`)), 60_000).unref();
  });
}

async function end(child) {
  if (!child || child.exitCode !== null || child.signalCode) return;
  child.removeAllListeners("exit");
  const gone = once(child, "exit");
  child.kill("SIGTERM");
  await gone;
}

// A line that forwards bytes until it is cut; `refuse` keeps it so.
export async function startLine() {
  const sockets = new Set();
  const it = { refuse: false, to: 0, cuts: 0 };
  const server = net.createServer((a) => {
    if (it.refuse || !it.to) return a.destroy();
    const b = net.connect(it.to, "127.0.0.1");
    for (const s of [a, b]) {
      sockets.add(s);
      s.on("error", () => undefined);
      s.on("close", () => { sockets.delete(s); a.destroy(); b.destroy(); });
    }
    a.pipe(b);
    b.pipe(a);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  it.port = server.address().port;
  it.url = `http://127.0.0.1:${it.port}`;
  it.cut = () => { it.cuts++; for (const s of sockets) s.destroy(); };
  it.close = () => { it.cut(); server.close(); };
  return it;
}

// OpenAI's chat API with a test as its model: say(words…) sends, finish() ends the answer. Without a test that speaks
// (`auto`), it says what it is given.
export async function startModel() {
  const it = { auto: null, pace: 5, asked: [], now: null };
  const chunk = (delta, finish = null) => `data: ${JSON.stringify({ id: "x", object: "chat.completion.chunk", created: 1, model: "m", choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
  let came = () => undefined;
  const server = http.createServer((rq, rs) => {
    let body = "";
    rq.on("data", (d) => (body += d));
    rq.on("end", async () => {
      it.asked.push(JSON.parse(body || "{}"));
      rs.writeHead(200, { "content-type": "text/event-stream" });
      it.now = rs;
      came();
      if (it.auto === null) return;
      for (const w of it.auto.match(/\S+\s*|\s+/g) ?? []) {
        rs.write(chunk({ content: w }));
        if (it.pace) await new Promise((r) => setTimeout(r, it.pace));
      }
      it.finish(rs);
    });
  });
  it.say = (...words) => words.forEach((w) => it.now.write(chunk({ content: w })));
  it.think = (text) => it.now.write(chunk({ reasoning_content: text }));
  it.finish = (rs = it.now) => {
    rs.write(chunk({}, "stop"));
    rs.write(`data: ${JSON.stringify({ id: "x", object: "chat.completion.chunk", created: 1, model: "m", choices: [], usage: { prompt_tokens: 312, completion_tokens: 48, total_tokens: 360 } })}\n\n`);
    rs.end("data: [DONE]\n\n");
  };
  // Until the server has asked again.
  it.turn = () => new Promise((done) => { came = () => { came = () => undefined; done(); }; });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  it.url = `http://127.0.0.1:${server.address().port}/v1`;
  it.close = () => { server.closeAllConnections(); server.close(); };
  return it;
}

// `t`: the test that it ends with, however that ends. `hermes`: "" (all is well) or how every turn fails; null: there is none. `transport`: which of its routes is used.
export async function startChat({ hermes = "", transport = "auto", model = null, line: wire = null, demo = true, t = null } = {}) {
  const dir = mkdtempSync(join(tmpdir(), "talaria-chat-"));
  const config = join(dir, "config/talaria");
  const env = { ...process.env, HOME: dir, HERMES_HOME: join(dir, "none"), XDG_STATE_HOME: join(dir, "state"), XDG_CONFIG_HOME: join(dir, "config"), API_SERVER_KEY: "" };
  if (model) Object.assign(env, { TALARIA_MODEL_BASE_URL: model.url, TALARIA_MODEL: "m", TALARIA_MODEL_DIALECT: "openai-chat" });
  let fake = null;
  const it = { dir, env };
  it.stop = async () => {
    await end(it.server);
    await fake?.stop();
    rmSync(dir, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 });
  };
  t?.after(it.stop); // before anything is started: what fails on the way leaves nothing behind
  let base = "http://127.0.0.1:9";
  if (hermes !== null) {
    fake = await fakeHermes(null, { fail: hermes });
    base = fake.url;
  }
  mkdirSync(config, { recursive: true });
  writeFileSync(join(config, "config.yaml"), `hermes:\n  base_url: ${base}\n  transport: ${transport}\nclaude:\n  bin: ${join(dir, "no-claude")}\ncodex:\n  bin: ${join(dir, "no-codex")}\n`);
  if (demo) execFileSync("python3", [join(root, "tests/fixtures/tools/fill_home.py"), dir], { env, stdio: "ignore" });
  it.start = async () => {
    it.server = spawn(binary, ["--data", dir, "serve", "--port", "0", ...(wire ? ["--allow-host", `127.0.0.1:${wire.port}`] : [])], { env, stdio: ["ignore", "pipe", "pipe"] });
    const own = await line(it.server, /http:\/\/[\d.]+:\d+/);
    if (wire) wire.to = Number(new URL(own).port);
    it.own = own;
    it.url = wire ? wire.url : own;
    it.token = readFileSync(join(dir, "server-token"), "utf8").trim();
  };
  // Straight to the server, past the page.
  it.ask = async (path, method = "GET", body = undefined) => {
    const r = await fetch(it.own + path, { method, headers: { Authorization: `Bearer ${it.token}`, ...(body && { "Content-Type": "application/json" }) }, body: body && JSON.stringify(body) });
    return r.headers.get("content-type")?.includes("json") ? r.json() : r.text();
  };
  it.kill = async () => { it.server.removeAllListeners("exit"); const gone = once(it.server, "exit"); it.server.kill("SIGKILL"); await gone; };
  await it.start();
  return it;
}
