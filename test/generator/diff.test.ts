// opwright diff: what a change of the registry does to clients, against a git revision.
import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { compareVersions, suggestedVersion } from "../../generator/diff/version.js";
import { cli } from "./cli.js";
import { writeProject } from "./scenario.js";

const service = `registry: 1
service: {name: shop, title: Shop, version: 1.2.3}
identity: {methods: [token, password]}
tenancy: {}
`;
const orders = `registry: 1
policies:
  open: []
  slow: [{rate_limit: 6/1m}]
  staff: [principal, {authorize: orders.read}]
types:
  Order:
    customer: uuid
    note: {type: string, maxLength: 100}
    state: [open, shipped]
    tags: "string[]"
documents:
  orders: {type: Order, guard: staff, tenant: false, deadline: 5s, idempotency: [create]}
  drafts: {type: {text: string}, guard: open, tenant: false}
realtime:
  transports: [sse, websocket]
  events:
    order.changed: {data: Order, audience: [principal], delivery: durable}
    order.seen: {data: {order: uuid}, audience: [topic], delivery: ephemeral}
    order.made: {data: Order, audience: [topic], delivery: ephemeral, to: "customer:{customer}"}
operations:
  orders.ship: {post: /ship, in: {id: uuid}, out: {at: date-time}, run: registry/ship.ts#ship, guard: open}
  orders.move: {post: "/move/{id}/{to}", in: {id: uuid, to: uuid}, run: registry/ship.ts#ship, guard: slow}
storage:
  papers: {guard: open, accept: [image/png, image/jpeg]}
outbox:
  events: {order.placed: {destination: shop, data: {order: uuid, total: number}}}
`;
const files = {
  "registry/service.yaml": service,
  "registry/orders.yaml": orders,
  "registry/ship.ts": "export const ship = async () => ({ at: new Date().toISOString() });\n",
};

const git = (root: string, ...args: readonly string[]): void => {
  const identity = ["-c", "user.name=t", "-c", "user.email=t@example.test"];
  const { status, stderr } = spawnSync("git", [...identity, ...args], {
    cwd: root,
    encoding: "utf8",
  });
  expect([status, args[0], stderr]).toEqual([0, args[0], expect.any(String)]);
};

const made: string[] = [];
let committed = "";
beforeAll(async () => {
  committed = writeProject(files).root;
  expect((await cli(committed, "generate")).code).toBe(0);
  git(committed, "init", "-q", "-b", "main");
  git(committed, "add", "-A");
  git(committed, "commit", "-q", "-m", "first");
});
afterAll(() => {
  for (const folder of [committed, ...made]) rmSync(folder, { recursive: true, force: true });
  // 150 repositories are many files for a slow disk.
}, 120_000);

/** A project under git whose generated folder is committed. */
function project(): string {
  const root = mkdtempSync(join(tmpdir(), "opwright-diff-"));
  made.push(root);
  cpSync(committed, root, { recursive: true });
  return root;
}

const write = (root: string, text: string, file = "registry/orders.yaml"): void => {
  mkdirSync(join(root, "registry"), { recursive: true });
  writeFileSync(join(root, file), text);
};

interface Report {
  readonly changes: readonly {
    readonly text: string;
    readonly level: string;
    readonly area: string;
    readonly affects: readonly string[];
    readonly approved: string | null;
  }[];
  readonly causes: readonly {
    readonly text: string;
    readonly level: string;
    readonly affects: readonly string[];
    readonly follows: readonly string[];
    readonly approved: string | null;
    readonly uncovered: readonly string[];
  }[];
  readonly rollout: { readonly verdict: string; readonly steps: readonly string[] };
  readonly version: { readonly before: string; readonly after: string; readonly suggested: string };
  readonly isRefused: boolean;
}

const reportOf = async (
  root: string,
): Promise<{ readonly code: number | null; readonly report: Report }> => {
  const { code, stdout, stderr } = await cli(root, "diff", "main", "--format", "json");
  if (stdout === "") throw new Error(stderr);
  return { code, report: JSON.parse(stdout) as Report };
};

