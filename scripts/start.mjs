// npm start: from a clean clone to the reference service with demo data.
import { spawn } from "node:child_process";
import { build, buildService, install, root, run } from "./prepare.mjs";

install();
build();
run("node", ["bin/opwright.mjs", "generate"]);
buildService();
const isProduction = process.env.NODE_ENV === "production";
if (!isProduction)
  for (const name of ["load", "places"]) run("node", [`dist/service/registry/demo/${name}.js`]);

const port = process.env.PORT || "4400";
const url = `http://${process.env.HOST || "127.0.0.1"}:${port}`;
const server = spawn("node", ["dist/service/generated/server.js"], { cwd: root, stdio: "inherit" });
server.on("exit", (code, signal) => process.exit(code ?? (signal === null ? 1 : 0)));
for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => server.kill(signal));

await ready();
process.stdout.write(`
Tracker API   ${url}
Try it        ${url}/docs
Events        ${url}/docs/events
OpenAPI       ${url}/openapi.json
Readiness     ${url}/readyz
${isProduction ? "" : `Upload page   ${url}/demo/upload\nLive board    ${url}/demo/live\n`}
Sign in:
  curl -s ${url}/auth/login -H 'content-type: application/json' \\
    -d '{"login":"ada@example.test","password":"correct horse battery staple"}'

Try:
  curl -s ${url}/places/list -H 'content-type: application/json' \\
    -d '{"filters":{"$values":{"country":"IS"}},"sorts":{"name":"asc"},"size":3}'
`);

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
