// Every rule × everything that it can be attached to: opwright diff tells one that is added, removed or changed, and says of it
// what it is to callers.
import { describe, expect, test } from "vitest";
import { tellingWith } from "./told-between.js";

const { changes: toldBetween, rollout } = tellingWith(`export const first = async () => undefined;
export const second = async () => undefined;
export const mine = () => ({});
export const theirs = () => ({});
export const topics = () => [];
export const others = () => [];
`);

/** A registry in which one holder has the policy `asked`, and whatever else it needs. */
interface Holder {
  readonly declared: string;
  readonly identity?: string;
  /** Rules that mean nothing to it. */
  readonly without?: readonly string[];
}

const noScopes = ["a scope", "who is above a scope"];
const holders: Readonly<Record<string, Holder>> = {
  "a document": { declared: "documents: {notes: {type: {text: string}, guard: asked}}" },
  "one verb of a document": {
    declared: "documents: {notes: {type: {text: string}, guard: {read: asked, write: open}}}",
  },
  "a document that is on no mount": {
    declared: "documents: {notes: {type: {text: string}, guard: asked, mount: false}}",
  },
  "a verb that its mount leaves out": {
    declared:
      "documents: {notes: {type: {text: string}, guard: {read: open, write: asked}, mount: {at: /notes, include: [get]}}}",
  },
  "a sensitive document": {
    declared: "documents: {notes: {type: {text: string}, guard: asked, sensitive: true}}",
  },
  "a view": {
    declared:
      "documents: {notes: {type: {text: string, more: string}, guard: open, views: {card: {fields: [text], guard: asked}}}}",
  },
  "a view of a document that is on no mount": {
    declared:
      "documents: {notes: {type: {text: string, more: string}, guard: open, mount: false, views: {card: {fields: [text], guard: asked}}}}",
  },
  "what reads deleted documents": {
    declared: "documents: {notes: {type: {text: string}, guard: open, soft_delete: {read: asked}}}",
  },
  "the profile of who signs up": {
    declared:
      "documents: {people: {type: {nick: string?}, unique: [[owner_id]], guard: asked, mount: false}}",
    identity: "{sign_up: {verify: none, profile: people}}",
  },
  "a storage": { declared: "storage: {files: {guard: asked}}", without: noScopes },
  "a sensitive storage": {
    declared: "storage: {files: {guard: asked, sensitive: true}}",
    without: noScopes,
  },
  "a search": {
    declared:
      "documents: {notes: {type: {text: string}, guard: open}}\nsearch: {notes_found: {of: notes, text: [text], guard: asked}}",
  },
  "an operation of the author's": {
    declared:
      "operations: {shop.ship: {post: /ship, in: {id: uuid}, run: registry/code.ts#first, guard: asked}}",
    without: noScopes,
  },
  "a move between states": {
    declared:
      "documents: {notes: {type: {state: [open, done]}, guard: open, states: {field: state, initial: [open], from: {open: {to: [done], by: asked}}}}}",
    without: [...noScopes, "a rate limit", "a hook"],
  },
  "a field that only some may see": {
    declared:
      "documents: {notes: {type: {text: string, cost: integer}, guard: open, visible: {cost: [staff, asked]}}}",
    without: ["a rate limit", "a hook"],
  },
  "the audit trail": { declared: "audit: {guard: asked}", without: noScopes },
  "the export of people": {
    declared: "",
    identity: "{export: {guard: asked}}",
    without: noScopes,
  },
  webhooks: {
    declared:
      "outbox: {events: {shop.sold: {destination: shop, data: {id: uuid}}}}\nwebhooks: {guard: asked}",
    without: noScopes,
  },
  "an event that webhooks send": {
    declared:
      "outbox: {events: {shop.sold: {destination: shop, data: {id: uuid}, guard: asked}}}\nwebhooks: {guard: staff}",
    without: [...noScopes, "a rate limit"],
  },
  "the deactivation of people": {
    declared: "",
    identity: "{deactivate: {guard: asked}}",
    without: noScopes,
  },
};

/** A rule by what it is, as two steps of a policy that differ, and how each is told. */
const rules: Readonly<
  Record<
    string,
    { readonly steps: readonly [string, string]; readonly told: readonly [string, string] }
  >