/** What is replaced in the registry, and how some of the changes are told. */
const cases: readonly (readonly [string, string, string, string, readonly string[]])[] = [
  ["nothing", "open", "open", "1.2.3", []],
  [
    "a document that is gone",
    "  drafts: {type: {text: string}, guard: open, tenant: false}\n",
    "",
    "2.0.0",
    ["breaking drafts.create is gone", "breaking drafts.get is gone"],
  ],
  [
    "a value less, which who sends it meets",
    "state: [open, shipped]",
    "state: [open]",
    "2.0.0",
    [
      'breaking OrdersCreate.state is no longer "shipped" in input',
      'additive Order.state is no longer "shipped" in answers',
    ],
  ],
  [
    "a value more, which who reads it meets",
    "state: [open, shipped]",
    "state: [open, shipped, lost]",
    "2.0.0",
    [
      'additive OrdersCreate.state may be "lost" in input',
      'breaking Order.state may be "lost" in answers',
    ],
  ],
  [
    "a member more",
    "in: {id: uuid}, out: {at: date-time}",
    "in: {id: uuid, by: string}, out: {at: date-time, by: string}",
    "2.0.0",
    [
      "breaking orders.ship.by is new and required in input",
      "additive orders.ship.by is new in answers",
    ],
  ],
  [
    "a member more that may be left out",
    '    tags: "string[]"\n',
    '    tags: "string[]"\n    weight: number?\n',
    "1.3.0",
    ["additive OrdersCreate.weight is new in input", "additive Order.weight is new in answers"],
  ],
  [
    "a tighter bound",
    "maxLength: 100",
    "maxLength: 50",
    "2.0.0",
    [
      "breaking OrdersCreate.note has maxLength 50 instead of 100 in input",
      "additive Order.note has maxLength 50 instead of 100 in answers",
    ],
  ],
  [
    "another permission and a shorter deadline",
    "{authorize: orders.read}]",
    "{authorize: orders.see}]",
    "2.0.0",
    ["breaking orders.get needs orders.see", "opens orders.get needs no orders.read"],
  ],
  [
    "a shorter deadline",
    "deadline: 5s",
    "deadline: 2s",
    "2.0.0",
    ["breaking orders.get has a deadline of 2 s"],
  ],
  [
    "a longer deadline",
    "deadline: 5s",
    "deadline: 9s",
    "1.3.0",
    ["additive orders.get has a deadline of 9 s"],
  ],
  [
    "no key any more",
    ", idempotency: [create]",
    "",
    "2.0.0",
    ["breaking orders.create takes no Idempotency-Key"],
  ],
  [
    "another place",
    "guard: open, tenant: false}",
    "guard: open, tenant: false, mount: {at: /sketches}}",
    "2.0.0",
    ["breaking drafts.create is POST /sketches instead of POST /drafts"],
  ],
  [
    "a guard where there was none",
    "guard: open, tenant: false}",
    "guard: staff, tenant: false}",
    "2.0.0",
    ["breaking drafts.create asks who is calling", "breaking drafts.create needs orders.read"],
  ],
  [
    "an event and a transport less",
    "transports: [sse, websocket]",
    "transports: [sse]",
    "2.0.0",
    ["breaking realtime is not spoken over websocket"],
  ],
  [
    "an event that is kept no more",
    "audience: [principal], delivery: durable}",
    "audience: [principal], delivery: ephemeral}",
    "2.0.0",
    ["breaking event order.changed is ephemeral"],
  ],
  [
    "a hook that may refuse, once for all",
    "open: []",
    "open: [{rate_limit: 5/1m}]",
    "2.0.0",
    ["breaking rate_limit 5/1m before now runs"],
  ],
  [
    "a limit that is looser",
    "rate_limit: 6/1m",
    "rate_limit: 100/1m",
    "1.3.0",
    ["opens rate_limit 100/1m before runs instead of rate_limit 6/1m before"],
  ],
  [
    "a limit that fewer keep to",
    "rate_limit: 6/1m",
    "rate_limit: 6/2m",
    "2.0.0",
    ["breaking rate_limit 6/2m before runs instead of rate_limit 6/1m before"],
  ],
  [
    "a body where there was none",
    "in: {id: uuid, to: uuid}",
    'in: {id: uuid, to: uuid, note: "string?"}',
    "2.0.0",
    ["breaking orders.move asks for a body"],
  ],
  [
    "a member less of an integration event",
    "data: {order: uuid, total: number}",
    "data: {order: uuid}",
    "2.0.0",
    ["breaking OrderPlacedEvent.total is gone in answers"],
  ],
  [
    "words for others than clients",
    "note: {type: string,",
    "note: {type: string, x-ui: wide,",
    "1.2.4",
    ["documentation Order.note is described otherwise in answers"],
  ],
  [
    "parameters that have changed places",
    "/move/{id}/{to}",
    "/move/{to}/{id}",
    "2.0.0",
    ["breaking orders.move is POST /move/{to}/{id} instead of POST /move/{id}/{to}"],
  ],
  [
    "a type that may be null",
    "in: {id: uuid}",
    'in: {id: "uuid?"}',
    "1.3.0",
    [
      "additive orders.ship.id may be null in input",
      "additive orders.ship.id may be left out in input",
    ],
  ],
  [
    "an event that nobody sends",
    "  orders: {type: Order, guard: staff,",
    "  orders: {type: Order, emits: {create: order.made}, guard: staff,",
    "1.3.0",
    ["additive orders sends order.made on create"],
  ],
  [
    "a merge that is no more",
    "tenant: false, deadline: 5s",
    "tenant: false, history: true, deadline: 5s",
    "1.3.0",
    ["additive orders keeps any revisions, with which edits are merged"],
  ],
  ["values in another order", "[open, shipped]", "[shipped, open]", "1.2.3", []],
  [
    "members in another order",
    '    customer: uuid\n    note: {type: string, maxLength: 100}\n    state: [open, shipped]\n    tags: "string[]"\n',
    '    tags: "string[]"\n    state: [open, shipped]\n    note: {type: string, maxLength: 100}\n    customer: uuid\n',
    "1.2.3",
    [],
  ],
  [
    "members of an operation in another order",
    "in: {id: uuid, to: uuid}",
    "in: {to: uuid, id: uuid}",
    "1.2.3",
    [],
  ],
  [
    "members of an event in another order",
    "data: {order: uuid, total: number}",
    "data: {total: number, order: uuid}",
    "1.2.3",
    [],
  ],
  ["transports in another order", "[sse, websocket]", "[websocket, sse]", "1.2.3", []],
  [
    "files of any image instead of two kinds",
    "[image/png, image/jpeg]",
    '["image/*"]',
    "1.3.0",
    ["opens papers takes image/*"],
  ],
  [
    "files of fewer kinds",
    "[image/png, image/jpeg]",
    "[image/png]",
    "2.0.0",
    ["breaking papers takes image/png"],
  ],
  [
    "a tenant that may be hinted at",
    "tenancy: {}",
    "tenancy: {trust_tenant_header: true}",
    "1.3.0",
    ["opens identity takes a tenant from a header"],
  ],
  [
    "people who register by themselves",
    "identity: {methods: [token, password]}",
    "identity: {methods: [token, password], sign_up: {verify: none}}",
    "1.3.0",
    ["opens authn.sign_up is new and requires no authentication"],
  ],
  [
    "errors in an envelope of their own",
    "version: 1.2.3}",
    "version: 1.2.3, errors: {envelope: registry/ship.ts#ship, out: {code: string}}}",
    "2.0.0",
    ["breaking service answers errors with ErrorBody"],
  ],
  [
    "answers that say more than a body",
    "out: {at: date-time}, run",
    "out: {at: date-time}, headers: [X-Who], reply: {headers: [X-Total], cookies: {seen: {}}, status: [202]}, run",
    "2.0.0",
    [
      "additive orders.ship may set the header x-total",
      "additive orders.ship may set the cookie seen",
      "breaking orders.ship may answer with 202",
      "additive orders.ship reads the header x-who",
    ],
  ],
  [
    "another description",
    "note: {type: string,",
    "note: {type: string, description: Anything.,",
    "1.2.4",
    ["documentation Order.note is described otherwise in answers"],
  ],
];

describe("each change is told by what it does to clients", () => {
  test.each(cases)("%s", async (_title, before, after, suggested, told) => {
    const root = project();
    for (const [file, text] of Object.entries(files))
      write(root, text.replace(before, after), file);
    const { code, report } = await reportOf(root);
    const all = report.changes.map(({ level, text }) => `${level} ${text}`);
    for (const one of told) expect(all).toContain(one);
    if (told.length === 0) expect(all).toEqual([]);
    expect(report.version).toEqual({ before: "1.2.3", after: "1.2.3", suggested });
    const isRefused = report.changes.some(({ level }) => level === "breaking" || level === "opens");
    expect(code).toBe(isRefused ? 1 : 0);
  });
});

test("a type that is called otherwise is told, since the client's package has it", async () => {
  const root = project();
  write(root, orders.replaceAll("Order", "Purchase"));
  const { code, report } = await reportOf(root);
  expect(code).toBe(1);
  expect(report.changes.map(({ level, text }) => `${level} ${text}`)).toContain(
    "breaking Order is called Purchase",
  );
});

test("a function that has moved to another file is nothing that clients meet", async () => {
  const root = project();
  write(root, files["registry/ship.ts"], "registry/shipping.ts");
  write(root, orders.replaceAll("registry/ship.ts", "registry/shipping.ts"));
  const { code, report } = await reportOf(root);
  expect([code, report.changes]).toEqual([0, []]);
});

/** What is generated from the files as they are, as the revision to compare with. */
const commit = async (root: string): Promise<void> => {
  expect((await cli(root, "generate")).code).toBe(0);
  git(root, "add", "-A");
  git(root, "commit", "-q", "-m", "next");
};
const breakingOf = async (root: string): Promise<readonly string[]> =>
  (await reportOf(root)).report.changes
    .filter(({ level }) => level === "breaking")
    .map(({ text }) => text);

test("members that change places between path and body break", async () => {
  const root = project();
  write(root, orders.replace("/move/{id}/{to}", "/move/{id}"));
  await commit(root);
  write(root, orders.replace("/move/{id}/{to}", "/move/{to}"));
  expect(await breakingOf(root)).toEqual([
    "orders.move takes id from its body",
    "orders.move takes to from its path",
  ]);
});

test("a nullable number that became an integer is reported as one that may not be null", async () => {
  const root = project();
  const weighed = (type: string): string =>
    orders.replace('    tags: "string[]"\n', `    tags: "string[]"\n    weight: ${type}\n`);
  write(root, weighed("number?"));
  await commit(root);
  write(root, weighed("integer?"));
  const { report } = await reportOf(root);
  expect(report.changes.map(({ level, text }) => `${level} ${text}`)).toEqual([
    "breaking OrdersCreate.weight is integer only in input",
    "breaking OrdersPatch.weight is integer only in input",
    "additive Order.weight is integer only in answers",
  ]);
});

