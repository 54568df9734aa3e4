// What is printed already equals the formatter's: format(x) === x for every emitted TypeScript file but validators,
// which nobody reads line by line; and it compiles under the strict flags with TypeScript 5.9 and 7.
import { execFileSync, spawnSync } from "node:child_process";
import {
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { registryOf } from "../bench/registry-of.mjs";
import { cli } from "./cli.js";
import { writeProject } from "./scenario.js";

const repository = new URL("../..", import.meta.url).pathname;

/** Every kind of type, long names, long unions, quotes, comments. */
const zoo = {
  "registry/service.yaml":
    "registry: 1\nservice: {name: zoo, title: \"The \\\"Zoo\\\" API\", version: 1.0.0, description: 'It''s all here'}\npolicies: {open: []}\n",
  "registry/zoo.yaml": `registry: 1
types:
  Kind: [a_rather_long_value_number_one, a_rather_long_value_number_two, a_rather_long_value_number_three, four]
  Point: {x: number, y: number}
  Tree: {label: string, children: "Tree[]"}
  Either:
    oneOf: [{type: string}, {type: object, required: [code], properties: {code: {type: integer}, text: {type: string}}, additionalProperties: false}, {type: array, items: {type: number}}]
  Open: {type: object, properties: {known: {type: string, description: "A */ comment that ends"}}, additionalProperties: {type: number}}
  Both: {allOf: [{$ref: Point}, {type: object, properties: {z: {type: number}}, required: [z]}]}
  Fixed: {type: string, const: "only"}
  Mixed: {enum: [1, two, true, null]}
  AnimalWithAVeryLongName:
    name: {type: string, description: "What it is called.\\nSecond line."}
    kind: Kind
    other: {type: string, enum: [another_rather_long_value_number_one, another_rather_long_value_number_two, another]}
    at: Point?
    where: {type: object, properties: {street: {type: string}, zip: {type: [string, "null"]}}, required: [street], additionalProperties: false}
    maybe: {anyOf: [{type: object, properties: {deep: {type: object, properties: {er: {type: string}}, additionalProperties: false}}, additionalProperties: false}, {type: "null"}]}
    several: {anyOf: [{type: object, properties: {a: {type: string}}, additionalProperties: false}, {type: string}, {type: "null"}]}
    tree: Tree
    either: Either
    tags: "string[]"
    grid: "number[][]"
    points: "Point[]?"
    pair: {type: array, prefixItems: [{type: string}, {type: number}], items: false}
    old: {type: string, deprecated: true}
documents:
  animals_with_a_very_long_name_indeed:
    type: AnimalWithAVeryLongName
    defaults: {tags: [one, two, three, four, five, six, seven, eight, nine, ten, eleven, twelve], grid: [[1]], kind: four}
    soft_delete: {list_deleted: true}
    history: {keep: 5}
    guard: open
    hooks: {create: {before: ["registry/hooks.ts#aRatherLongHookNameNumberOne", "registry/hooks.ts#aRatherLongHookNameNumberTwo", "registry/hooks.ts#three"]}}
  plain: {type: {only: string}, guard: open, mount: false}
operations:
  zoo.feed_the_animals_that_are_hungry:
    get: /zoo/{keeper_identifier}/feed
    in: {keeper_identifier: uuid, amount: integer, from: string?, until: number, is_hungry: boolean?}
    out: {fed: integer, who: "Point[]", rest: Either}
    run: registry/handlers.ts#feed
    guard: open
  zoo.count: {post: /zoo/count, in: {what: string, deep: Open}, out: Both, run: registry/handlers.ts#count, guard: open}
  zoo.nothing: {post: /zoo/nothing, run: registry/handlers.ts#nothing, guard: open}
`,
  "registry/hooks.ts": `export function aRatherLongHookNameNumberOne(): void {}
export function aRatherLongHookNameNumberTwo(): void {}
export function three(): void {}
`,
  "registry/handlers.ts": `import type { ZooCountHandler, ZooFeedTheAnimalsThatAreHungryHandler, ZooNothingHandler } from "../generated/types/zoo.js";
export const feed: ZooFeedTheAnimalsThatAreHungryHandler = ({ amount }) => ({ fed: amount, who: [{ x: 1, y: 2 }], rest: "" });
export const count: ZooCountHandler = async () => ({ x: 1, y: 2, z: 3 });
export const nothing: ZooNothingHandler = () => undefined;
`,
};

/** Names that are awkward in code. */
const names = {
  "registry/service.yaml":
    "registry: 1\nservice: {name: names, title: Names, version: 1.0.0}\npolicies: {open: []}\n",
  "registry/names.yaml": `registry: 1
types:
  Layers: {list: {type: array, items: {anyOf: [{type: object, properties: {a: {type: string}}, additionalProperties: false}, {type: object, properties: {b: {type: string}}, additionalProperties: false}]}}}
  Client: {call: Call, operation: Operation, options: CallOptions, query: Query, pages: Pages, mutation: Mutation}
  Call: {a: string}
  CallOptions: {a: string}
  Operation: {a: string}
  Query: {a: string}
  Pages: {a: string}
  Mutation: {a: string}
  Response: {a: string}
  MockHandler: {a: string}
  MockRoute: {a: string}
  Keyed: {type: object, patternProperties: {"^k": {type: string}}, additionalProperties: false}
documents:
  delete: {type: {text: string}, guard: open}
  common: {type: {text: string}, guard: open}
  each: {type: {text: string}, guard: open}
  create_client: {type: {text: string}, guard: open}
  clients: {type: Client, guard: open}
  service: {type: {text: string}, guard: open, mount: {at: /services}}
  constructor: {type: {text: string}, guard: open}
operations:
  default.run: {post: /default, in: "Layers[]", out: Keyed, summary: "two\\r\\nlines */", run: registry/delete.ts#run, guard: open}
  then.then: {post: /then, in: Client, out: Response, run: registry/route.ts#respond, guard: open}
  then.constructor: {post: /then/constructor, in: Call, out: Operation, run: registry/route.ts#respond, guard: open}
  client.create: {post: /client, in: {options: CallOptions, query: Query, pages: Pages}, out: {mock: MockHandler, route: MockRoute, mutation: Mutation}, run: registry/route.ts#made, guard: open}
  class.run: {post: /class, in: {oneOf: [{$ref: Layers}, {$ref: Keyed}]}, run: registry/2fa.ts#run, guard: open}
  route.run: {post: /route, in: {type: object, additionalProperties: {type: string}}, run: registry/route.ts#run, guard: open}
  same.a: {get: /same/a, out: {n: integer}, run: registry/handlers/tasks.ts#run, guard: open}
  same.b: {get: /same/b, out: {n: integer}, run: handlers/tasks.ts#run, guard: open}
`,
  "registry/delete.ts": "export const run = () => ({});\n",
  "registry/2fa.ts": "export const run = () => undefined;\n",
  "registry/route.ts":
    "export const run = () => undefined;\nexport const respond = () => ({ a: '' });\nexport const made = () => ({ mock: { a: '' }, route: { a: '' }, mutation: { a: '' } });\n",
  "registry/handlers/tasks.ts": "export const run = () => ({ n: 1 });\n",
  "handlers/tasks.ts": "export const run = () => ({ n: 2 });\n",
};

/** Every part of identity, with functions of the author's wherever one may stand. */
const identity = {
  "registry/service.yaml": `registry: 1
service: {name: people, title: People, version: 1.0.0}
policies:
  open: []
  staff: [principal, {authorize: platform.admin}]
  own: [{rate_limit: 100/1m}, principal, session, tenant, {authorize: "{resource}.read"}, {scope: own_rows}]
  team: [principal, tenant, {scope: team_rows_of_the_caller_and_of_its_deputies}]
identity:
  route: partners
  methods: [token, password, api_key]
  ingress: [{cookie: session}, {bearer: X-Token}, {api_key: X-Partner-Key}]
  verifier: registry/auth/partners.ts#verify
  resolver: registry/auth/partners.ts#resolve
  signing: {algorithm: ES256, signer: registry/auth/kms.ts#signer}
  reset: {ttl: 30m, events: outbox}
  deactivate: {guard: staff}
  api_keys: {mount: {at: /keys}}
  jwks: {cache_max_age: 60}
  openapi_exclude: [notes.get]
  provisioning: {guard: staff, mount: {at: /staff}}
tenancy:
  trust_tenant_header: true
  trust_forwarded_host: true
  host: "{tenant}.people.example"
  admin: {guard: staff}
authorization: {override: [], decide: registry/auth/partners.ts#decide}
scopes:
  team_rows_of_the_caller_and_of_its_deputies: registry/auth/partners.ts#teamRows
outbox:
  events:
    authn.password_reset_requested: {destination: notifications}
    orders.placed: {destination: registry/auth/kms.ts#send, data: {order: uuid, total: number}}
    orders.lost: {destination: shop, data: Order}
types:
  Order: {order: uuid}
documents:
  notes: {type: {text: string}, guard: own}
  a_rather_long_name_of_a_document: {type: {text: string}, guard: {read: team, write: own}}
operations:
  notes.share: {post: "/notes/{id}/share", in: {id: uuid}, run: registry/share.ts#share, guard: own}
`,
  "registry/auth/partners.ts": `import type { DecisionPort, Identity, ScopePort } from "opwright/runtime";
interface Claims { readonly company: string }
export const verify = (token: string): Claims | null => (token === "" ? null : { company: token });
export const resolve = ({ company }: Claims): Identity => ({ principalId: company, actorId: null, sessionId: null, tenant: null, expiresAt: null });
export const decide: DecisionPort = ({ actions }) => actions.length > 0;
export const teamRows: ScopePort = ({ identity }) => ({ $values: { owner_id: identity.principalId } });
`,
  "registry/auth/kms.ts": `import type { Destination, ExternalSigner } from "opwright/runtime";
export const signer: ExternalSigner = { kid: "k", sign: (data) => data, publicKeys: [] };
export const send: Destination = async () => undefined;
`,
  "registry/share.ts": `import { stageEvent } from "../generated/outbox.js";
import type { NotesShareHandler } from "../generated/types/notes.js";
export const share: NotesShareHandler = async ({ id }, context) => {
  await stageEvent(context, "orders.placed", { order: id, total: 1 });
  await stageEvent(context, "orders.lost", { order: id });
};
`,
};

/** Events and commands, with names that are long. */
const realtime = {
  "registry/service.yaml": `registry: 1
service: {name: live, title: Live, version: 1.0.0-rc.1}
policies: {open: []}
identity: {methods: [token, password]}
`,
  "registry/live.yaml": `registry: 1
types:
  Order: {customer: uuid, state: [open, shipped]}
  Record: {nothing: {type: object, additionalProperties: false}, list: {type: array, items: {type: object, additionalProperties: false}}}
documents:
  orders: {type: Order, guard: open, tenant: false, emits: {create: order.changed}}
operations:
  orders.look_at_this_rather_long_name_of_an_operation: {post: /look, in: {order: uuid, note: string?}, out: Order, run: registry/look.ts#look, guard: open, transaction: read}
  orders.record: {get: /record, out: Record, run: registry/look.ts#record, guard: open}
  orders.ping: {post: /ping, run: registry/look.ts#ping, guard: open, idempotency: true}
  orders.poke: {get: /poke, run: registry/look.ts#ping, guard: open}
  orders.poke_with_a_rather_long_name_for_what_it_is_after_all: {get: "/poke/{order}", in: {order: uuid}, run: registry/look.ts#ping, guard: open}
  orders.next: {get: /next, out: {number: integer}, run: registry/look.ts#next, guard: open, transaction: write}
realtime:
  mount: {at: /live}
  transports: [sse]
  events:
    order.changed: {data: Order, audience: [topic], delivery: ephemeral, to: "customer:{customer}"}
    order.seen: {data: {order: uuid}, audience: [principal], delivery: durable}
  commands:
    order.look: {operation: orders.look_at_this_rather_long_name_of_an_operation}
    order.ping: {operation: orders.ping}
`,
  "registry/look.ts": `import type { Order } from "../generated/types/models.js";
const at = "2030-01-01T00:00:00Z";
const order = { id: "", rev: 1, created_at: at, last_update_at: at, customer: "", state: "open" } as const;
export const look = (): Order => order;
export const ping = () => undefined;
export const next = () => ({ number: 1 });
export const record = () => ({ nothing: {}, list: [{}] });
`,
};

/** A service that does nothing yet. */
const nothing = {
  "registry/service.yaml":
    "registry: 1\nservice: {name: none, title: None, version: 0.1.0}\npolicies: {open: []}\n",
};

/** With everything that a client can have. */
const whole = {
  "opwright.config.mjs": "export default { client: { queries: true, mocks: true } };\n",
};

/** The registries by the folders of their projects. */
const projects: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  nothing,
  realtime,
  identity,
  names,
  zoo,
  "200-operations": registryOf(200),
};

