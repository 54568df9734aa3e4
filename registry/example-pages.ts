// Pages that show the service at work: its home, a board that two windows share, and an upload in parts. None in production.
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import express from "express";
import { demoPage, demoPassword, signInFields } from "./page-frame.js";

const people = [
  { login: "ada@example.test", is: "administers acme and globex, and may do everything" },
  { login: "bob@example.test", is: "reads and writes in acme" },
  { login: "eve@example.test", is: "reads in globex" },
];

export const homePage = demoPage({
  title: "Tracker API",
  script: "home",
  body: `<p>Projects, tasks, notes and places: the reference service of opwright runs here, and is <strong id="ready">starting</strong>.</p>
<section class="stack" aria-labelledby="look"><h2 id="look">Look at it</h2>
<div class="cards">
<a class="card stack tight" href="/docs"><strong>Reference</strong><span class="small">Every operation, with a form to try it</span></a>
<a class="card stack tight" href="/docs/operations"><strong>Operations</strong><span class="small">What guards and limits each of them</span></a>
<a class="card stack tight" href="/docs/events"><strong>Events</strong><span class="small">Signals and commands in real time</span></a>
<a class="card stack tight" href="/console"><strong>Console</strong><span class="small">What it holds, and how it is doing: sign in as ada</span></a>
<a class="card stack tight" href="/demo/live"><strong>Live board</strong><span class="small">Two windows that show the same tasks</span></a>
<a class="card stack tight" href="/demo/upload"><strong>Upload</strong><span class="small">A file in parts, which survives a reload</span></a>
</div></section>
<section class="stack" aria-labelledby="people"><h2 id="people">Sign in</h2>
<p>The password of each is <code>${demoPassword}</code>.</p>
<ul class="members">${people
    .map(
      ({ login, is }) =>
        `<li class="row"><code>${login}</code><span class="quiet">${is}</span><button type="button" data-login="${login}" data-password="${demoPassword}">Sign in as ${login.split("@")[0]}</button></li>`,
    )
    .join("")}</ul>
<p id="status" role="status"></p></section>
<section class="stack tight" aria-labelledby="documents"><h2 id="documents">Documents</h2>
<p class="row"><a href="/openapi.json">openapi.json</a><a href="/asyncapi.json">asyncapi.json</a><a href="/readyz">readyz</a></p></section>`,
});

const livePage = demoPage({
  title: "Live board",
  script: "live",
  body: `<p>Open this page in two windows. A click moves a task on, and both windows see it.</p>
<form id="connect" class="card stack"><div class="cards">${signInFields("bob@example.test")}
<label class="field"><span>Transport</span><select id="transport">
<option value="websocket">WebSocket</option>
<option value="sse">Server-Sent Events</option>
<option value="socketio">Socket.IO</option>
</select></label></div>
<div class="row"><button class="primary">Connect</button><span id="status" role="status">Not connected</span><span id="people"></span><span id="typing"></span></div></form>
<form id="add" class="row"><label><span class="hidden">A new task</span><input id="title" placeholder="A new task" required maxlength="200"></label><button>Add</button></form>
<div class="cards">${["open", "doing", "done"]
    .map(
      (state) =>
        `<section class="card stack" aria-labelledby="of-${state}"><h2 id="of-${state}">${state}</h2><div id="${state}" class="stack tight"></div></section>`,
    )
    .join("")}</div>`,
});

const uploadPage = demoPage({
  title: "Upload in parts",
  script: "upload",
  body: `<p>Drop a file. Reload the page while it goes up and drop the file again: it goes on where it was.</p>
<div class="card stack"><div class="cards">${signInFields("ada@example.test")}</div>
<label id="drop" class="empty">Drop a file here, or choose one: <input type="file" id="file"></label>
<label class="field"><span>Progress</span><progress id="progress" value="0" max="1"></progress></label>
<p id="status" role="status">Ready</p></div>`,
});

/** Parts go to this origin, or to the S3 that the service names: any, over HTTP. */
const policy = (connections: string): string =>
  `default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; connect-src ${connections}`;

export const demoPages = express.Router();

for (const [path, page, connections] of [
  ["/live", livePage, "'self'"],
  ["/upload", uploadPage, "'self' http: https:"],
] as const)
  demoPages.get(path, (_req, res) => {
    res.set("Content-Security-Policy", policy(connections)).type("html").send(page);
  });

demoPages.get("/socket.io.js", (_req, res) => {
  const { resolve } = createRequire(import.meta.url);
  res.sendFile(join(resolve("socket.io/package.json"), "../client-dist/socket.io.esm.min.js"));
});

/** Where this folder was compiled: scripts and the client refer to each other from there. */
function compiledFolder(): string {
  const here = fileURLToPath(new URL(".", import.meta.url));
  return existsSync(join(here, "browser/page.js"))
    ? join(here, "..")
    : join(here, "../dist/service");
}

for (const folder of ["registry/browser", "generated/client"])
  demoPages.use(`/${folder}`, express.static(join(compiledFolder(), folder)));