test("a pattern of what is read is as harmless as a bound of it", async () => {
  const root = project();
  const noted = (keywords: string): string =>
    orders.replace("note: {type: string, maxLength: 100}", `note: {type: string, ${keywords}}`);
  write(root, noted("maxLength: 100, pattern: '^a'"));
  await commit(root);
  for (const looser of [
    "maxLength: 100",
    "maxLength: 200, pattern: '^a'",
    "maxLength: 100, pattern: '^[ab]'",
  ]) {
    write(root, noted(looser));
    expect((await breakingOf(root)).filter((text) => text.endsWith(" in answers"))).toEqual([]);
  }
});

test("another default of what is stored breaks, one more does not", async () => {
  const root = project();
  const begun = (defaults: string): string =>
    orders.replace("orders: {type: Order,", `orders: {type: Order, defaults: ${defaults},`);
  write(root, begun("{state: open}"));
  await commit(root);
  write(root, begun("{state: shipped}"));
  expect(await breakingOf(root)).toEqual([
    'OrdersCreate.state is "shipped" where it is left out in input',
    'orders begins with "shipped" in state instead of "open"',
  ]);
  write(root, begun("{state: open, tags: []}"));
  expect(await breakingOf(root)).toEqual([]);
});

test("a version that goes back is told, and a later one than is needed is suggested as it is", async () => {
  const root = project();
  const versioned = (version: string): void =>
    write(root, service.replace("1.2.3", version), "registry/service.yaml");
  versioned("1.2.0");
  expect(await breakingOf(root)).toEqual(["service has version 1.2.0, which comes before 1.2.3"]);
  expect((await reportOf(root)).report.version.suggested).toBe("1.2.3");
  versioned("2.1.0");
  const { code, report } = await reportOf(root);
  expect([code, report.version.suggested, report.changes]).toEqual([0, "2.1.0", []]);
});

test.each([
  ["1.2.3", "1.10.0"],
  ["1.0.0-rc.1", "1.0.0"],
  ["1.0.0-rc.2", "1.0.0-rc.10"],
  ["1.0.0-1", "1.0.0-rc"],
  ["1.0.0-rc", "1.0.0-rc.1"],
] as const)("%s comes before %s", (left, right) => {
  expect(Math.sign(compareVersions(left, right))).toBe(-1);
  expect(Math.sign(compareVersions(right, left))).toBe(1);
  expect(compareVersions(left, `${left}+build`)).toBe(0);
});

const causesOf = async (root: string): Promise<readonly string[]> =>
  (await reportOf(root)).report.causes.map(({ level, text }) => `${level} ${text}`);

describe("what follows from one change is one cause", () => {
  /** How a registry is changed, and the causes that are told. */
  const causes: readonly (readonly [string, string | RegExp, string, readonly string[]])[] = [
    ["a field that is gone", '    tags: "string[]"\n', "", ["breaking Order.tags is gone"]],
    [
      "a field that is called otherwise",
      "total: number",
      "sum: number",
      ["breaking OrderPlacedEvent.total is called sum"],
    ],
    [
      "a field that is gone, and one of another type",
      "total: number",
      "sum: string",
      ["breaking OrderPlacedEvent.total is gone", "additive OrderPlacedEvent.sum is new"],
    ],
    [
      "a field that is gone, and two that it may have become",
      "total: number",
      "sum: number, net: number",
      [
        "breaking OrderPlacedEvent.total is gone",
        "additive OrderPlacedEvent.net is new",
        "additive OrderPlacedEvent.sum is new",
      ],
    ],
    [
      "a field of another type",
      "customer: uuid",
      "customer: integer",
      ["breaking Order.customer is integer instead of string (uuid)"],
    ],
    [
      "a value less",
      "state: [open, shipped]",
      "state: [open]",
      ['breaking Order.state is no longer "shipped"'],
    ],
    [
      "a document that is gone",
      "  drafts: {type: {text: string}, guard: open, tenant: false}\n",
      "",
      ["breaking document drafts is gone"],
    ],
    [
      "a document that is called otherwise",
      "  drafts:",
      "  sketches:",
      [
        "breaking document drafts is called sketches",
        "documentation each of these operations is described otherwise",
      ],
    ],
    [
      "a document that says what it was called, and is not as it was",
      "  drafts: {type: {text: string}",
      "  sketches: {was: drafts, type: {text: string, size: integer?}",
      [
        "breaking document drafts is called sketches",
        "additive SketchesDocument.size is new",
        "documentation each of these operations is described otherwise",
      ],
    ],
    [
      "a field that says what it was called, and is not as it was",
      "note: {type: string, maxLength: 100}",
      "remark: {type: string, maxLength: 200, was: note}",
      [
        "breaking Order.note is called remark",
        "additive Order.remark has maxLength 200 instead of 100",
      ],
    ],
    [
      "a value that says what it was called",
      "state: [open, shipped]",
      "state: [open, {value: sent, was: shipped}]",
      ['breaking Order.state calls "shipped" "sent"'],
    ],
    [
      "an operation that is called otherwise",
      "orders.ship:",
      "orders.send:",
      [
        "breaking orders.ship is called orders.send",
        "documentation orders.send is described otherwise",
      ],
    ],
    [
      "a field that is unique",
      "orders: {type: Order,",
      "orders: {type: Order, unique: [[customer]],",
      [
        "breaking orders refuses what another has in customer, in any tenant",
        "additive each of these operations may answer unique_violation",
      ],
    ],
    [
      "ranges that must not overlap",
      "drafts: {type: {text: string}",
      "drafts: {no_overlap: {range: [begin, end]}, type: {text: string, begin: integer?, end: integer?}",
      [
        "breaking drafts refuses ranges between begin and end that overlap with others",
        "additive DraftsDocument.begin is new",
        "additive DraftsDocument.end is new",
        "additive each of these operations may answer overlap_violation",
      ],
    ],
    [
      "running numbers",
      "drafts: {type: {text: string}",
      'drafts: {set: {nr: {$number: {format: "D-{0}", gaps: true}}}, type: {text: string, nr: string?}',
      ["additive DraftsDocument.nr is new"],
    ],
    [
      "revisions that are shown, and what is deleted going by itself",
      "orders: {type: Order,",
      "orders: {type: Order, history: {revisions: true}, soft_delete: {read: open}, retention: {deleted: 90d},",
      [
        "opens each of these operations is new and requires no authentication",
        "breaking orders keeps what is deleted for 7776000 s",
        "additive Order.is_deleted is new",
        "additive orders keeps any revisions, with which edits are merged",
        "additive orders.delete is new",
        "additive orders.restore is new",
        "additive orders.revert is new",
        "additive orders.revision is new",
        "additive orders.revision_diff is new",
        "additive orders.revisions is new",
        "additive orders.update may answer document_deleted",
        "additive orders.update may answer historical_consistency_violation",
        "additive orders.update may answer history_not_found_retry",
      ],
    ],
    [
      "a policy that asks for more",
      "{authorize: orders.read}]",
      "{authorize: orders.see}]",
      [
        "opens each of these operations needs no orders.read",
        "breaking each of these operations needs orders.see",
      ],
    ],
  ];
  test.each(causes)("%s", async (_title, before, after, told) => {
    const root = project();
    write(root, orders.replace(before, after));
    expect(await causesOf(root)).toEqual(told);
  });

  test("with what it changes in payloads, filters and sorts", async () => {
    const root = project();
    write(root, orders.replace('    tags: "string[]"\n', ""));
    const { causes: found, changes } = (await reportOf(root)).report;
    expect(found[0]?.follows).toEqual(changes.map(({ text }) => text));
    expect(found[0]?.follows).toContain("OrdersFilter.$values.tags is gone in input");
    expect(found[0]?.affects).toEqual(expect.arrayContaining(["order.changed", "orders.create"]));
    expect((await cli(root, "diff", "main")).stdout).toMatch(/1 breaking since main/);
  });

  test("with the filters and sorts that name a field otherwise", async () => {
    const root = project();
    const weighed = (name: string): string =>
      orders.replace('    tags: "string[]"\n', `    tags: "string[]"\n    ${name}: number?\n`);
    write(root, weighed("weight"));
    await commit(root);
    write(root, weighed("mass"));
    expect(await causesOf(root)).toEqual(["breaking Order.weight is called mass"]);
  });

  test.each([
    ["says so", "{ref: people?, was: owner}"],
    ["is as it was", "{ref: people?}"],
  ])(
    "with all that leads over a reference which is called otherwise and %s",
    async (_title, next) => {
      const root = project();
      const referring = (owner: string): string =>
        orders.replace(
          "  drafts:",
          `  people: {type: {name: string}, guard: open}
  tasks: {type: {title: string, ${owner}, parent: {ref: tasks?}}, guard: open}
  comments: {type: {text: string, task: {ref: tasks}}, guard: open}
  drafts:`,
        );
      write(root, referring("owner: {ref: people?}"));
      await commit(root);
      write(root, referring(`assignee: ${next}`));
      const { causes: found } = (await reportOf(root)).report;
      expect(found.map(({ text }) => text)).toEqual(["TasksDocument.owner is called assignee"]);
      expect(found[0]?.follows).toEqual(
        expect.arrayContaining([
          "tasks owner no longer names one of the people (on_delete restrict)",
          'comments.list.expand[] is no longer "task.owner" in input',
          "CommentsSorts.task.owner is called task.assignee in input",
        ]),
      );
      expect(found[0]?.follows.join()).toContain("$exists.owner.tasks.owner");
    },
  );

  test("and annotations name the field", async () => {
    const root = project();
    write(root, orders.replace("state: [open, shipped]", "state: [open]"));
    const line = 1 + orders.split("\n").findIndex((text) => text.includes("state: ["));
    expect((await cli(root, "diff", "main", "--format", "github")).stdout).toContain(
      `file=registry/orders.yaml,line=${line},`,
    );
  });
});