let root = "";
let remove = (): void => undefined;
beforeAll(async () => {
  const files = Object.entries(projects).flatMap(([folder, registry]) =>
    Object.entries({ ...registry, ...whole }).map(([path, text]) => [`${folder}/${path}`, text]),
  );
  ({ root, remove } = writeProject(Object.fromEntries(files)));
  for (const folder of Object.keys(projects)) {
    const { code, stdout } = await cli(join(root, folder), "generate");
    expect([folder, code, / error OPW\d/.test(stdout)]).toEqual([folder, 0, false]);
  }
  mkdirSync(join(root, "node_modules"));
  symlinkSync(repository, join(root, "node_modules/opwright"));
  symlinkSync(join(repository, "node_modules/@types"), join(root, "node_modules/@types"));
  writeFileSync(join(root, "package.json"), '{"type":"module"}');
  const { compilerOptions } = JSON.parse(
    readFileSync(join(repository, "tsconfig.base.json"), "utf8"),
  ) as { readonly compilerOptions: object };
  const include = Object.keys(projects).flatMap((folder) => [
    `${folder}/registry`,
    `${folder}/generated`,
  ]);
  writeFileSync(
    join(root, "tsconfig.json"),
    JSON.stringify({ compilerOptions: { ...compilerOptions, noUnusedLocals: true }, include }),
  );
}, 120_000);
afterAll(() => remove());

