// A twin takes the rule of its original: nobody does by many, by filter, by search or by a signed address what single calls
// refuse (decisions.md "A twin takes the rule of its original", attack 130).
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { engines } from "../../support/engines.js";
import { peopleOf, type People, type Somebody } from "../../support/people.js";
import { testProject, type TestProject } from "../../support/project-service.js";
import type { TestService } from "../../support/service.js";

/** Operations of the documents `things`, each with the single calls by which a caller could do the same. */
const twins: Readonly<Record<string, readonly string[]>> = {
  create_many: ["create"],
  update_many: ["update"],
  update_where: ["get", "update"],
  delete_many: ["delete"],
  delete_where: ["get", "delete"],
  upsert: ["create", "update"],
  revert: ["get", "revision", "update"],
  list: ["get"],
  raw_list: ["get"],
  list_cursor: ["get"],
  raw_list_cursor: ["get"],
  agg_list: ["get"],
  revisions: ["get"],
  revision: ["get"],
  revision_diff: ["get"],
};
const singles = ["create", "get", "update", "kill", "delete", "restore"] as const;

/** The same of the storage `files`. */
const fileTwins: Readonly<Record<string, readonly string[]>> = {
  presign_download: ["download"],
  presign_upload: ["upload"],
  presign_post: ["upload"],
  begin_upload: ["upload"],
  copy: ["download", "upload"],
  move: ["download", "upload", "delete"],
  list: ["metadata"],
};
const fileSingles = ["upload", "download", "delete", "metadata"] as const;

const id = "01890000-0000-7000-8000-000000000001";
const json = { query: "", filters: {} };

/** A request for each operation; what it answers beyond its guard doesn't matter here. */
const requests: Readonly<Record<string, readonly [string, string, object?]>> = {
  "things.create": ["POST", "/things", { name: "a", size: 1 }],
  "things.get": ["GET", `/things/${id}`],
  "things.update": ["PATCH", `/things/${id}?rev=1`, { size: 2 }],
  "things.kill": ["DELETE", `/things/${id}`],
  "things.delete": ["POST", `/things/${id}/delete?rev=1`],
  "things.restore": ["POST", `/things/${id}/restore?rev=1`],
  "things.create_many": ["POST", "/things/create_many", { items: [{ name: "b", size: 1 }] }],
  "things.update_many": ["POST", "/things/update_many", { items: [{ id, patch: { size: 1 } }] }],
  "things.update_where": ["POST", "/things/update_where", { filters: {}, patch: { size: 3 } }],
  "things.delete_many": ["POST", "/things/delete_many", { items: [{ id }] }],
  "things.delete_where": ["POST", "/things/delete_where", { filters: {} }],
  "things.upsert": ["POST", "/things/upsert", { by: ["name"], document: { name: "c", size: 1 } }],
  "things.revert": ["POST", `/things/${id}/revert?rev=2&to=1`],
  "things.list": ["POST", "/things/list", {}],
  "things.raw_list": ["POST", "/things/raw_list", { return_fields: ["name"] }],
  "things.list_cursor": ["POST", "/things/list_cursor", {}],
  "things.raw_list_cursor": ["POST", "/things/raw_list_cursor", { return_fields: ["name"] }],
  "things.agg_list": [
    "POST",
    "/things/agg_list",
    { aggregates: { $computed: { n: { $count: {} } } } },
  ],
  "things.revisions": ["GET", `/things/${id}/revisions`],
  "things.revision": ["GET", `/things/${id}/revisions/1`],
  "things.revision_diff": ["GET", `/things/${id}/revisions/1/diff`],
  "finder.typed": ["POST", "/search/finder/typed", json],
  "finder.raw": ["POST", "/search/finder/raw", { ...json, return_fields: ["name"] }],
  "files.upload": ["POST", "/store/files"],
  "files.download": ["GET", "/store/files/a"],
  "files.delete": ["DELETE", "/store/files/a"],
  "files.metadata": ["POST", "/store/files/metadata", { key: "a" }],
  "files.presign_download": ["POST", "/store/files/presign/download", { key: "a", expires_in: 60 }],
  "files.presign_upload": ["POST", "/store/files/presign/upload", { key: "a", expires_in: 60 }],
  "files.presign_post": ["POST", "/store/files/presign/post", { key: "a", expires_in: 60 }],
  "files.begin_upload": ["POST", "/store/files/uploads", { key: "a" }],
  "files.copy": ["POST", "/store/files/copy", { from: "a", to: "b" }],
  "files.move": ["POST", "/store/files/move", { from: "a", to: "b" }],
  "files.list": ["POST", "/store/files/list", {}],
};