test("an approval counts for the operations that it names, and not for those that join them", async () => {
  const root = project();
  const limited = orders.replace("open: []", "open: [{rate_limit: 5/1m}]");
  const approve = (entry: string): void =>
    write(
      root,
      `registry: 1\napproved:\n  rate_limit 5/1m before now runs: ${entry}\n`,
      "registry/approved.yaml",
    );
  write(root, limited);
  const places = (await reportOf(root)).report.causes[0]?.affects ?? [];
  expect(places.length).toBeGreaterThan(1);
  // What was enough for one place names none of several.
  approve("too many");
  expect((await reportOf(root)).report.causes[0]?.uncovered).toEqual(places);
  approve(`{reason: too many, in: [${places.join(", ")}]}`);
  expect((await cli(root, "diff", "main")).code).toBe(0);
  write(
    root,
    limited.replace("{authorize: orders.read}]", "{authorize: orders.read}, {rate_limit: 5/1m}]"),
  );
  const { code, report } = await reportOf(root);
  const cause = report.causes.find(({ text }) =>
    text.startsWith("rate_limit 5/1m before now runs"),
  );
  expect([code, cause?.approved]).toEqual([1, null]);
});

test("a refusal lists the entries that would approve it", async () => {
  const root = project();
  write(root, orders.replace("state: [open, shipped]", "state: [open]"));
  const { stderr } = await cli(root, "diff", "main");
  write(
    root,
    `registry: 1\n${stderr.slice(stderr.indexOf("approved:\n"))}`,
    "registry/approved.yaml",
  );
  expect((await cli(root, "diff", "main")).code).toBe(0);
});

