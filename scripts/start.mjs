// npm start: from a clean clone to the reference service, which answers while the places of its demo data load.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { buildToRun, installToRun, root } from "./prepare.mjs";

installToRun();
buildToRun();
const port = process.env.PORT || "4400";
const url = `http://${process.env.HOST || "127.0.0.1"}:${port}`;
const isProduction = process.env.NODE_ENV === "production";
const compiled = (file) =>
  spawn("node", ["--enable-source-maps", `dist/service/${file}`], { cwd: root, stdio: "inherit" });

const server = compiled("generated/server.js");
const children = [server];
server.on("exit", (code, signal) => {
  for (const child of children) child.kill();
  process.exit(code ?? (signal === null ? 1 : 0));
});
for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => server.kill(signal));
stopWithNpm();

await ready();
if (!isProduction) await loadDemo("load");
const pages = [
  ["Reference", "/docs"],
  ["Events", "/docs/events"],
  ["Console", "/console"],
  ["Upload page", "/demo/upload"],
  ["Live board", "/demo/live"],
];
process.stdout.write(`
Tracker API   ${url}
OpenAPI       ${url}/openapi.json
Readiness     ${url}/readyz
${isProduction ? "" : pages.map(([name, path]) => `${name.padEnd(14)}${url}${path}\n`).join("")}
Sign in:
  curl -s ${url}/auth/login -H 'content-type: application/json' \\
    -d '{"login":"ada@example.test","password":"correct horse battery staple"}'

Try:
  curl -s ${url}/places/list -H 'content-type: application/json' \\
    -d '{"filters":{"$values":{"country":"AD"}},"sorts":{"name":"asc"},"size":3}'
`);
if (!isProduction) await loadDemo("places");

/** Ends the server with `npm start`: a signal to npm ends the shell between npm and this process, and goes no further. */
function stopWithNpm() {
  if (process.env.npm_lifecycle_event !== "start") return;
  const shell = process.ppid;
  const watch = setInterval(() => {
    if (process.ppid === shell) return;
    clearInterval(watch);
    server.kill("SIGTERM");
  }, 200);
  watch.unref();
}

/** Loads demo data beside the server. Where that fails it has said why, and the server goes on. */
async function loadDemo(name) {
  if (server.killed) return;
  const loader = compiled(`registry/demo/${name}.js`);
  children.push(loader);
  await once(loader, "exit");
}

async function ready() {
  for (;;) {
    try {
      if ((await fetch(`${url}/readyz`)).ok) return;
    } catch {
      // It does not listen yet.
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