type Guard = Readonly<Record<string, string>>;

/** A registry in which each permission is a policy of its own: `p_create` needs `things.create`. */
function registryOf(guards: {
  readonly things: Guard;
  readonly files: Guard;
  readonly search: string;
}) {
  const names = [...singles, ...fileSingles, "read", "write", "other", "extra"];
  const policies = [...new Set(names)]
    .map((name) => `  p_${name}: [principal, tenant, {authorize: some.${name}}]`)
    .join("\n");
  const text = (guard: Guard): string =>
    `{${Object.entries(guard)
      .map(([verb, policy]) => `${verb}: ${policy}`)
      .join(", ")}}`;
  return {
    "registry/service.yaml": `registry: 1
service: {name: demo, title: Demo, version: 1.0.0}
identity: {methods: [token]}
tenancy: {}
policies:
${policies}
documents:
  things:
    type: {name: string, size: integer}
    guard: ${text(guards.things)}
    unique: [[name]]
    upsert: true
    soft_delete: true
    bulk: {max: 10}
    history: {revisions: true}
search:
  finder: {of: things, text: [name], guard: ${guards.search}}
storage:
  files: {guard: ${text(guards.files)}, presign: true, multipart: true, mount: {at: /store}}
`,
  };
}

async function refused(caller: Somebody, operation: string): Promise<boolean> {
  const [method, path, body] = requests[operation] ?? ["GET", "/"];
  const { status } = await caller.call(method, path, body);
  // A request that is refused before its guard would say nothing.
  if (operation !== "files.upload") expect([400, 401, 422, 428], operation).not.toContain(status);
  expect(status, operation).toBeLessThan(500);
  return status === 403;
}

/** What a caller may not do one by one, nobody may do otherwise; returns the ways around. */
async function waysAround(caller: Somebody): Promise<readonly string[]> {
  const found: string[] = [];
  const known = new Map<string, boolean>();
  const isRefused = async (operation: string): Promise<boolean> => {
    const before = known.get(operation) ?? (await refused(caller, operation));
    known.set(operation, before);
    return before;
  };
  const all = [
    ...Object.entries(twins).map(([twin, of]) => ["things", twin, of] as const),
    ...Object.entries(fileTwins).map(([twin, of]) => ["files", twin, of] as const),
    ["finder", "typed", ["things.get"]] as const,
    ["finder", "raw", ["things.get"]] as const,
  ];
  for (const [namespace, twin, originals] of all) {
    if (await isRefused(`${namespace}.${twin}`)) continue;
    for (const original of originals) {
      const single = original.includes(".") ? original : `${namespace}.${original}`;
      if (await isRefused(single)) found.push(`${namespace}.${twin} does what ${single} refuses`);
    }
  }
  return found;
}