describe("what a rollout takes is told", () => {
  // Types of orders are those of signals, and of an answer that is kept under a key.
  const both = "clients meet both versions";
  const ofOrders =
    "signals order.changed, order.made and answers of orders.create under an Idempotency-Key";
  const kept = (by: "the next version" | "the version before", cause: string, what = ofOrders) =>
    `${what} that ${by} keeps are told by the other one, and may not be as it declares them: ${cause}`;
  const ofDocument = "Order.id is missing, Order.rev is missing, Order.created_at is missing";
  const began = '    tags: "string[]"\n';
  type Replaced = string | readonly [there: string, before: string];
  const rollouts: readonly (readonly [string, Replaced, string, string, readonly string[]])[] = [
    ["nothing has changed", "open", "open", "safe to roll", []],
    [
      "a member is added that may be null",
      began,
      `${began}    weight: number?\n`,
      "safe to roll",
      [],
    ],
    [
      "an index is added",
      "orders: {type: Order,",
      "orders: {type: Order, indexes: [[customer]],",
      "needs the migration first",
      [
        "before it serves: node dist/generated/server.js migrate",
        "it makes the index orders_by_customer of orders",
      ],
    ],
    [
      "ranges must not overlap from now on",
      [
        "drafts: {type: {text: string}",
        "drafts: {indexes: [[end]], type: {text: string, begin: integer?, end: integer?}",
      ],
      "drafts: {no_overlap: {range: [begin, end]}, type: {text: string, begin: integer?, end: integer?}",
      both,
      [
        "drafts keeps ranges from overlapping in the next version alone: the one before still stores what overlaps, and what is stored already stays",
      ],
    ],
    [
      "numbers count within a year from now on",
      [
        "drafts: {type: {text: string}",
        'drafts: {set: {nr: {$number: {format: "{year}-{0}"}}}, type: {text: string, nr: string?}',
      ],
      'drafts: {set: {nr: {$number: {format: "{year}-{0}", per: [year]}}}, type: {text: string, nr: string?}',
      both,
      [
        "numbers of drafts.nr begin anew from 1, because they count within year instead of everything",
      ],
    ],
    [
      "a field gets numbers",
      ["drafts: {type: {text: string}", "drafts: {type: {text: string, nr: string?}"],
      'drafts: {set: {nr: {$number: {format: "D-{0}"}}}, type: {text: string, nr: string?}',
      both,
      [
        "drafts.nr counts from 1: the version before gives no numbers, and numbers that documents have already are passed over one by one, so `start` should lie behind them",
        "before it serves: node dist/generated/server.js migrate",
        "it takes the step opwright_counters",
      ],
    ],
    [
      "a field is unique",
      "orders: {type: Order,",
      "orders: {type: Order, unique: [[customer]],",
      "needs the migration first",
      [
        "before it serves: node dist/generated/server.js migrate",
        "it makes the index orders_unique_customer of orders unique, or changes nothing where rows have the same; the version before is held to it as well",
      ],
    ],
    [
      "a member is of another type, made by a function",
      "customer: uuid",
      'customer: {type: integer, from: "registry/ship.ts#ship"}',
      "needs two releases",
      [
        "orders.customer is converted: first give it a default or make it nullable and roll that out, then convert it",
        kept("the next version", "Order.customer is missing"),
      ],
    ],
    [
      "a text is shorter than it was",
      "maxLength: 100",
      "maxLength: 10",
      "needs two releases",
      [
        kept("the version before", "Order.note has maxLength 10 instead of 100"),
        "before it serves: node dist/generated/server.js migrate",
        "it looks for rows whose orders.note does not fit any more, and changes nothing while there are any; the version before may go on storing such, so first roll out one that refuses them in a hook",
      ],
    ],
    [
      "a document is added",
      "  drafts:",
      "  returns: {type: {text: string}, guard: open, tenant: false}\n  drafts:",
      "needs the migration first",
      ["before it serves: node dist/generated/server.js migrate", "it makes the table returns"],
    ],
    [
      "a member is dropped that has no default",
      began,
      "",
      "needs two releases",
      [
        "orders.tags is dropped: first give it a default or make it nullable and roll that out, then drop it; or say with `dropped: {tags: {as: …}}` what the version before reads",
        kept("the next version", "Order.tags is missing"),
      ],
    ],
    [
      "a member within a member is new, and may be left out",
      [
        "drafts: {type: {text: string}",
        "crates: {type: {at: {type: object, properties: {x: {type: integer}}, additionalProperties: false}}, guard: open, tenant: false}\n  drafts: {type: {text: string}",
      ],
      "crates: {type: {at: {type: object, properties: {x: {type: integer}, y: {type: integer}}, additionalProperties: false}}, guard: open, tenant: false}\n  drafts: {type: {text: string}",
      "safe to roll",
      [],
    ],
    [
      "a member is dropped, and rows keep it",
      [
        "drafts: {type: {text: string}",
        "crates: {type: {text: string, rank: integer}, guard: open, tenant: false}\n  drafts: {type: {text: string}",
      ],
      "crates: {type: {text: string}, dropped: {rank: {as: 1}}, guard: open, tenant: false}\n  drafts: {type: {text: string}",
      "safe to roll",
      [
        "rows of crates keep rank for the version before: take it out of `dropped` in the release after this one",
      ],
    ],
    [
      "stored documents have another value than clients send",
      "drafts: {type: {text: string}",
      "drafts: {type: {text: string, rank: {type: integer, former: 1}}",
      "safe to roll",
      [],
    ],
    [
      "a field need not be unique any more",
      ["drafts: {type: {text: string}", "drafts: {unique: [[text]], type: {text: string}"],
      "drafts: {type: {text: string}",
      "safe to roll",
      [
        "drafts may not have the same text until no older process is left and `migrations purge` has dropped drafts_unique_text: until then both versions answer unique_violation",
      ],
    ],
    [
      "a member says what it was called",
      "note: {type: string, maxLength: 100}",
      "remark: {type: string, maxLength: 100, was: note}",
      "safe to roll",
      [],
    ],
    [
      "a document says what it was called",
      "  drafts:",
      "  sketches:\n    was: drafts\n    mount: {at: /drafts}\n    type: {text: string}\n    guard: open\n    tenant: false\n  unused:",
      "needs the migration first",
      ["before it serves: node dist/generated/server.js migrate", "it makes the table unused"],
    ],
    [
      "a document that others refer to is called otherwise, and so is the field",
      [
        "drafts: {type: {text: string}, guard: open, tenant: false}",
        "drafts: {type: {text: string}, guard: open, tenant: false}\n  crates: {type: {of: {ref: drafts}}, guard: open, tenant: false}",
      ],
      "sketches: {was: drafts, type: {text: string}, guard: open, tenant: false}\n  crates: {type: {in: {ref: sketches, was: of}}, guard: open, tenant: false}",
      "safe to roll",
      [],
    ],
    [
      "a member is of another type",
      "customer: uuid",
      "customer: integer",
      "needs two releases",
      [
        "orders.customer is integer instead of uuid, and stored values stay as they are: name a function with `from` that makes the new ones",
        kept("the version before", "Order.customer is integer instead of string (uuid)"),
        kept("the next version", "Order.customer is string (uuid) instead of integer"),
        "before it serves: node dist/generated/server.js migrate",
        "it looks for rows whose orders.customer does not fit any more, and changes nothing while there are any; the version before may go on storing such, so first roll out one that refuses them in a hook",
      ],
    ],
    [
      "a text may be longer",
      "maxLength: 100",
      "maxLength: 200",
      "needs two releases",
      [
        "orders.note may be longer than 100: the version before answers such values although its own document has none, and may refuse to change them; first roll out what only reads them (`since: next` of a new value or member, a `before` hook for the rest), then what writes them",
        kept("the next version", "Order.note has maxLength 100 instead of 200"),
      ],
    ],
    [
      "a field is new that may be left out",
      "drafts: {type: {text: string}",
      "drafts: {type: {text: string, state: [open, done]}, defaults: {state: open}",
      "safe to roll",
      [],
    ],
    ...[
      ["{type: string, pattern: ^a}", "string"],
      ["{type: string, format: email}", "string"],
      ["{type: integer, enum: [1, 2]}", "{type: integer, enum: [1, 2, 3]}"],
      [
        "{type: array, items: {type: string, enum: [a]}}",
        "{type: array, items: {type: string, enum: [a, b]}}",
      ],
    ].map(
      ([old, next]) =>
        [
          `${old} becomes ${next}`,
          [
            "drafts: {type: {text: string}",
            `crates: {type: {more: ${old}}, guard: open, tenant: false}\n  drafts: {type: {text: string}`,
          ],
          `crates: {type: {more: ${next}}, guard: open, tenant: false}\n  drafts: {type: {text: string}`,
          "needs two releases",
          [
            "crates.more has other values, or members within it: the version before answers such values although its own document has none, and may refuse to change them; first roll out what only reads them (`since: next` of a new value or member, a `before` hook for the rest), then what writes them",
          ],
        ] as const,
    ),
    [
      "a value is new, and read before it is written",
      [
        "drafts: {type: {text: string}",
        "drafts: {type: {text: string, state: [open, done]}, defaults: {state: open}",
      ],
      "drafts: {type: {text: string, state: [open, done, {value: paused, since: next}]}, defaults: {state: open}",
      "safe to roll",
      [
        "drafts.state is read with paused, and written so from the release on that drops `since`: drop it once no process is left that doesn't read it",
      ],
    ],
    [
      "a value that the version before reads is written from now on",
      [
        "drafts: {type: {text: string}",
        "drafts: {type: {text: string, state: [open, done, {value: paused, since: next}]}, defaults: {state: open}",
      ],
      "drafts: {type: {text: string, state: [open, done, paused]}, defaults: {state: open}",
      "safe to roll",
      [
        "drafts.state is written with paused from now on, which the version before reads: no process from before that may be left",
      ],
    ],
    [
      "a value is new, and written at once",
      [
        "drafts: {type: {text: string}",
        "drafts: {type: {text: string, state: [open, done]}, defaults: {state: open}",
      ],
      "drafts: {type: {text: string, state: [open, done, paused]}, defaults: {state: open}",
      "needs two releases",
      [
        "drafts.state may be none of open, done: the version before answers such values although its own document has none, and may refuse to change them; first roll out what only reads them (`since: next` of a new value or member, a `before` hook for the rest), then what writes them",
      ],
    ],
    [
      "a field is described otherwise, and deprecated",
      ["drafts: {type: {text: string}", "drafts: {type: {text: string, more: string?}"],
      'drafts: {type: {text: string, more: {type: [string, "null"], description: More., deprecated: {since: 2026-01-01}}}',
      "safe to roll",
      [],
    ],
    [
      "an event carries another type than before",
      ["data: {order: uuid, total: number}", "data: Order"],
      "data: {order: uuid}",
      both,
      [
        kept("the version before", "OrderPlacedEvent.order is missing", "events order.placed"),
        kept("the next version", `${ofDocument}, …`, "events order.placed"),
      ],
    ],
    [
      "a durable signal carries another type than before",
      "order.changed: {data: Order,",
      "order.changed: {data: {order: uuid},",
      both,
      [
        kept("the version before", "OrderChangedSignal.order is missing", "signals order.changed"),
        kept("the next version", `${ofDocument}, …`, "signals order.changed"),
      ],
    ],
    [
      "durable signals are ephemeral from now on",
      "order.changed: {data: Order, audience: [principal], delivery: durable}",
      "order.changed: {data: Order, audience: [principal], delivery: ephemeral}",
      both,
      [
        "signals order.changed that are kept still go out, until they are delivered or as old as 604800 s",
      ],
    ],
    [
      "ephemeral signals are durable from now on, and others are new",
      "order.seen: {data: {order: uuid}, audience: [topic], delivery: ephemeral}",
      "order.seen: {data: {order: uuid}, audience: [principal], delivery: durable}\n    order.lost: {data: {order: uuid}, audience: [principal], delivery: durable}",
      both,
      [
        "signals order.seen are kept by the next version, and clients of the one before get them with an id",
      ],
    ],
    [
      "a field may no longer be null",
      ["drafts: {type: {text: string}", "drafts: {type: {text: string?}"],
      "drafts: {type: {text: string}",
      "needs two releases",
      [
        "before it serves: node dist/generated/server.js migrate",
        "it looks for rows whose drafts.text does not fit any more, and changes nothing while there are any; the version before may go on storing such, so first roll out one that refuses them in a hook",
      ],
    ],
    [
      "documents can be restored from now on",
      "drafts: {type: {text: string}",
      "drafts: {soft_delete: true, type: {text: string}",
      both,
      [
        "the version before still lists drafts that the next one has marked as deleted: delete none until no older process is left",
      ],
    ],
    [
      "a document is called otherwise, and nobody says so",
      "  drafts: {type: {text: string}",
      "  sketches: {type: {text: string}",
      "leaves stored things behind",
      [
        "rows of drafts stay in the table drafts, and nobody reaches them: if they are called otherwise, say `was: drafts`",
        "before it serves: node dist/generated/server.js migrate",
        "it makes the table sketches",
      ],
    ],
  ];
  test.each(rollouts)("where %s", async (_title, replaced, after, verdict, steps) => {
    const root = project();
    const [there, before] = typeof replaced === "string" ? [replaced, replaced] : replaced;
    if (there !== before) {
      write(root, orders.replace(there, before));
      await commit(root);
    }
    write(root, orders.replace(there, after));
    expect((await reportOf(root)).report.rollout).toEqual({ verdict, steps });
  });

  test("in words as well", async () => {
    const root = project();
    write(root, orders.replace("maxLength: 100", "maxLength: 200"));
    const { verdict, steps } = (await reportOf(root)).report.rollout;
    expect(steps).toHaveLength(2);
    expect((await cli(root, "diff", "main")).stdout).toContain(
      `\n${[verdict, ...steps].join("\n  ")}\n`,
    );
  });
});

