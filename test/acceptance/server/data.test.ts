// `server.js export` and `import`: what a service keeps moves to another engine and back, and data from elsewhere comes in.
import { createHash, randomUUID } from "node:crypto";
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { documentStore } from "../../../runtime/ports/documents.js";
import { everything } from "../../../runtime/query/ast.js";
import { engines, sharedDatabase, type TestEngine } from "../../support/engines.js";
import { password, peopleOf, type People } from "../../support/people.js";
import { testProject, type TestProject } from "../../support/project-service.js";
import type { TestService } from "../../support/service.js";
import { versionOf, type Version } from "../../support/version-process.js";

const files = {
  "registry/service.yaml": `registry: 1
service: {name: demo, title: Demo, version: 1.0.0}
policies: {member: [principal, tenant], admin: [principal, {authorize: platform.admin}]}
identity:
  methods: [token, password, api_key]
  ingress: [{bearer: Authorization}, {api_key: X-API-Key}]
  api_keys: {}
  export: {guard: admin}
tenancy: {}
storage:
  scans: {guard: member, accept: [text/plain, image/*], max_upload: 1MiB}
  secrets: {guard: member, encryption: client}
jobs:
  visits.remind: {in: {id: uuid}, run: registry/code.ts#remind, as: service, keep: 365d}
documents:
  countries: {type: {name: string}, guard: member, tenant: false, id: client}
  clients:
    type: {name: string, referred_by: {ref: clients?}, balance: {decimal: 2}, tags: "string[]", since: date?}
    guard: member
    soft_delete: {list_deleted: true}
    history: {revisions: true}
    unique: [[name]]
    id: client
  invoices:
    type: {client: {ref: clients}, number: string, at: integer, total: {decimal: 2}, status: [draft, sent, paid], copies: [{ref: clients, on_delete: remove}]}
    defaults: {copies: []}
    guard: member
    unique: [[number]]
    set:
      number: {$number: {format: "INV-{year}-{0000}", per: [year]}}
      at: {$number: {per: [client]}}
  visits:
    type: {client: {ref: clients, on_delete: cascade}, room: string, from: date-time, to: date-time}
    guard: member
    soft_delete: true
    no_overlap: {per: [room], range: [from, to]}
    remind: {job: visits.remind, at: {field: from, minus: 1h}}
search:
  clients_search: {of: clients, text: [name, tags], guard: member, mount: {at: /search/clients}}
`,
  "registry/code.ts": `export const remind = async () => undefined;
`,
};

let project: TestProject;
let version: Version;
const root = mkdtempSync(join(tmpdir(), "opwright-data-"));
let folders = 0;
const newFolder = (): string => join(root, `${(folders += 1)}`);

/** The hash of each file of a folder. */
function hashes(folder: string): Readonly<Record<string, string>> {
  const found = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
  return Object.fromEntries(
    found.map((path) => [
      relative(folder, path),
      createHash("sha256").update(readFileSync(path)).digest("hex"),
    ]),
  );
}

/** A folder of lines. */
function folderOf(sets: Readonly<Record<string, readonly unknown[]>>): string {
  const folder = newFolder();
  for (const [name, lines] of Object.entries(sets)) {
    const path = join(folder, `${name}.jsonl`);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(
      path,
      lines.map((line) => `${typeof line === "string" ? line : JSON.stringify(line)}\n`).join(""),
    );
  }
  return folder;
}

/** A database of an engine with its own folder of files, and commands on it. */
async function placeOn(engine: TestEngine) {
  const { environment: database, same, drop } = await sharedDatabase(engine);
  const environment = { ...database, DATA_DIR: newFolder() };
  return {
    drop,
    /** Runs a command to its end; this process goes on meanwhile, and with it what it has begun. */
    async run(...args: readonly string[]) {
      const child = version.spawn(environment, ...args);
      return { code: await child.exited, output: child.output() };
    },
    spawn: (...args: readonly string[]) => version.spawn(environment, ...args),
    start: (): Promise<TestService> => project.start(same, { environment, signsIn: false }),
  };
}

beforeAll(async () => {
  project = await testProject(files);
  version = await versionOf(project);
}, 120_000);
afterAll(() => {
  project.remove();
  rmSync(root, { recursive: true, force: true });
});