describe.each(engines.filter(({ isAvailable }) => isAvailable))("on $name", (engine) => {
  let project: TestProject;
  let service: TestService;
  let people: People;
  beforeAll(async () => {
    const things = Object.fromEntries([
      ["read", "p_read"],
      ["write", "p_write"],
      ["revision", "p_extra"],
      ...singles.filter((verb) => verb !== "get").map((verb) => [verb, `p_${verb}`]),
    ]) as Guard;
    const files: Guard = { read: "p_read", write: "p_write", download: "p_download" };
    project = await testProject(registryOf({ things, files, search: "p_read" }));
    service = await project.start(engine);
    const { identitySpec } = await project.load("generated/identity.ts");
    people = peopleOf(service, identitySpec);
  });
  afterAll(async () => {
    await service.stop();
    project.remove();
  });

  test("a plain member does by no other way what single calls leave to others", async () => {
    const { token } = await people.member("", "some.read", "some.write");
    const member = people.by(token);
    for (const single of ["create", "update", "delete", "kill"])
      expect(await refused(member, `things.${single}`), single).toBe(true);
    for (const twin of ["create_many", "update_where", "delete_where", "upsert", "revert"])
      expect(await refused(member, `things.${twin}`), twin).toBe(true);
    expect(await waysAround(member)).toEqual([]);
    expect(await refused(member, "things.list")).toBe(false);
    expect(await refused(member, "files.presign_download")).toBe(true);
  });

  test("a revert shows old content to nobody who may not read it (attack 196)", async () => {
    for (const may of [["read"], ["extra"], []]) {
      const permissions = ["update", ...may].map((one) => `some.${one}`);
      const member = people.by((await people.member("", ...permissions)).token);
      expect(await refused(member, "things.update")).toBe(false);
      expect(await refused(member, "things.revision")).toBe(true);
      expect(await refused(member, "things.revert")).toBe(true);
      expect(await waysAround(member)).toEqual([]);
    }
  });

  test("whoever may do it one by one may do it to many", async () => {
    const may = [...singles.map((one) => `some.${one}`), "some.read", "some.extra"];
    const { token } = await people.member("", ...may);
    const member = people.by(token);
    for (const twin of Object.keys(twins))
      expect(await refused(member, `things.${twin}`), twin).toBe(false);
  });
});