test("a purge of what the version before still uses takes two releases", async () => {
  const root = project();
  write(root, orders.replace("  drafts: {type: {text: string}, guard: open, tenant: false}\n", ""));
  expect((await cli(root, "migrations", "purge", "--force")).code).toBe(0);
  expect((await reportOf(root)).report.rollout).toEqual({
    verdict: "needs two releases",
    steps: [
      "the table drafts is dropped, which the version before still uses: first roll out what does not declare it, then purge",
      "before it serves: node dist/generated/server.js migrate",
      "it drops the table drafts with all its rows",
    ],
  });
});

test("a service that is called otherwise leaves its tokens and keys behind, unless it says what it was called", async () => {
  const root = project();
  const rolled = async (name: string) => {
    write(root, service.replace("name: shop", name), "registry/service.yaml");
    return (await reportOf(root)).report.rollout;
  };
  expect(await rolled("name: store")).toEqual({
    verdict: "leaves stored things behind",
    steps: [
      "access tokens and API keys of shop are refused, and processes of both versions hear nothing of each other over Redis: if the service is called otherwise, say `was: shop`",
    ],
  });
  expect(await rolled("name: store, was: shop")).toEqual({ verdict: "safe to roll", steps: [] });
});

test("the language of a search makes its index anew, and one that says no more than none does not", async () => {
  const root = project();
  const searched = (language: string): string =>
    `${orders}search: {finds: {of: orders, text: [note], ${language}guard: staff}}\n`;
  write(root, searched(""));
  await commit(root);
  write(root, searched("language: ja, "));
  expect((await reportOf(root)).report).toMatchObject({
    changes: [],
    rollout: { verdict: "safe to roll" },
  });
  write(root, searched("language: en, "));
  const { changes, rollout } = (await reportOf(root)).report;
  expect(changes.map(({ level, text }) => `${level} ${text}`)).toEqual([
    "documentation finds finds all forms of a word (en)",
  ]);
  expect(rollout).toEqual({
    verdict: "needs the migration first",
    steps: [
      "before it serves: node dist/generated/server.js migrate",
      "it makes the search finds_index_2 of orders, empty: run search-rebuild after the rollout",
      "the version before keeps the search index finds_index; after a rollback, run search-rebuild: it knows nothing of what the next version has written",
    ],
  });
});

test("another function of the same name is told, and one of two that goes as well", async () => {
  const root = project();
  for (const file of ["one", "two"])
    write(root, "export const check = () => undefined;\n", `registry/${file}.ts`);
  const hooked = (...files: readonly string[]): string => {
    const before = files.map((file) => `"registry/${file}.ts#check"`).join(", ");
    return orders.replace(
      "  drafts: {type: {text: string},",
      `  drafts: {type: {text: string}, hooks: {create: {before: [${before}]}},`,
    );
  };
  write(root, hooked("one"));
  await commit(root);
  write(root, hooked("one", "two"));
  expect(await breakingOf(root)).toContain("check before now runs");
  write(root, hooked("two"));
  expect(await breakingOf(root)).toEqual([]);
  write(root, hooked("one", "two"));
  await commit(root);
  write(root, hooked("two"));
  expect(await causesOf(root)).toContain("opens check before no longer runs");
});

test("a type of an operation's own that is another by now is told, however alike they are", async () => {
  const root = project();
  const typed = orders
    .replace("in: {id: uuid}, out: {at: date-time}", "in: Shipping, out: Shipped")
    .replace("types:\n", "types:\n  Shipping: {id: uuid}\n  Shipped: {at: date-time}\n");
  write(root, typed);
  expect(await breakingOf(root)).toEqual([
    "orders.ship answers with Shipped instead of OrdersShipOutput",
    "orders.ship takes Shipping instead of OrdersShipInput",
  ]);
  await commit(root);
  write(root, orders);
  expect(await breakingOf(root)).toEqual([
    "orders.ship answers with OrdersShipOutput instead of Shipped",
    "orders.ship takes OrdersShipInput instead of Shipping",
  ]);
});

test("new conditions for hearing an event by a webhook are reported", async () => {
  const root = project();
  write(root, "registry: 1\nwebhooks: {guard: staff}\n", "registry/webhooks.yaml");
  await commit(root);
  const guarded = (policy: string): string =>
    orders
      .replace("{destination: shop, data", `{destination: shop, guard: ${policy}, data`)
      .replace("  slow:", "  boss: [principal, {authorize: platform.boss}]\n  slow:");
  write(root, guarded("boss"));
  expect(await breakingOf(root)).toEqual(["webhooks asks platform.boss of who hears order.placed"]);
  // Whoever has a webhook is asked what the policy of webhooks asks in any case.
  write(root, guarded("slow"));
  expect(await causesOf(root)).toEqual([
    "documentation webhooks asks slow of who hears order.placed",
  ]);
});

test("an event and an integration event of one name are two", async () => {
  const root = project();
  write(
    root,
    orders.replace(
      "    order.seen:",
      "    order.placed: {data: Order, audience: [topic], delivery: ephemeral}\n    order.seen:",
    ),
  );
  await commit(root);
  write(root, orders.replace(/outbox:\n.*\n/, ""));
  expect(await breakingOf(root)).toEqual([
    "event order.placed is gone",
    "integration event order.placed is gone",
  ]);
});