/** Everything that the service keeps, put there by its callers. */
async function fill(service: TestService) {
  const { identitySpec } = await project.load("generated/identity.ts");
  const people: People = peopleOf(service, identitySpec);
  const { token, id, tenantId, login } = await people.member("", "clients.edit");
  const other = await people.member("");
  await people.grant(null, id, "role:staff");
  await people.grant(null, "role:staff", "reports.read");
  const mine = people.by(token);
  const germany = randomUUID();
  await mine.make("countries", { id: germany, name: "Germany" });
  // The one that is referred to comes behind, in the order of ids.
  const first = "00000000-0000-4000-8000-000000000001";
  const last = "ffffffff-0000-4000-8000-000000000001";
  await mine.make("clients", { id: last, name: "Ønskeøen ☃", balance: 10.5, tags: ["b", "a"] });
  await mine.make("clients", {
    id: first,
    name: "First",
    referred_by: last,
    balance: 0,
    tags: [],
    since: "2020-02-29",
  });
  const gone = await mine.make("clients", {
    id: randomUUID(),
    name: "Gone",
    balance: 1e10,
    tags: [],
  });
  const along = await mine.make("visits", {
    client: gone,
    room: "B",
    from: "2999-01-01T10:00:00Z",
    to: "2999-01-01T11:00:00Z",
  });
  await mine.call("PATCH", `/clients/${last}?rev=1`, { tags: ["c"] });
  await mine.call("POST", `/clients/${gone}/delete?rev=1`);
  for (const total of [1, 2.25])
    await mine.make("invoices", { client: first, total, status: "sent" });
  const dropped = await mine.make("invoices", { client: first, total: 3, status: "draft" });
  await mine.call("DELETE", `/invoices/${dropped}`);
  await mine.make("visits", {
    client: first,
    room: "A",
    from: "2999-01-01T10:00:00+01:00",
    to: "2999-01-01T11:00:00Z",
  });
  await mine.make("visits", {
    client: first,
    room: "A",
    from: "2001-01-01T10:00:00Z",
    to: "2001-01-01T11:00:00Z",
  });
  await people
    .by(other.token)
    .make("clients", { id: first, name: "Of another", balance: 1, tags: [] });
  const upload = async (path: string, text: string) => {
    const form = new FormData();
    form.set("file", new File([text], "größe.txt", { type: "text/plain" }));
    const { status } = await service.call("POST", path, {
      body: form,
      headers: { authorization: `Bearer ${token}` },
    });
    expect(status).toBe(201);
  };
  await upload("/scans/files", "one");
  await upload("/secrets/files", "two");
  const key = (await people.as(token, "POST", "/api-keys", { label: "bot" })).body;
  return { login, tenantId, first, last, gone, along, key };
}

const [sqlite, postgres] = engines;

