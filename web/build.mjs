// Bundles the page into build/web: index.html (with the icon sprite), app.js, app.css, theme.js and
// favicon.svg. Nothing in them is inline or external, so the server's CSP can stay `default-src 'self'`.
// usage: node web/build.mjs [OUT]      prints each file with its gzipped size; fails over the budget.
import { build } from "esbuild";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";

const web = dirname(fileURLToPath(import.meta.url));
const root = dirname(web);
const out = resolve(process.argv[2] ?? join(root, "build/web"));
const budget = 80 * 1024; // JavaScript, gzipped, in all

// Which icons there are is told from the tables of src/icons.ts, so none is embedded that is not used.
function sprite() {
  const source = readFileSync(join(web, "src/icons.ts"), "utf8");
  const names = new Set([...source.matchAll(/lucide\("([a-z0-9-]+)"\)/g)].map((m) => m[1]));
  const symbols = [...names].sort().map((name) => {
    const svg = readFileSync(join(root, "node_modules/lucide-static/icons", `${name}.svg`), "utf8");
    const body = svg.replace(/<!--[\s\S]*?-->/g, "").replace(/^[\s\S]*?<svg[\s\S]*?>/, "").replace("</svg>", "");
    return `<symbol id="i-${name}" viewBox="0 0 24 24">${body.replace(/\s+/g, " ").replace(/> </g, "><").trim()}</symbol>`;
  });
  return `<svg class="sprite" aria-hidden="true">${symbols.join("")}</svg>`;
}

// The runtimes' names for people, from the table that the program has.
function runtimeNames() {
  const source = readFileSync(join(root, "src/runtimes/runtimes.h"), "utf8");
  const names = Object.fromEntries([...source.matchAll(/^\s+X\((\w+), "([^"]+)"\)/gm)].map((m) => [m[1], m[2]]));
  names[source.match(/NATIVE_ALIAS "(\w+)"/)[1]] = names.native;
  return JSON.stringify(names);
}

mkdirSync(out, { recursive: true });
const common = { bundle: true, minify: true, target: "es2022", logLevel: "warning", legalComments: "none" };
await build({
  ...common,
  entryPoints: { app: join(web, "src/main.tsx") },
  outdir: out,
  format: "esm",
  jsx: "automatic",
  jsxImportSource: "preact",
  define: { RUNTIME_NAMES: runtimeNames() },
});
await build({ ...common, entryPoints: { theme: join(web, "src/theme-boot.ts") }, outdir: out, format: "iife" });
await build({ ...common, entryPoints: { app: join(web, "src/styles/main.css") }, outdir: out });
const html = readFileSync(join(web, "index.html"), "utf8").replace("<!--sprite-->", sprite()).replace(/>\s+</g, "><");
writeFileSync(join(out, "index.html"), html);
writeFileSync(join(out, "favicon.svg"), readFileSync(join(web, "favicon.svg")));

let javascript = 0;
for (const file of ["index.html", "app.js", "theme.js", "app.css", "favicon.svg"]) {
  const bytes = readFileSync(join(out, file));
  const packed = gzipSync(bytes, { level: 9 }).length;
  if (file.endsWith(".js")) javascript += packed;
  console.log(`${file.padEnd(12)} ${String(bytes.length).padStart(7)} B ${String(packed).padStart(6)} B gzipped`);
}
if (javascript > budget) {
  console.error(`web/build.mjs: JavaScript is ${javascript} B gzipped, more than ${budget}`);
  process.exit(1);
}