test.each([
  ["1.2.3", "breaking", "2.0.0"],
  ["0.2.3", "breaking", "0.3.0"],
  ["1.2.3", "additive", "1.3.0"],
  ["1.2.3", "opens", "1.3.0"],
  ["1.2.3", "documentation", "1.2.4"],
  ["2.0.0-rc.1", "breaking", "2.0.0"],
  ["1.3.0-rc.1", "additive", "1.3.0"],
  ["1.2.4-rc.1", "documentation", "1.2.4"],
  ["1.2.4-rc.1", "additive", "1.3.0"],
  ["1.3.0-beta.1", "breaking", "2.0.0"],
  ["0.2.1-rc.1", "breaking", "0.3.0"],
  ["0.3.0-rc.1", "breaking", "0.3.0"],
] as const)("from %s on what is %s makes %s", (before, level, suggested) => {
  const subject = { kind: "type", name: "T" } as const;
  const change = { text: "T", level, area: "schema", subject, affects: [] } as const;
  expect(suggestedVersion(before, [change])).toBe(suggested);
});

test("a hint at the tenant that is no longer taken breaks", async () => {
  const root = project();
  const hinted = service.replace("tenancy: {}", "tenancy: {trust_tenant_header: true}");
  write(root, hinted, "registry/service.yaml");
  await commit(root);
  write(root, service, "registry/service.yaml");
  const { code, report } = await reportOf(root);
  const breaking = report.changes.filter(({ level }) => level === "breaking");
  expect([code, breaking.map(({ text }) => text)]).toEqual([
    1,
    ["identity takes no tenant from a header"],
  ]);
});