describe.skipIf(postgres?.isAvailable !== true)("what a service keeps", () => {
  test("moves from SQLite to PostgreSQL and back, and is the same by its hash", async () => {
    const [one, two, three] = await Promise.all(
      [sqlite, postgres, sqlite].map((engine) => placeOn(engine as TestEngine)),
    );
    if (one === undefined || two === undefined || three === undefined)
      throw new Error("no engines");
    const before = await one.start();
    const had = await fill(before);
    await before.stop();
    const folder = newFolder();
    expect(await one.run("export", folder)).toMatchObject({
      code: 0,
      output: expect.stringContaining("documents/clients: 4\n"),
    });
    const said = await two.run("import", folder);
    expect([said.code, said.output]).toEqual([
      0,
      expect.stringContaining("documents/clients: 4 added, 0 there already\n"),
    ]);
    const again = newFolder();
    expect((await two.run("export", again)).code).toBe(0);
    expect((await three.run("import", again)).code).toBe(0);
    const third = newFolder();
    expect((await three.run("export", third)).code).toBe(0);
    const files = hashes(folder);
    for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true }))
      expect(statSync(join(entry.parentPath, entry.name)).mode & 0o077).toBe(0);
    expect(statSync(folder).mode & 0o077).toBe(0);
    expect(Object.keys(files).filter((path) => path.endsWith(".jsonl"))).toEqual([
      "accounts.jsonl",
      "api_keys.jsonl",
      "deletions/clients.jsonl",
      "documents/clients.jsonl",
      "documents/countries.jsonl",
      "documents/invoices.jsonl",
      "documents/visits.jsonl",
      "files/scans.jsonl",
      "files/secrets.jsonl",
      "grants.jsonl",
      "memberships.jsonl",
      "numbers/invoices.jsonl",
      "revisions/clients.jsonl",
      "tenants.jsonl",
    ]);
    expect(hashes(again)).toEqual(files);
    expect(hashes(third)).toEqual(files);
    // Of the visits that are there, one is to come.
    expect((await two.run("jobs")).output).toContain('"scheduled":1,');
    // Once more, it is all there.
    expect((await two.run("import", folder)).output).not.toMatch(/[1-9]\d* added/);

    const service = await two.start();
    const { body: session } = await service.post("/auth/login", { login: had.login, password });
    const signed = await service.post(`/tenants/${had.tenantId}/activate`, undefined, {
      authorization: `Bearer ${session.access_token}`,
    });
    const token = signed.body.access_token;
    const as = (method: string, path: string, body?: object) =>
      service.call(method, path, { body, headers: { authorization: `Bearer ${token}` } });
    expect((await as("GET", `/clients/${had.last}`)).body).toMatchObject({
      name: "Ønskeøen ☃",
      rev: 2,
      balance: 10.5,
      tags: ["c"],
    });
    expect(
      (await as("POST", "/search/clients/typed", { query: "Ønskeøen" })).body.hits,
    ).toHaveLength(1);
    expect((await as("GET", `/clients/${had.last}/revisions/1`)).body).toMatchObject({
      data: { tags: ["b", "a"] },
    });
    expect((await as("POST", `/clients/${had.gone}/restore?rev=2`)).body).toMatchObject({
      name: "Gone",
      balance: 1e10,
    });
    // What its deletion took along comes back as well.
    expect((await as("GET", `/visits/${had.along}`)).body).toMatchObject({ room: "B" });
    // The number of the invoice that was removed is not given again.
    const { body: invoice } = await as("POST", "/invoices", {
      client: had.first,
      total: 4,
      status: "draft",
    });
    expect(invoice).toMatchObject({ number: expect.stringMatching(/^INV-\d{4}-0004$/), at: 4 });
    expect(
      (
        await as("POST", "/visits", {
          client: had.first,
          room: "A",
          from: "2999-01-01T09:30:00Z",
          to: "2999-01-01T09:45:00Z",
        })
      ).body.code,
    ).toBe("overlap_violation");
    const { body: scans } = await as("POST", "/scans/files/list", {});
    expect(scans.hits).toHaveLength(1);
    expect((await as("GET", `/scans/files/${scans.hits[0].key}`)).body).toBe("one");
    const { body: kept } = await as("POST", "/secrets/files/list", {});
    expect((await as("GET", `/secrets/files/${kept.hits[0].key}`)).body).toBe("two");
    const byKey = await service.call("GET", `/clients/${had.first}`, {
      headers: { authorization: "", "x-api-key": had.key.api_key },
    });
    expect(byKey.body).toMatchObject({ name: "First" });
    await service.stop();
    await Promise.all([one.drop(), two.drop(), three.drop()]);
  }, 240_000);
});

const client = (given: object = {}): object => ({
  data: { id: randomUUID(), name: randomUUID(), balance: 1, tags: [], ...given },
});

/** The lines of what went wrong, without what the process logs. */
function told({ output }: { readonly output: string }): readonly string[] {
  return output.split("\n").filter((line) => /\.jsonl|^core|^unique/.test(line));
}