> = {
  "a permission": {
    steps: ["{authorize: platform.read}", "{authorize: platform.see}"],
    told: ["platform.read", "platform.see"],
  },
  "a scope": {
    steps: ["{scope: mine}", "{scope: own_rows}"],
    told: ["scope mine", "scope own_rows"],
  },
  "who is above a scope": {
    steps: ["{scope: mine, override: [boss]}", "{scope: mine, override: [chief]}"],
    told: ["scope mine unless boss", "scope mine unless chief"],
  },
  "a rate limit": {
    steps: ["{rate_limit: 5/1m}", "{rate_limit: 3/1m}"],
    told: ["rate_limit 5/1m", "rate_limit 3/1m"],
  },
  "a hook": { steps: ["checked", "noted"], told: ["checked", "noted"] },
};

const registryOf = ({ declared, identity = "{}" }: Holder, step: string): string => `registry: 1
identity: ${identity}
policies:
  open: []
  staff: [principal]
  asked: [principal, {authorize: platform.any}${step === "" ? "" : `, ${step}`}]
hooks:
  checked: {run: registry/code.ts#first, phase: before}
  noted: {run: registry/code.ts#second, phase: before}
scopes: {mine: registry/code.ts#mine}
${declared}
`;

describe.each(Object.entries(holders))("of %s", (_name, holder) => {
  const fitting = Object.entries(rules).filter(([name]) => holder.without?.includes(name) !== true);

  test.each(fitting)("%s is told", async (_rule, { steps, told }) => {
    const [one, other] = steps;
    const [none, with1, with2] = ["", one, other].map((step) => registryOf(holder, step));
    const added = await toldBetween(none ?? "", with1 ?? "");
    expect(added.filter((text) => text.startsWith("breaking"))).toContainEqual(
      expect.stringContaining(told[0]),
    );
    const removed = await toldBetween(with1 ?? "", none ?? "");
    expect(
      removed.filter((text) => text.includes("breaks") || text.startsWith("breaking")),
    ).toEqual([]);
    // Whoever weakens a protection needs an approval, and it is told as nothing else.
    expect(removed.filter((text) => text.startsWith("opens"))).toContainEqual(
      expect.stringContaining(told[0]),
    );
    expect(removed.filter((text) => /^additive .*(?:no longer runs|needs no)/.test(text))).toEqual(
      [],
    );
    const changed = await toldBetween(with1 ?? "", with2 ?? "");
    expect(changed.filter((text) => /^(?:opens, breaks|breaking) /.test(text))).toContainEqual(
      expect.stringContaining(told[1]),
    );
    // Back again: what the second has and the first lacks.
    const back = await toldBetween(with2 ?? "", with1 ?? "");
    expect(back.filter((text) => text.startsWith("opens"))).toContainEqual(
      expect.stringContaining(told[1]),
    );
  });
});

test("a hidden field that is renamed or dropped, and a policy of another name, open nothing", async () => {
  const of = (type: string, visible: string, policies = "staff: [principal, {authorize: x.see}]") =>
    `registry: 1
identity: {}
policies: {open: [], ${policies}}
documents: {notes: {type: {text: string${type}}, guard: open, defaults: {}, ${visible}}}
`;
  const before = of(", cost: integer?", "visible: {cost: staff}");
  const opening = async (after: string) =>
    (await toldBetween(before, after)).filter((text) => text.startsWith("opens"));
  expect(
    await opening(of(", price: {type: [integer, 'null'], was: cost}", "visible: {price: staff}")),
  ).toEqual([]);
  expect(await opening(of("", "dropped: {cost: {as: null}}"))).toEqual([]);
  const renamed = "boss: [principal, {authorize: x.see}]";
  expect(await opening(of(", cost: integer?", "visible: {cost: boss}", renamed))).toEqual([]);
  expect(await opening(of(", cost: integer?", "count: {up_to: 9}"))).toEqual([
    "opens notes shows cost to all who read it",
  ]);
});