describe("a report", () => {
  const narrowed = orders.replace("state: [open, shipped]", "state: [open]");

  test("tells the operations and events that a type stands in", async () => {
    const root = project();
    write(root, orders.replace("state: [open, shipped]", "state: [open, shipped, lost]"));
    const { report } = await reportOf(root);
    const change = report.changes.find(({ text }) => text.startsWith("Order.state"));
    expect(change?.affects).toEqual(
      expect.arrayContaining(["order.changed", "orders.get", "orders.list"]),
    );
  });

  test("passes once what breaks is approved, with its reason", async () => {
    const root = project();
    write(root, narrowed);
    const { report } = await reportOf(root);
    const breaking = report.causes.filter(({ level }) => level === "breaking");
    expect(breaking.map(({ text }) => text)).toEqual(['Order.state is no longer "shipped"']);
    const entries = breaking
      .map(
        ({ text, affects }) => `  '${text}': {reason: nobody ships, in: [${affects.join(", ")}]}`,
      )
      .join("\n");
    write(
      root,
      `registry: 1\napproved:\n${entries}\n  notes.get is gone: long ago\n`,
      "registry/approved.yaml",
    );
    const { code, stdout, stderr } = await cli(root, "diff", "main");
    expect(code).toBe(0);
    expect(stdout).toContain("approved: nobody ships");
    expect(stdout).toContain(`${breaking.length} breaking (${breaking.length} approved)`);
    expect(stderr).toContain("approved, but not there: notes.get is gone");
    // Approvals are nothing that is generated.
    expect((await cli(root, "generate")).code).toBe(0);
    expect((await cli(root, "diff", "main")).code).toBe(0);
  });

  test("is not passed by an approval of an earlier change", async () => {
    const root = project();
    // Neither what is no registry nor how git likes to print stands in the way.
    write(
      root,
      "# Registry\n\n* `approved.yaml` says why what breaks is approved.\n",
      "registry/README.md",
    );
    git(root, "config", "grep.fullName", "true");
    git(root, "config", "color.ui", "always");
    const approved = `registry: 1\napproved:\n  'realtime is not spoken over websocket': "once\\n::stop-commands::x"\n`;
    const without = orders.replace("transports: [sse, websocket]", "transports: [sse]");
    write(root, without);
    write(root, approved, "registry/approved.yaml");
    expect((await cli(root, "diff", "main")).code).toBe(0);
    await commit(root);
    write(root, orders);
    await commit(root);
    write(root, without);
    const { code, stderr } = await cli(root, "diff", "main");
    expect([code, stderr]).toEqual([
      1,
      expect.stringContaining("approved, but not there: realtime is not spoken over websocket"),
    ]);
    // Said anew, it is meant anew.
    write(root, approved.replace("once", "again"), "registry/approved.yaml");
    const { code: passes, stdout } = await cli(root, "diff", "main");
    expect([passes, stdout.includes("\n::")]).toEqual([0, false]);
  });

  test("is about what the work at hand changes, not about what others have added since", async () => {
    const root = project();
    git(root, "checkout", "-q", "-b", "work");
    git(root, "checkout", "-q", "main");
    write(
      root,
      orders.replace(
        "  drafts:",
        "  returns: {type: {text: string}, guard: open, tenant: false}\n  drafts:",
      ),
    );
    expect((await cli(root, "generate")).code).toBe(0);
    git(root, "add", "-A");
    git(root, "commit", "-q", "-m", "returns");
    git(root, "checkout", "-q", "-f", "work");
    const { code, report } = await reportOf(root);
    expect([code, report.changes]).toEqual([0, []]);
  });

  test("is not passed by an approval of something else that is called alike", async () => {
    const of = (...kinds: readonly string[]): string => {
      const objects = kinds.map(
        (kind) =>
          `{type: object, properties: {k: {const: ${kind}}}, required: [k], additionalProperties: false}`,
      );
      return orders.replace(
        "out: {at: date-time}",
        `out: {at: date-time, what: {anyOf: [${objects.join(", ")}]}}`,
      );
    };
    const root = project();
    write(root, of("a"));
    expect((await cli(root, "generate")).code).toBe(0);
    git(root, "commit", "-qam", "a");
    write(root, of("a", "b", "c"));
    const { report } = await reportOf(root);
    expect(report.changes.map(({ text }) => text)).toEqual([
      'orders.ship.what may be object with k "b" in answers',
      'orders.ship.what may be object with k "c" in answers',
    ]);
  });

  test("has what opens on top, and passes with an approval alone", async () => {
    const root = project();
    // In the middle of what breaks and what is offered.
    const opened = narrowed
      .replace("{authorize: orders.read}]", "{rate_limit: 90/1m}]")
      .replace('    tags: "string[]"\n', '    tags: "string[]"\n    weight: number?\n');
    write(root, opened);
    const text = "each of these operations needs no orders.read";
    const pretty = await cli(root, "diff", "main");
    expect([pretty.code, pretty.stdout.split("\n")[0]]).toEqual([1, `! opens         ${text}`]);
    expect(pretty.stdout).toMatch(
      /\n1 opens access, 2 breaking, \d+ additive since main; version 1\.2\.3, suggested 2\.0\.0\n/,
    );
    expect(pretty.stderr).toContain("What opens access or breaks clients needs an entry");
    const markdown = (await cli(root, "diff", "main", "--format", "markdown")).stdout;
    expect(markdown).toMatch(/^### API changes since `main`: 1 opens access, 2 breaking, /);
    const rows = markdown.split("\n").filter((line) => line.startsWith("| "));
    expect(rows[1]).toMatch(/^\| \*\*opens\*\* \| each of these operations needs no orders\.read/);
    const github = (await cli(root, "diff", "main", "--format", "github")).stdout;
    expect(github).toMatch(
      /^::error file=[^\n]*,title=opens access::each of these operations needs/,
    );
    const { code, report } = await reportOf(root);
    const [cause] = report.causes;
    expect([code, cause?.level, cause?.text, cause?.approved]).toEqual([1, "opens", text, null]);
    const approve = (places: readonly string[] = []): void =>
      write(
        root,
        `registry: 1\napproved:\n  ${text}: {reason: they are public, in: [${places.join(", ")}]}\n`,
        "registry/approved.yaml",
      );
    write(root, orders.replace(", {authorize: orders.read}]", "]"));
    approve(cause?.affects.slice(1));
    expect((await cli(root, "diff", "main")).code).toBe(1);
    approve(cause?.affects);
    const passed = await cli(root, "diff", "main", "--format", "markdown");
    // Approved or not, whoever reviews the approval sees it first.
    expect([passed.code, passed.stdout.split("\n")[0]]).toEqual([
      0,
      "### API changes since `main`: 1 opens access (1 approved)",
    ]);
    expect(passed.stdout).toContain("approved: they are public");
    expect((await reportOf(root)).report.version.suggested).toBe("1.3.0");
  });

  test("comes as Markdown for a pull request and as annotations", async () => {
    const root = project();
    write(root, narrowed);
    const markdown = await cli(root, "diff", "main", "--format", "markdown");
    expect([markdown.code, markdown.stdout.split("\n")[0]]).toEqual([
      1,
      expect.stringMatching(/^### API changes since `main`: \d+ breaking$/),
    ]);
    expect(markdown.stdout).toContain("| **breaking** | Order.state is no longer");
    const github = await cli(root, "diff", "main", "--format", "github");
    expect([github.code, github.stdout]).toEqual([
      1,
      expect.stringMatching(
        /^::error file=registry\/orders\.yaml,line=\d+,col=\d+,title=breaking change::/,
      ),
    ]);
  });

  test.each([
    [
      "registry/orders.yaml",
      orders,
      "accept: [image/png, image/jpeg]",
      "accept: [image/png]",
      "papers:",
    ],
    [
      "registry/webhooks.yaml",
      "registry: 1\nwebhooks: {guard: staff, max: 5}\n",
      "max: 5",
      "max: 4",
      "webhooks:",
    ],
    ["registry/service.yaml", service, "{methods", "{access_ttl: 5m, methods", "identity:"],
  ])("is placed at the section of %s that was changed", async (file, text, before, after, key) => {
    const root = project();
    write(root, text, file);
    expect((await cli(root, "generate")).code).toBe(0);
    git(root, "add", "-A");
    git(root, "commit", "-q", "--allow-empty", "-m", "before");
    write(root, text.replace(before, after), file);
    const line = 1 + text.split("\n").findIndex((one) => one.includes(key));
    expect((await cli(root, "diff", "main", "--format", "github")).stdout).toContain(
      `file=${file},line=${line},`,
    );
  });

  test("is read as text, whatever a registry says", async () => {
    const root = project();
    const nasty = "a|b @octocat &commat;hubot GH-1 #1 <b>\\u001b[2J\\n::error::x";
    write(root, orders.replace("state: [open, shipped]", `state: [open, shipped, "${nasty}"]`));
    const markdown = (await cli(root, "diff", "main", "--format", "markdown")).stdout;
    const named = markdown.split("\n").filter((line) => line.includes("octocat"));
    const row = named.find((line) => line.startsWith("|")) ?? "";
    // Three cells, and nowhere a mention, an issue, an element or a sequence for terminals.
    expect(row.split(/(?<!\\)\|/)).toHaveLength(5);
    for (const line of named) expect(line).not.toMatch(/@octocat|(?<!\\)&commat|GH-1|#1|<b>/);
    for (const format of ["markdown", "pretty"]) {
      const { stdout } = await cli(root, "diff", "main", "--format", format);
      // oxlint-disable-next-line no-control-regex -- what a terminal would obey
      expect(stdout).not.toMatch(/\u001b|\n::/);
    }
  });

  test("names files from the repository's root, as findings do", async () => {
    const repository = mkdtempSync(join(tmpdir(), "opwright-diff-"));
    made.push(repository);
    const root = join(repository, "services/shop");
    cpSync(committed, root, { recursive: true });
    rmSync(join(root, ".git"), { recursive: true });
    git(repository, "init", "-q", "-b", "main");
    git(repository, "add", "-A");
    git(repository, "commit", "-q", "-m", "first");
    write(root, narrowed);
    const place = /^::\w+ file=services\/shop\/registry\/orders\.yaml,/;
    expect((await cli(root, "diff", "main", "--format", "github")).stdout).toMatch(place);
    write(root, orders.replace("guard: open, tenant", "guard: opn, tenant"));
    expect((await cli(root, "check", "--format", "github")).stdout).toMatch(place);
    const sarif = (await cli(root, "check", "--format", "sarif")).stdout;
    expect(sarif).toContain('"uri": "services/shop/registry/orders.yaml"');
  });

  test("is refused where there is nothing to compare", async () => {
    const root = project();
    for (const [ref, words] of [
      ["nowhere", "is no git revision"],
      ["", "is no git revision"],
      ["--output=x", "unknown option"],
    ] as const) {
      const { code, stderr } = await cli(root, "diff", ref);
      expect([code, stderr]).toEqual([2, expect.stringContaining(words)]);
    }
    write(root, "registry: 1\ndocuments: {orders: {}}\n");
    expect((await cli(root, "diff", "main")).code).toBe(1);
  });
});

describe("rules that follow the twin", () => {
  const guarded = (policies: string, guard: string, rest = "bulk: {max: 9}"): string =>
    orders
      .replace("  open: []\n", `  open: []\n${policies}`)
      .replace(
        "drafts: {type: {text: string}, guard: open,",
        `drafts: {type: {text: string}, guard: ${guard}, ${rest},`,
      );

  test("a stricter creation is a stricter creation of many", async () => {
    const root = project();
    write(root, guarded("", "staff"));
    await commit(root);
    write(
      root,
      guarded(
        "  boss: [principal, {authorize: orders.boss}]\n",
        "{read: staff, write: staff, create: boss}",
      ),
    );
    expect(await breakingOf(root)).toEqual([
      "drafts.create needs orders.boss",
      "drafts.create_many needs orders.boss",
    ]);
  });

  test("a hook of a creation is one of each document that is created", async () => {
    const root = project();
    write(root, guarded("", "open"));
    await commit(root);
    write(
      root,
      guarded("", "open", "bulk: {max: 9}, hooks: {create: {before: [registry/ship.ts#ship]}}"),
    );
    expect(await breakingOf(root)).toEqual([
      "drafts runs ship of create for each document that bulk verbs, upsert or revert write",
      "ship before now runs",
    ]);
  });

  test("one more above a scope is an offer, one less is none", async () => {
    const root = project();
    const scope = (override: string): string =>
      guarded(`  own: [principal, {scope: own_rows${override}}]\n`, "own");
    write(root, scope(""));
    await commit(root);
    write(root, scope(", override: [admin]"));
    const { changes } = (await reportOf(root)).report;
    expect(changes.map(({ level, text }) => `${level} ${text}`)).toEqual([
      "opens scope own_rows unless admin before runs instead of scope own_rows before",
    ]);
  });

  test("a registry of a version whose administrators stood above every scope says whom that changes", async () => {
    const root = project();
    write(root, guarded("  own: [principal, {scope: own_rows}]\n", "own"));
    await commit(root);
    // Versions before this one didn't say who was above a scope: whoever had an override permission was.
    const frozen = join(root, "generated/registry.json");
    const text = readFileSync(frozen, "utf8");
    const earlier = text.replaceAll(/,?\s*"override": \[\](?=\s*[,}])/g, "");
    expect(earlier).not.toBe(text);
    writeFileSync(frozen, earlier);
    git(root, "commit", "-q", "-am", "as it was");
    const told = (await reportOf(root)).report.changes.filter(({ level }) => level === "breaking");
    expect(told.map(({ text: one }) => one)).toContain(
      "scope own_rows before runs instead of scope own_rows unless admin or drafts.admin before",
    );
    const affected = told.flatMap(({ affects }) => affects);
    expect(affected).toContain("drafts.get");
    expect(affected).toContain("drafts.update_where");
  });
});