test.each(Object.keys(projects))("%s is printed as the formatter prints it", (folder) => {
  const project = join(root, folder);
  cpSync(join(repository, ".oxfmtrc.json"), join(project, ".oxfmtrc.json"));
  const [before, after] = [join(project, "generated"), join(project, "formatted")];
  cpSync(before, after, { recursive: true });
  rmSync(join(after, "validators"), { recursive: true, force: true });
  execFileSync(join(repository, "node_modules/.bin/oxfmt"), ["--write", "formatted"], {
    cwd: project,
    stdio: "pipe",
  });
  for (const entry of readdirSync(after, { recursive: true, encoding: "utf8" })) {
    if (!entry.endsWith(".ts")) continue;
    expect(readFileSync(join(before, entry), "utf8"), entry).toBe(
      readFileSync(join(after, entry), "utf8"),
    );
  }
});

// All in one program: a compiler of its own for each would read the library and the runtime's types six times.
test.each(["typescript", "typescript-5.9"])(
  "all compile under the strict flags, %s",
  (compiler) => {
    const { stdout, status } = spawnSync(
      process.execPath,
      [join(repository, "node_modules", compiler, "bin/tsc"), "-p", root, "--noEmit"],
      { encoding: "utf8" },
    );
    expect([stdout, status]).toEqual(["", 0]);
  },
);