test("a reference that becomes a list is advised what references can do", async () => {
  const of = (field: string) => `registry: 1
policies: {open: []}
documents: {notes: {type: {label: ${field}}, guard: open}, labels: {type: {name: string}, guard: open}}
`;
  const { steps } = await rollout(of("{ref: labels}"), of("[{ref: labels}]"));
  expect(steps.join("\n")).toContain("declare it under another name, and fill that by a job");
  expect(steps.join("\n")).not.toContain("`from`");
});

test("a key that is added takes more, and a condition meets documents of before", async () => {
  const of = (type: string, more = "") => `registry: 1
policies: {open: []}
documents:
  notes: {type: ${type}, guard: open${more}}
  comments: {type: {note: {ref: notes}}, guard: open}
`;
  const before = of("{slug: string, done: boolean}");
  const told = await toldBetween(before, of("{slug: string, done: boolean}", ", key: slug"));
  expect(told).toContain("additive notes takes slug in place of the id");
  expect(told.filter((text) => /minLength|format/.test(text) && /breaking/.test(text))).toEqual([]);
  const condition =
    "if: {properties: {done: {const: true}}}, then: {properties: {slug: {minLength: 3}}}";
  const { steps } = await rollout(before, of(`{slug: string, done: boolean, ${condition}}`));
  expect(steps.join("\n")).toContain("the one before still stores what they refuse");
});

const phases = [
  ["before", "breaking"],
  ["wrap", "breaking"],
  ["tx_before", "breaking"],
  ["tx_after", "breaking"],
  ["after_commit", "documentation"],
  ["on_success", "documentation"],
  ["on_failure", "documentation"],
  ["finally", "documentation"],
] as const;

/** What may have hooks of its own, by what it is called: how it is declared with these. */
const hooked: Readonly<Record<string, (hooks: string) => string>> = {
  "a document": (hooks) =>
    `documents: {notes: {type: {text: string}, guard: open, hooks: {update: ${hooks}}}}`,
  "a document that is on no mount": (hooks) =>
    `documents: {notes: {type: {text: string}, guard: open, mount: false, hooks: {update: ${hooks}}}}`,
  "an operation": (hooks) =>
    `operations: {shop.ship: {post: /ship, in: {id: uuid}, run: registry/code.ts#mine, guard: open, hooks: ${hooks}}}`,
};

describe.each(Object.entries(hooked))("the hooks of %s", (_name, declare) => {
  test.each(phases)("that run %s", async (phase, level) => {
    const begins = phase.replaceAll("_", " ");
    const registry = (hooks: string): string => `registry: 1
identity: {}
policies: {open: []}
${declare(hooks)}
`;
    const [none, one, other] = [
      registry("{}"),
      registry(`{${phase}: [registry/code.ts#first]}`),
      registry(`{${phase}: [registry/code.ts#second]}`),
    ];
    const gone = `${level === "breaking" ? "opens" : level} first ${begins} no longer runs`;
    expect(await toldBetween(none, one)).toContain(`${level} first ${begins} now runs`);
    expect(await toldBetween(one, none)).toContain(gone);
    const changed = await toldBetween(one, other);
    expect(changed).toContain(`${level} second ${begins} now runs`);
    expect(changed).toContain(gone);
  });
});

