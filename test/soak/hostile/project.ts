// The project of the hostile author, from its registry to its files.
import { deliveries, mistakes, topics } from "./author.js";

const imports = `import { spawn } from "node:child_process";
import { EventEmitter } from "node:events";
import { createReadStream, existsSync, readFileSync } from "node:fs";
import { connect } from "node:net";
import { collection, sql } from "opwright/runtime";
import { notesSpec } from "../generated/documents/notes.js";
import { stageEvent } from "../generated/outbox.js";
`;

const operations = Object.entries(mistakes)
  .map(
    ([name, { declares }]) =>
      `  code.${name}: {post: /code/${name}, in: {key: string, n: integer}, run: registry/code.ts#${name}, guard: open${declares === undefined ? "" : `, ${declares}`}}\n`,
  )
  .join("");

const registry = `registry: 1
service: {name: hostile, title: Hostile, version: 1.0.0}
policies: {open: [], member: [principal]}
identity: {methods: [token, password], ingress: [{bearer: Authorization}], access_ttl: 2h, mount: {at: /auth}}
types:
  Node: {oneOf: [{$ref: Folder}, {$ref: Group}, {$ref: Leaf}]}
  Folder: {kind: {const: folder}, children: "Node[]"}
  Group: {kind: {const: group}, children: "Node[]"}
  Leaf: {text: string}
  Late: {p50: number, p99: number, max: number}
  Comment: {author: string, text: string}
documents:
  notes: {type: {key: string, text: string}, unique: [[key]], guard: open}
outbox:
  mail: registry/deliveries.ts#render
  events:
    notes.noted: {destination: shop, data: {n: integer}}
    notes.mailed: {destination: mail, data: {n: integer, how: string}}
    notes.sent: {destination: registry/deliveries.ts#send, data: {n: integer, how: string}}
webhooks: {guard: member, events: [notes.noted], mount: {at: /webhooks}}
realtime:
  mount: {at: /realtime}
  transports: [sse]
  topics: registry/topics.ts#authorize
  events: {notes.heard: {data: Comment, audience: [topic], delivery: ephemeral}}
operations:
  good.note: {post: /good/note, in: {key: string, n: integer}, run: registry/good.ts#note, guard: open}
  good.mail: {post: /good/mail, in: {n: integer, how: string}, run: registry/good.ts#mail, guard: open}
  good.send: {post: /good/send, in: {n: integer, how: string}, run: registry/good.ts#sent, guard: open}
  good.loop: {get: /good/loop, out: {late: Late, own: Late}, run: registry/good.ts#loop, guard: open}
  trees.echo: {post: /trees, in: {tree: Node}, out: Node, run: registry/good.ts#echo, guard: open}
  threads.put: {post: /threads, in: {replies: "Comment[]"}, run: registry/good.ts#put, guard: open}
  sets.put: {post: /sets, in: {items: {type: array, items: {type: object}, uniqueItems: true}}, run: registry/good.ts#put, guard: open}
  maps.put: {post: /maps, in: {map: {type: object, additionalProperties: {type: integer}}}, run: registry/good.ts#put, guard: open}
${operations}`;

const code = `${imports}
${Object.entries(mistakes)
  .map(
    ([name, { code: body }]) => `export const ${name} = async ({ key, n }, context) => {
  const notes = collection(notesSpec, context);
  ${body}
};
`,
  )
  .join("")}`;

const good = `${imports}
// How late a timer is, and how much of that nobody on the machine but this process is to blame for: the kernel counts how
// long its thread was ready and had no core.
const everyMillis = 20;
const late = [], own = [];
const waitedMillis = () => existsSync("/proc/self/schedstat") ? Number(readFileSync("/proc/self/schedstat", "utf8").split(" ")[1]) / 1e6 : 0;
let last = performance.now(), lastWaited = waitedMillis();
setInterval(() => {
  const now = performance.now(), waited = waitedMillis();
  const by = Math.max(0, now - last - everyMillis);
  late.push(by);
  own.push(Math.max(0, by - (waited - lastWaited)));
  last = now;
  lastWaited = waited;
}, everyMillis).unref();
const shares = (of) => {
  const sorted = of.toSorted((one, other) => one - other);
  const at = (share) => sorted[Math.ceil(sorted.length * share) - 1] ?? 0;
  return { p50: at(0.5), p99: at(0.99), max: at(1) };
};
export const note = async ({ key, n }, context) => {
  await collection(notesSpec, context).create({ key, text: "good" });
  await stageEvent(context, "notes.noted", { n });
};
export const mail = (data, context) => stageEvent(context, "notes.mailed", data);
export const sent = (data, context) => stageEvent(context, "notes.sent", data);
export const loop = () => ({ late: shares(late), own: shares(own) });
export const echo = ({ tree }) => tree;
export const put = () => undefined;
`;

const cases = Object.entries(deliveries)
  .map(
    ([name, [body]]) =>
      `    case "${name}": { ${body} ${body.endsWith("return 7;") ? "" : "break;"} }\n`,
  )
  .join("");

/** \`send\` notes what has arrived, and may do so twice. */
const delivering = `import { collection } from "opwright/runtime";
import { notesSpec } from "../generated/documents/notes.js";
const fail = (event) => {
  switch (event.data.how) {
${cases}  }
};
export const render = (event) => {
  if (event.name !== "notes.mailed") return null;
  const failed = fail(event);
  if (failed !== undefined) return failed;
  return { to: \`n\${event.data.n}@example.test\`, subject: "Note", text: "It is noted." };
};
export const send = (event, context) => {
  const failed = fail(event);
  if (failed !== undefined) return failed;
  return context.commit(() => collection(notesSpec, context).upsert(["key"], { key: \`sent-\${event.data.n}\`, text: "sent" })).then(() => undefined);
};
`;

const authorizing = `const seen = new Set();
export const authorize = async (requested) => {
  const granted = [];
  for (const topic of requested)
    switch (topic.split(":")[0]) {
${Object.entries(topics)
  .map(([name, [body]]) => `      case "${name}": { ${body} break; }\n`)
  .join("")}    }
  return granted;
};
`;

const hooks = `export const fails = async () => { throw new Error("fault of a hook"); };
export const wraps = async (input, context, next) => { next(input); throw new Error("fault of a hook"); };
`;

export const hostileFiles: Readonly<Record<string, string>> = {
  "registry/service.yaml": registry,
  "registry/code.ts": code,
  "registry/good.ts": good,
  "registry/deliveries.ts": delivering,
  "registry/topics.ts": authorizing,
  "registry/hooks.ts": hooks,
};