describe.each(engines.filter(({ isAvailable }) => isAvailable))("hooks on $name", (engine) => {
  let project: TestProject;
  let service: TestService;
  let member: Somebody;
  beforeAll(async () => {
    project = await testProject(hooksProject);
    service = await project.start(engine);
    const { identitySpec } = await project.load("generated/identity.ts");
    const people = peopleOf(service, identitySpec);
    member = people.by((await people.member("")).token);
  });
  afterAll(async () => {
    await service.stop();
    project.remove();
  });
  /** What the hooks have noted since the last look. */
  const heard = async (): Promise<readonly string[]> =>
    (await member.call("POST", "/log/read")).body.lines;

  test("a hook that refuses a creation refuses it in every way to create", async () => {
    const bad = { name: "bad", size: 1 };
    expect((await member.call("POST", "/things", bad)).status).toBe(422);
    const some = { items: [bad, { name: "good", size: 1 }] };
    const many = (await member.call("POST", "/things/create_many", some)).body;
    expect([many.done, many.failed]).toEqual([1, 1]);
    expect(many.outcomes[0].error.code).toBe("core.validation");
    const all = await member.call("POST", "/things/create_many", { ...some, atomic: true });
    expect([all.status, all.body.code]).toEqual([409, "bulk_refused"]);
    const upsert = { by: ["name"], document: bad };
    expect((await member.call("POST", "/things/upsert", upsert)).status).toBe(422);
    const { hits } = (await member.call("POST", "/things/list", {})).body;
    expect(hits.map(({ name }: { name: string }) => name)).toEqual(["good"]);
  });

  test("hooks hear of every change as if it had been made alone, after its commit", async () => {
    await heard();
    const made = (await member.call("POST", "/things", { name: "one", size: 1 })).body;
    const one = await heard();
    const as = (name: string) => one.map((line) => line.replace(/one$/, name));
    expect(one).toEqual(["before create one", "tx create one", "done create one"]);
    const items = [{ name: "two", size: 2 }];
    await member.call("POST", "/things/create_many", { items });
    expect(await heard()).toEqual(as("two"));
    await member.call("POST", "/things/upsert", {
      by: ["name"],
      document: { name: "three", size: 3 },
    });
    expect(await heard()).toEqual(as("three"));
    await member.call("POST", "/things/upsert", {
      by: ["name"],
      document: { name: "three", size: 4 },
    });
    expect(await heard()).toEqual(["before update 4", "done update three"]);
    const patch = { size: 9 };
    await member.call("POST", "/things/update_many", { items: [{ id: made.id, patch }] });
    expect(await heard()).toEqual(["before update 9", "done update one"]);
    const where = { filters: { $values: { name: "one" } }, patch: { size: 8 } };
    const updated = await member.call("POST", "/things/update_where", where);
    expect(updated.body).toEqual({ matched: 1, done: 1 });
    expect(await heard()).toEqual(["before update 8", "done update one"]);
    await member.call("POST", `/things/${made.id}/revert?rev=3&to=1`);
    expect(await heard()).toEqual(["before update 1", "done update one"]);
    await member.call("POST", "/things/delete_where", where);
    await member.call("POST", "/things/delete_where", { filters: where.filters });
    expect(await heard()).toEqual(["before kill"]);
  });

  test("a wrap hook passes on what is written, whichever verb writes", async () => {
    const made = (await member.call("POST", "/capped", { size: 50 })).body;
    expect(
      (await member.call("PATCH", `/capped/${made.id}?rev=1`, { size: 9 })).body.data.size,
    ).toBe(5);
    const items = [{ id: made.id, patch: { size: 8 } }];
    const many = (await member.call("POST", "/capped/update_many", { items })).body;
    expect(many.outcomes[0].document?.size ?? many.outcomes[0]).toBe(5);
    expect((await member.call("POST", `/capped/${made.id}/revert?rev=2&to=1`)).body.size).toBe(5);
  });

  test("a hook of a policy judges each document as well", async () => {
    for (const path of ["/judged", "/judged/create_many", "/judged/upsert"]) {
      const document = { name: path, size: 101 };
      const body =
        path === "/judged"
          ? document
          : path.endsWith("many")
            ? { items: [document], atomic: true }
            : { by: ["name"], document };
      const status = (await member.call("POST", path, body)).status;
      expect([path, [409, 422].includes(status)]).toEqual([path, true]);
    }
    expect((await member.call("POST", "/judged/list", {})).body.count).toBe(0);
  });

  test("two requests that change the same documents in other orders both change all", async () => {
    const ids: string[] = [];
    for (let at = 0; at < 10; at += 1) ids.push(await member.make("capped", { size: at }));
    const change = (order: readonly string[]) =>
      member.call("POST", "/capped/update_many", {
        items: order.map((id) => ({ id, patch: { size: 3 } })),
      });
    for (let round = 0; round < 5; round += 1) {
      const answers = await Promise.all([change(ids), change(ids.toReversed()), change(ids)]);
      expect(answers.map(({ body }) => body.failed)).toEqual([0, 0, 0]);
    }
  });

  test("what fails at the end of a write decides nothing", async () => {
    const items = [{ text: "kept" }];
    expect((await member.call("POST", "/endings", { text: "one" })).status).toBe(201);
    const many = (await member.call("POST", "/endings/create_many", { items })).body;
    expect([many.done, many.failed]).toEqual([1, 0]);
  });

  test("what is undone is told of its failure, and of its end", async () => {
    await heard();
    const items = [
      { name: "x", size: 1 },
      { name: "bad", size: 1 },
    ];
    await member.call("POST", "/noted/create_many", { items, atomic: true });
    expect(await heard()).toEqual(["failed bad", "end bad", "failed x", "end x"]);
  });

  test("of what is undone, no hook hears that it was committed", async () => {
    await heard();
    const items = [
      { name: "x", size: 1 },
      { name: "bad", size: 1 },
    ];
    await member.call("POST", "/things/create_many", { items, atomic: true });
    expect(await heard()).toEqual(["before create x", "tx create x"]);
  });
});