for (const engine of engines)
  describe.skipIf(!engine.isAvailable)(`data from elsewhere on ${engine.name}`, () => {
    let place: Awaited<ReturnType<typeof placeOn>>;
    let service: TestService;
    beforeEach(async () => {
      place = await placeOn(engine);
      service = await place.start();
    });
    afterEach(async () => {
      await service.stop();
      await place.drop();
    });
    const countClients = async (withDeleted = true): Promise<number> => {
      const store = service.running.connection.database.reader.of(documentStore);
      const { clientsSpec } = await project.load("generated/documents/clients.ts");
      const all = { filter: everything, sorts: [], withDeleted };
      return store.count(clientsSpec, "default", all);
    };

    test("lines that say only what they must get the rest", async () => {
      const id = randomUUID().toUpperCase();
      const folder = folderOf({ "documents/clients": [client({ id, since: "2024-02-29" }), ""] });
      expect((await place.run("import", folder, "--check")).output).toContain(
        "documents/clients: 1\n",
      );
      expect(await countClients()).toBe(0);
      expect((await place.run("import", folder)).output).toContain("clients: 1 added");
      const { clientsSpec } = await project.load("generated/documents/clients.ts");
      const store = service.running.connection.database.reader.of(documentStore);
      const stored = await store.get(clientsSpec, "default", id.toLowerCase());
      expect(stored).toMatchObject({
        id: id.toLowerCase(),
        rev: 1,
        ownerId: null,
        isDeleted: false,
      });
      expect(stored?.createdAt).toBe(stored?.lastUpdateAt);
      expect((await place.run("import", folder)).output).toContain(
        "clients: 0 added, 1 there already",
      );
    });

    test("where a line is wrong, all that is wrong is told, and nothing is written", async () => {
      const twice = randomUUID();
      const folder = folderOf({
        "documents/clients": [
          client(),
          "{",
          client({ balance: "1" }),
          client({ balance: 1.005 }),
          client({ id: "7" }),
          client({ unknown: true }),
          '{"data":{"id":"' + twice + '","name":"a\\u0000","balance":1,"tags":[]}}',
          { tenant_id: "nowhere", ...client() },
          client({ referred_by: twice }),
          client({ rev: 0 }),
          client({ created_at: "yesterday" }),
          { ...client(), owner: "x" },
          '{"data":{"id":"' + twice + '","name":"a","name":"b","balance":1,"tags":[]}}',
          '{"data":{"id":"' + twice + '","name":"a","balance":1,"tags":[],"__proto__":{"x":1}}}',
        ],
        "documents/visits": [
          { data: { id: randomUUID(), client: twice, room: "A", from: "2020-01-01T00:00:00Z" } },
        ],
        grants: [{ subject: randomUUID(), permission: "a.b" }],
      });
      const said = await place.run("import", folder);
      expect(said.code).toBe(1);
      expect(told(said).map((line) => line.replaceAll(/[0-9a-f-]{36}/g, "ID")))
        .toMatchInlineSnapshot(`
        [
          "core.validation: nothing was imported:",
          "  documents/clients.jsonl:2: not JSON",
          "  documents/clients.jsonl:3 /data/balance: must be number",
          "  documents/clients.jsonl:4 /data/balance: must be multiple of 0.01",
          "  documents/clients.jsonl:5 /data/id: must be a UUID",
          "  documents/clients.jsonl:6 /data/unknown: must NOT have additional properties",
          "  documents/clients.jsonl:7 /data/name: must NOT contain U+0000",
          "  documents/clients.jsonl:10 /data/rev: must be an integer from 1 to 2000000000",
          "  documents/clients.jsonl:11 /data/created_at: must be a date-time",
          "  documents/clients.jsonl:12 /owner: must NOT have additional properties",
          "  documents/clients.jsonl:13: The body repeats a key within one object (offset 64)",
          "  documents/clients.jsonl:14 /data/__proto__: must NOT have additional properties",
          "  documents/visits.jsonl:1 /data/to: must have required property 'to'",
          "  grants.jsonl:1 /subject: accounts has no ID, here or in the service",
          "  documents/clients.jsonl:8 /tenant_id: tenants has no nowhere, here or in the service",
          "  documents/clients.jsonl:9 /data/referred_by: documents/clients has no default/ID, here or in the service",
        ]
      `);
      expect(await countClients()).toBe(0);
    });

    test("files that the service has nothing to do with are told", async () => {
      const folder = folderOf({
        "documents/clients": [client()],
        "documents/customers": [client()],
      });
      writeFileSync(join(folder, "notes.txt"), "x");
      const said = await place.run("import", folder);
      expect([said.code, said.output]).toEqual([
        1,
        expect.stringContaining("has documents/customers.jsonl, notes.txt; the service reads"),
      ]);
      expect((await place.run("import", join(folder, "nowhere"))).code).toBe(1);
      expect(await place.run("export", folder)).toMatchObject({
        code: 1,
        output: expect.stringContaining("isn't empty"),
      });
      expect((await place.run("export", "")).code).toBe(2);
      expect((await place.run("export", join(folder, "a/b"))).output).toMatch(
        /^core\.infrastructure: .*ENOENT/m,
      );
      mkdirSync(join(folder, "documents/visits.jsonl"));
      expect((await place.run("import", folder)).output).toContain("documents/visits.jsonl");
    });

    test("what only the database can refuse is told with its line, and the rest goes on from there", async () => {
      const lines = Array.from({ length: 2_500 }, (_, at) => client({ name: `c${at}` }));
      lines[1_700] = client({ name: "c3" });
      const folder = folderOf({ "documents/clients": lines });
      const said = await place.run("import", folder);
      expect(said.code).toBe(1);
      expect(said.output).toContain(
        "unique_violation: documents/clients.jsonl:1701: Another document",
      );
      expect(await countClients()).toBe(1_700);
      lines[1_700] = client({ name: "c1700" });
      writeFileSync(
        join(folder, "documents/clients.jsonl"),
        lines.map((line) => JSON.stringify(line)).join("\n"),
      );
      expect((await place.run("import", folder)).output).toContain(
        "clients: 800 added, 1700 there already",
      );
    });

    test("an import that is killed goes on where it is run again", async () => {
      const lines = Array.from({ length: 20_000 }, (_, at) => client({ name: `c${at}` }));
      const folder = folderOf({ "documents/clients": lines });
      const first = place.spawn("import", folder);
      await expect.poll(() => countClients(), { interval: 5, timeout: 60_000 }).toBeGreaterThan(0);
      first.child.kill("SIGKILL");
      await first.exited;
      // What it had sent may still be committed.
      const had = await countClients();
      const { output } = await place.run("import", folder);
      const [, added, there] = /clients: (\d+) added, (\d+) there already/.exec(output) ?? [];
      expect([Number(added) + Number(there), Number(there) % 5_000]).toEqual([20_000, 0]);
      expect(Number(there)).toBeGreaterThanOrEqual(had);
      expect(await countClients()).toBe(20_000);
    });

    test("a document that is there and is another one is refused", async () => {
      const id = randomUUID();
      expect(
        (
          await place.run(
            "import",
            folderOf({ "documents/clients": [client({ id, name: "one" })] }),
          )
        ).code,
      ).toBe(0);
      const said = await place.run(
        "import",
        folderOf({ "documents/clients": [client({ id, name: "two" })] }),
      );
      expect([said.code, said.output]).toEqual([
        1,
        expect.stringContaining(`clients ${id} is there, and is another one`),
      ]);
      const twiceId = randomUUID();
      const twice = folderOf({
        "documents/clients": [
          client({ id: twiceId, name: "three" }),
          client({ id: twiceId, name: "four" }),
        ],
      });
      expect((await place.run("import", twice)).output).toContain(
        "core.conflict: documents/clients.jsonl:2: clients",
      );
    });

    test("references lead to lines behind, to lines of other files, and to what is there", async () => {
      const [one, two, three] = [randomUUID(), randomUUID(), randomUUID()];
      const first = folderOf({
        "documents/clients": [
          client({ id: one, referred_by: two }),
          client({ id: two, referred_by: one }),
        ],
        "documents/visits": [
          {
            data: {
              id: randomUUID(),
              client: two,
              room: "A",
              from: "2020-01-01T00:00:00Z",
              to: "2020-01-02T00:00:00Z",
            },
          },
        ],
      });
      expect((await place.run("import", first)).code).toBe(0);
      const second = folderOf({ "documents/clients": [client({ id: three, referred_by: one })] });
      expect((await place.run("import", second)).code).toBe(0);
      const deleted = folderOf({
        "documents/clients": [
          client({ id: randomUUID(), is_deleted: true, referred_by: randomUUID() }),
          client({ referred_by: three }),
        ],
      });
      expect((await place.run("import", deleted)).code).toBe(0);
      expect(await countClients(false)).toBe(4);
    });

    test("ranges and numbers hold as for callers", async () => {
      const id = randomUUID();
      const visit = (from: string, to: string) => ({
        data: { id: randomUUID(), client: id, room: "A", from, to },
      });
      const overlapping = folderOf({
        "documents/clients": [client({ id })],
        "documents/visits": [
          visit("2030-01-01T00:00:00Z", "2030-01-03T00:00:00Z"),
          visit("2030-01-02T00:00:00Z", "2030-01-04T00:00:00Z"),
        ],
      });
      expect((await place.run("import", overlapping)).output).toContain(
        "overlap_violation: documents/visits.jsonl:2: The range",
      );
      const [tenant_id, who] = [randomUUID(), randomUUID()];
      const invoice = { client: id, total: 1, status: "paid" };
      const numbered = (given: object): object => ({
        tenant_id,
        owner_id: who,
        data: { id: randomUUID(), ...invoice, ...given },
      });
      const folder = folderOf({
        tenants: [{ id: tenant_id, key: "acme" }],
        accounts: [{ id: who, login: "ada@example.test" }],
        memberships: [{ tenant_id, principal_id: who }],
        "documents/clients": [{ tenant_id, ...client({ id }) }],
        "documents/invoices": [
          numbered({ number: "INV-2024-0311", at: 12, created_at: "2024-05-01T00:00:00Z" }),
          numbered({ number: "legacy 4", at: 3 }),
        ],
      });
      expect(await place.run("import", folder)).toMatchObject({ code: 0 });
      const { identitySpec } = await project.load("generated/identity.ts");
      const people = peopleOf(service, identitySpec);
      const { access_token: token } = await people.session(who, tenant_id);
      const made = await people.as(token, "POST", "/invoices", invoice);
      expect(made.body).toMatchObject({ number: expect.stringMatching(/-0001$/), at: 13 });
    });

    test("files need their bytes, and fit their storage", async () => {
      const hash = createHash("sha256").update("hello").digest("hex");
      const of = (line: object): string => {
        const folder = folderOf({ "files/scans": [{ key: "a/b.txt", sha256: hash, ...line }] });
        mkdirSync(join(folder, "contents"));
        writeFileSync(join(folder, "contents", hash), "hello");
        return folder;
      };
      expect((await place.run("import", of({}))).output).toContain("files/scans: 1 added");
      expect((await place.run("import", of({}))).output).toContain(
        "files/scans: 0 added, 1 there already",
      );
      expect(
        (await place.run("import", of({ content_type: "application/zip", key: "c" }))).output,
      ).toContain("files/scans.jsonl:1: Files of this type are not accepted");
      expect((await place.run("import", of({ sha256: "0".repeat(64) }))).output).toContain(
        "files/scans.jsonl:1 /sha256",
      );
      expect((await place.run("import", of({ key: "../up" }))).output).toContain(
        "files/scans.jsonl:1 /key",
      );
    });

    test("revisions are those of documents, and the last one is what the document is", async () => {
      const id = randomUUID();
      const body = { name: "three", balance: 1, tags: [], since: null, referred_by: null };
      const revisions = (given: readonly object[]) => ({
        "documents/clients": [{ data: { id, rev: 3, ...body } }],
        "revisions/clients": given,
      });
      const says = async (given: readonly object[]) =>
        (await place.run("import", folderOf(revisions(given)))).output;
      const one = { id, rev: 1, data: { ...body, name: "one" } };
      expect(await says([{ ...one, id: randomUUID() }])).toContain(
        "revisions/clients has no default/",
      );
      expect(await says([{ ...one, data: { ...body, evil: 1 } }])).toContain(
        "/data/evil: is no field",
      );
      expect(await says([one, { ...one, rev: 4 }])).toContain(
        "revisions/clients.jsonl:2: revision 4 of",
      );
      expect(await says([{ id, rev: 3, data: { ...body, name: "other" } }])).toContain(
        "revision 3 of",
      );
      const changed = {
        changed_by: randomUUID().toUpperCase(),
        changed_at: "2020-01-01T00:00:00Z",
      };
      const right = [one, { id, rev: 3, ...changed, data: body }];
      expect(await says(right)).toContain("revisions/clients: 1 added, 1 there already");
      expect(await says(right)).toContain("revisions/clients: 0 added, 2 there already");
      expect(await says([{ ...one, data: { ...body, name: "uno" } }])).toContain("revision 1 of");
    });

    test("ids of people are compared as they are stored", async () => {
      const [tenant_id, who, other] = [randomUUID(), randomUUID(), randomUUID()];
      const folder = folderOf({
        tenants: [{ id: tenant_id, key: "acme" }],
        accounts: [
          { id: who, login: "ada@example.test" },
          { id: other, login: "bob@example.test" },
        ],
        grants: [{ tenant_id, subject: who.toUpperCase(), permission: "clients.edit" }],
        "documents/clients": [{ tenant_id, owner_id: who.toUpperCase(), ...client() }],
      });
      expect(await place.run("import", folder)).toMatchObject({ code: 0 });
      const again = newFolder();
      expect((await place.run("export", again)).code).toBe(0);
      const text = readFileSync(join(again, "documents/clients.jsonl"), "utf8");
      expect(text).toContain(`"owner_id":"${who}"`);
      expect(readFileSync(join(again, "grants.jsonl"), "utf8")).toContain(`"subject":"${who}"`);
      const told = async (sets: Readonly<Record<string, readonly unknown[]>>) =>
        (await place.run("import", folderOf(sets))).output;
      expect(await told({ "documents/clients": [{ owner_id: "ada", ...client() }] })).toContain(
        "/owner_id: must be a UUID",
      );
      for (const hash of [
        "$argon2id$garbage",
        "$argon2id$v=19$m=4194304,t=50,p=1$c2FsdHNhbHQ$aGFzaGhhc2hoYXNoaGFzaGhhc2g",
        "$2b$12$abc",
      ])
        expect(
          await told({
            accounts: [{ id: randomUUID(), login: "eve@example.test", password_hash: hash }],
          }),
        ).toContain("/password_hash: must be a PHC string");
      const key = {
        id: randomUUID(),
        digest: "d".repeat(64),
        prefix: "k",
        hint: "k…",
        created_at: 1,
      };
      expect(await told({ api_keys: [{ ...key, principal_id: who, tenant_id }] })).toContain(
        "api_keys: 1 added",
      );
      expect(await told({ api_keys: [{ ...key, principal_id: who }] })).toContain(
        "api_keys.jsonl:1: the API key",
      );
      expect(await told({ api_keys: [{ ...key, principal_id: other }] })).toContain(
        "api_keys.jsonl:1: the API key",
      );
    });

    test("texts of editors are read, and dates that are said are compared", async () => {
      const folder = folderOf({
        "documents/clients": [client({ last_update_at: "2024-01-01T00:00:00Z" })],
      });
      const path = join(folder, "documents/clients.jsonl");
      const text = readFileSync(path, "utf8");
      writeFileSync(path, `\u{feff}${text.trimEnd()}\r\n  \t  \r\n`);
      expect((await place.run("import", folder)).output).toContain("clients: 1 added");
      writeFileSync(path, text.replace("2024-01-01", "2020-01-01"));
      expect((await place.run("import", folder)).output).toContain("is another one");
    });

    test("what is named may be in a batch behind, and is missed where no line has it", async () => {
      const ids = Array.from({ length: 11 }, () => randomUUID()).sort();
      const [first = "", last = ""] = [ids[0], ids.at(-1)];
      const lines = ids.map((id) => client({ id, ...(id === first ? { referred_by: last } : {}) }));
      const folder = folderOf({ "documents/clients": lines.slice(0, -1) });
      const rest = folderOf({ "documents/clients": lines.slice(-1) });
      expect((await place.run("import", folder)).output).toContain(`has no default/${last}`);
      expect((await place.run("import", rest)).output).toContain("clients: 1 added");
      expect((await place.run("import", folder)).output).toContain("clients: 10 added");
      const [again, behind] = [randomUUID(), randomUUID()];
      const whole = [
        client({ id: again, referred_by: behind }),
        ...Array.from({ length: 5_000 }, () => client()),
        client({ id: behind }),
      ];
      const cut = folderOf({ "documents/clients": whole.slice(0, -1) });
      expect((await place.run("import", cut)).output).toContain(`has no default/${behind}`);
      const all = await place.run("import", folderOf({ "documents/clients": whole }));
      expect(all.output).toContain("clients: 5002 added");
    });
  });