/** Other rules: a registry with one, the same with another, and how each way is told. */
const others: readonly (readonly [
  title: string,
  registry: string,
  before: string,
  after: string,
  there: string,
  back: string,
])[] = [
  [
    "the function of a declared hook",
    "hooks: {checked: {run: RULE, phase: before}}\ndocuments: {notes: {type: {text: string}, guard: hooked}}\n",
    "registry/code.ts#first",
    "registry/code.ts#second",
    "opens, breaks checked before runs second instead of first",
    "opens, breaks checked before runs first instead of second",
  ],
  [
    "the function of a scope",
    "scopes: {mine: RULE}\ndocuments: {notes: {type: {text: string}, guard: scoped, mount: false}}\n",
    "registry/code.ts#mine",
    "registry/code.ts#theirs",
    "opens, breaks scope mine before runs theirs instead of mine",
    "opens, breaks scope mine before runs mine instead of theirs",
  ],
  [
    "a permission above every other",
    "authorization: {override: RULE}\n",
    "[admin]",
    "[]",
    "breaking identity no longer lets admin do everything",
    "opens identity lets admin do everything",
  ],
  [
    "what a role permits",
    "roles: {agent: RULE}\n",
    "[platform.staff]",
    "[]",
    "breaking identity no longer lets the role agent do platform.staff",
    "opens identity lets the role agent do platform.staff",
  ],
  [
    "which roles a role gives",
    "roles: {agent: {permissions: [], gives: RULE}}\n",
    "[agent]",
    "[]",
    "breaking identity no longer lets the role agent give agent",
    "opens identity lets the role agent give agent",
  ],
  [
    "the roles of whoever creates a tenant",
    "roles: {agent: [], owner: []}\ntenancy: {selector: {create: {roles: RULE}}}\n",
    "[owner]",
    "[]",
    "breaking identity no longer gives whoever creates a tenant the role owner",
    "opens identity gives whoever creates a tenant the role owner",
  ],
  [
    "who decides",
    "authorization: {decide: RULE}\n",
    "registry/code.ts#mine",
    "registry/code.ts#theirs",
    "opens, breaks identity decides permissions otherwise",
    "opens, breaks identity decides permissions otherwise",
  ],
  [
    "what hosts are believed",
    "tenancy: {trust_forwarded_host: RULE}\n",
    "false",
    "true",
    "opens identity believes the host that trusted proxies forward",
    "breaking identity no longer believes the host that proxies forward",
  ],
  [
    "who hears a topic",
    "realtime: {topics: RULE, events: {note.made: {data: {id: uuid}, audience: [topic], delivery: ephemeral}}}\n",
    "registry/code.ts#topics",
    "registry/code.ts#others",
    "opens, breaks realtime grants topics otherwise",
    "opens, breaks realtime grants topics otherwise",
  ],
  [
    "where an integration event goes",
    "outbox: {events: {shop.sold: {destination: RULE, data: {id: uuid}}}}\n",
    "shop",
    "warehouse",
    "breaking integration event shop.sold goes to warehouse instead of shop",
    "breaking integration event shop.sold goes to shop instead of warehouse",
  ],
  [
    "the function that delivers an integration event",
    "outbox: {events: {shop.sold: {destination: RULE, data: {id: uuid}}}}\n",
    "registry/code.ts#first",
    "registry/code.ts#second",
    "breaking integration event shop.sold goes to second instead of first",
    "breaking integration event shop.sold goes to first instead of second",
  ],
  [
    "the policy of an event that webhooks send",
    "outbox: {events: {shop.sold: {destination: shop, data: {id: uuid}, guard: RULE}}}\nwebhooks: {guard: staff}\n",
    "staff",
    "boss",
    "breaking webhooks asks platform.boss of who hears shop.sold",
    "opens webhooks no longer asks platform.boss of who hears shop.sold",
  ],
  [
    "the policy of a document whose events webhooks send",
    "types: {Note: {text: string}}\ndocuments: {notes: {type: Note, guard: RULE, mount: false}}\noutbox: {events: {note.made: {destination: shop, data: Note}}}\nwebhooks: {guard: staff}\n",
    "staff",
    "boss",
    "breaking webhooks asks platform.boss of who hears note.made",
    "opens webhooks no longer asks platform.boss of who hears note.made",
  ],
  [
    "how many webhooks a caller may have",
    "outbox: {events: {shop.sold: {destination: shop, data: {id: uuid}}}}\nwebhooks: {guard: staff, max: RULE}\n",
    "20",
    "5",
    "breaking webhooks takes 5 of a caller",
    "opens webhooks takes 20 of a caller",
  ],
  [
    "which files a storage takes",
    "storage: {files: {guard: open, accept: RULE}}\n",
    '["image/*"]',
    "[image/png]",
    "breaking files takes image/png",
    "opens files takes image/*",
  ],
  [
    "whether uploads are scanned",
    "storage: {files: {guard: open RULE}}\njobs: {files.scan: {in: {upload: string}, run: registry/code.ts#first}, files.other: {in: {upload: string}, run: registry/code.ts#second}}\n",
    ", scan: files.scan",
    "",
    "opens files serves uploads that nothing has scanned",
    "breaking files serves uploads once files.scan has released them",
  ],
  [
    "what uploads are scanned by",
    "storage: {files: {guard: open, scan: RULE}}\njobs: {files.scan: {in: {upload: string}, run: registry/code.ts#first}, files.other: {in: {upload: string}, run: registry/code.ts#second}}\n",
    "files.scan",
    "files.other",
    "opens, breaks files has uploads scanned by files.other",
    "opens, breaks files has uploads scanned by files.scan",
  ],
  [
    "what a storage goes by",
    "storage: {files: {guard: open, accept: [image/png], detect: RULE}}\n",
    "name",
    "bytes",
    "breaking files refuses files whose bytes are of no accepted type, whatever they are called",
    "opens files believes the names of files whose bytes no format is known of",
  ],
  [
    "how far lists of documents count",
    "documents: {notes: {type: {text: string}, guard: open, count: {up_to: RULE}}}\n",
    "20",
    "9",
    "breaking notes counts at most 9 hits",
    "additive notes counts at most 20 hits",
  ],
  [
    "how large a file may be",
    "storage: {files: {guard: open, max_upload: RULE}}\n",
    "2MiB",
    "1MiB",
    "breaking files takes files of 1048576 bytes",
    "opens files takes files of 2097152 bytes",
  ],
  [
    "how far lists of objects count",
    "storage: {files: {guard: openRULE}}\n",
    "",
    ", count: {up_to: 9}",
    "breaking files counts at most 9 hits",
    "additive files counts all hits",
  ],
  [
    "whether credentials are looked at",
    "operations: {shop.ship: {post: /ship, in: {id: uuid}, run: registry/code.ts#mine, guard: openRULE}}\n",
    "",
    ", credentials: ignore",
    "opens, breaks shop.ship ignores credentials",
    "breaking shop.ship no longer ignores credentials",
  ],
  [
    "what may be no duplicate",
    "documents: {notes: {type: {text: string}, guard: open, mount: false, unique: RULE}}\n",
    "[]",
    "[[text]]",
    "breaking notes refuses what another has in text",
    "additive notes no longer refuses what another has in text",
  ],
  [
    "what may follow what",
    "documents: {notes: {type: {state: [open, done]}, guard: open, mount: false, states: {field: state, initial: [open, done], from: RULE}}}\n",
    "{open: [done]}",
    "{open: [done], done: [open]}",
    "opens notes may go from done to open",
    "breaking notes may no longer go from done to open",
  ],
  [
    "what may follow what, by whom",
    "documents: {notes: {type: {state: [open, done]}, guard: open, mount: false, states: {field: state, initial: [open], from: {open: RULE}}}}\n",
    "[done]",
    "{to: [done], by: staff}",
    "breaking notes go from open to done: asks principal",
    "opens notes go from open to done: asks no principal",
  ],
  [
    "how long the audit trail is kept",
    "audit: {guard: staff, keep: RULE}\n",
    "7d",
    "30d",
    "additive audit keeps entries for 2592000 s",
    "breaking audit keeps entries for 604800 s",
  ],
  [
    "that the audit trail is kept for ever",
    "audit: {guard: staff, RULE}\n",
    "keep: 7d",
    "",
    "additive audit keeps entries for ever",
    "breaking audit keeps entries for 604800 s",
  ],
  [
    "whose a document is",
    "documents: {notes: {type: {text: string}, guard: open, mount: false, tenant: RULE}}\ntenancy: {}\n",
    "true",
    "false",
    "opens, breaks notes is of all tenants",
    "breaking notes is of a tenant",
  ],
];

describe("other rules", () => {
  test.each(others)("%s", async (_title, registry, before, after, there, back) => {
    const withRule = (rule: string): string => `registry: 1
identity: {}
policies:
  open: []
  staff: [principal]
  boss: [principal, {authorize: platform.boss}]
${registry.includes("guard: hooked") ? "  hooked: [checked]" : ""}
${registry.includes("guard: scoped") ? "  scoped: [principal, {scope: mine}]" : ""}
${registry.replace("RULE", rule)}`;
    const [one, other] = [withRule(before), withRule(after)];
    expect(await toldBetween(one, other)).toContain(there);
    expect(await toldBetween(other, one)).toContain(back);
    expect(await toldBetween(one, one)).toEqual([]);
  });
});