const hooksProject = {
  "registry/service.yaml": `registry: 1
service: {name: demo, title: Demo, version: 1.0.0}
identity: {methods: [token]}
tenancy: {}
policies: {member: [principal, tenant], judges: [principal, tenant, judge]}
hooks: {judge: {phase: before, run: registry/hooks.ts#judge}}
documents:
  things:
    type: {name: string, size: integer}
    guard: member
    unique: [[name]]
    upsert: true
    bulk: {max: 10}
    history: {revisions: true}
    hooks:
      create:
        before: [registry/hooks.ts#refuseBad]
        tx_after: [registry/hooks.ts#inTransaction]
        after_commit: [registry/hooks.ts#created]
      update: {before: [registry/hooks.ts#updating], on_success: [registry/hooks.ts#updated]}
      kill: {before: [registry/hooks.ts#killing]}
  capped:
    type: {size: integer}
    guard: member
    bulk: {max: 10}
    history: {revisions: true}
    hooks: {update: {wrap: [registry/hooks.ts#cap]}}
  judged: {type: {name: string, size: integer}, guard: judges, bulk: {max: 10}, unique: [[name]], upsert: true}
  endings: {type: {text: string}, guard: member, bulk: {max: 10}, hooks: {create: {finally: [registry/hooks.ts#boom]}}}
  noted:
    type: {name: string, size: integer}
    guard: member
    bulk: {max: 10}
    hooks:
      create:
        before: [registry/hooks.ts#refuse]
        on_failure: [registry/hooks.ts#failed]
        finally: [registry/hooks.ts#ended]
operations:
  log.read: {post: /log/read, out: {lines: "string[]"}, run: registry/hooks.ts#read, guard: member}
`,
  "registry/hooks.ts": `import { fail } from "opwright/runtime";
let lines = [];
export const read = () => { const heard = lines; lines = []; return { lines: heard }; };
export const refuseBad = ({ name }) => {
  if (name === "bad") throw fail("core.validation", { errors: [{ path: "/name", keyword: "name", message: "is bad" }] });
  lines.push("before create " + name);
};
const told = (output) => (typeof output.parse === "function" ? output.parse() : output);
export const inTransaction = ({ name }) => void lines.push("tx create " + name);
export const created = (_input, _context, output) => void lines.push("done create " + told(output).name);
export const updating = ({ patch }) => void lines.push("before update " + patch.size);
export const updated = (_input, _context, output) => void lines.push("done update " + told(output).data.name);
const refused = () => fail("core.validation", { errors: [{ path: "", keyword: "no", message: "no" }] });
export const judge = (input) => {
  if (input?.size > 100) throw refused();
};
export const cap = (input, _context, next) => next(input.patch.size > 5 ? { ...input, patch: { size: 5 } } : input);
export const boom = () => {
  throw new Error("at the end");
};
export const refuse = ({ name }) => {
  if (name === "bad") throw refused();
};
export const failed = ({ name }) => void lines.push("failed " + name);
export const ended = ({ name }) => void lines.push("end " + name);
export const killing = () => void lines.push("before kill");
`,
};

const policy = fc.constantFrom("p_read", "p_write", "p_other", "p_extra");
const maybe = <Name extends string>(names: readonly Name[]) =>
  fc.dictionary(fc.constantFrom(...names), policy, { maxKeys: names.length });

test(
  "with random guards, nothing is open that single calls refuse",
  { timeout: 240_000 },
  async () => {
    const [engine] = engines;
    if (engine === undefined) throw new Error("SQLite is always there");
    await fc.assert(
      fc.asyncProperty(
        maybe([...singles, ...Object.keys(twins)]),
        maybe([...fileSingles, ...Object.keys(fileTwins)]),
        policy,
        fc.array(fc.subarray(["read", "write", "other", "extra"]), { minLength: 4, maxLength: 4 }),
        async (things, files, search, callers) => {
          const usual = { read: "p_read", write: "p_write" };
          const project = await testProject(
            registryOf({ things: { ...usual, ...things }, files: { ...usual, ...files }, search }),
          );
          const service = await project.start(engine);
          try {
            const { identitySpec } = await project.load("generated/identity.ts");
            const people = peopleOf(service, identitySpec);
            for (const permissions of callers) {
              const { token } = await people.member("", ...permissions.map((one) => `some.${one}`));
              expect(await waysAround(people.by(token)), permissions.join()).toEqual([]);
            }
          } finally {
            await service.stop();
            project.remove();
          }
        },
      ),
      { numRuns: 4 },
    );
  },
);