const plain = {
  "registry/service.yaml": `registry: 1
service: {name: plain, title: Plain, version: 1.0.0}
policies: {open: []}
storage: {scans: {guard: open}}
documents:
  counted: {type: {name: string, n: integer}, guard: open, history: {revisions: true, keep: 3}, set: {n: {$number: {per: [name]}}}, tenant: false}
  owned: {type: {name: string}, guard: open}
  keyed: {type: {name: string}, key: name, guard: open}
`,
};

for (const engine of engines)
  describe.skipIf(!engine.isAvailable)(`a service without people on ${engine.name}`, () => {
    let other: TestProject;
    let commands: Version;
    beforeAll(async () => {
      other = await testProject(plain);
      commands = await versionOf(other);
    }, 120_000);
    afterAll(() => other.remove());
    const on = async () => {
      const { url, same, drop } = await sharedDatabase(engine);
      const environment = { DATABASE_URL: url, DATA_DIR: newFolder() };
      return {
        drop,
        run: (...args: readonly string[]) => commands.run(environment, ...args),
        start: () => other.start(same, { environment }),
      };
    };

    test("tenants are of those who have them, and nothing else than itself is exported", async () => {
      const place = await on();
      const owned = { data: { id: randomUUID(), name: "a" } };
      expect(place.run("export", newFolder()).stderr).toMatch(
        /^core\.configuration: the database lacks 0001/m,
      );
      expect(place.run("import", folderOf({ "documents/owned": [owned] }), "--check").code).toBe(1);
      const foreign = { "documents/owned": [{ tenant_id: "acme", ...owned }] };
      expect(place.run("import", folderOf(foreign)).stderr).toContain(
        "/tenant_id: tenants has no acme",
      );
      for (const tenant_id of ["acme", "a/b", "", "..", "~uploads"])
        expect(
          place.run("import", folderOf({ "files/scans": [{ tenant_id, key: "a", sha256: "0" }] }))
            .stderr,
        ).toContain("files/scans.jsonl:1");
      expect(place.run("import", folderOf({ "documents/owned": [owned] })).code).toBe(0);
      await place.drop();
    });

    test("counters and histories come as they are, also twice", async () => {
      const [one, two] = [await on(), await on()];
      const service = await one.start();
      const made = (await service.post("/counted", { name: "a" })).body;
      for (let rev = 1; rev < 6; rev += 1)
        await service.call("PATCH", `/counted/${made.id}?rev=${rev}`, {
          body: { name: `b${rev}` },
        });
      await service.stop();
      const [first, second, third] = [newFolder(), newFolder(), newFolder()];
      expect(one.run("export", first).code).toBe(0);
      expect(two.run("import", first).code).toBe(0);
      expect(two.run("export", second).code).toBe(0);
      expect(hashes(second)).toEqual(hashes(first));
      expect(readFileSync(join(first, "numbers/counted.jsonl"), "utf8").split("\n")).toHaveLength(
        2,
      );
      expect(two.run("import", first).stdout).not.toMatch(/[1-9]\d* added/);
      // Older revisions than are kept are passed over.
      const line = JSON.parse(
        readFileSync(join(first, "revisions/counted.jsonl"), "utf8").split("\n")[0] ?? "",
      );
      const older = folderOf({ "revisions/counted": [{ ...line, rev: 1 }] });
      expect(two.run("import", older).stdout).toContain(
        "revisions/counted: 0 added, 1 there already",
      );
      expect(two.run("export", third).code).toBe(0);
      expect(hashes(third)).toEqual(hashes(first));
      await Promise.all([one.drop(), two.drop()]);
    });

    test("a key that no path could have is refused, as callers are", async () => {
      const place = await on();
      for (const name of ["", "..", randomUUID()]) {
        const lines = [{ data: { id: randomUUID(), name } }];
        const { code, stderr } = place.run("import", folderOf({ "documents/keyed": lines }));
        expect([code, stderr]).toEqual([1, expect.stringContaining("/data/name: must not be")]);
      }
      await place.drop();
    });

    test("half of an export is none", async () => {
      const place = await on();
      const lines = Array.from({ length: 30_000 }, (_, at) => ({
        data: { id: randomUUID(), name: `n${at}` },
      }));
      expect(place.run("import", folderOf({ "documents/owned": lines })).code).toBe(0);
      const folder = newFolder();
      expect(place.run("export", folder).code).toBe(0);
      renameSync(folder, `${folder}.unfinished`);
      expect(place.run("import", `${folder}.unfinished`).stderr).toContain("it isn't whole");
      expect(place.run("export", folder).stderr).toContain("or one has ended early");
      await place.drop();
    });
  });
