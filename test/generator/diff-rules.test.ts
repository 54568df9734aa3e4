// Every rule × everything that it can be attached to: opwright diff tells one that is added, removed or changed, and says of it
// what it is to callers.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { compareRegistries } from "../../generator/diff/compare.js";
import { checkRegistry } from "../../generator/generate.js";
import { frozen, thawed } from "../../generator/model/frozen.js";
import type { RegistryModel } from "../../generator/model/registry.js";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { writeProject } from "./scenario.js";

const service = `registry: 1
service: {name: shop, title: Shop, version: 1.2.3}
`;
const code = `export const first = async () => undefined;
export const second = async () => undefined;
export const mine = () => ({});
export const theirs = () => ({});
export const topics = () => [];
export const others = () => [];
`;

let root = "";
let remove: () => void = () => undefined;
beforeAll(() => {
  ({ root, remove } = writeProject({ "registry/service.yaml": service, "registry/code.ts": code }));
});
afterAll(() => remove());

/** The registry that a text declares, as it is committed and read again. */
async function modelOf(text: string): Promise<RegistryModel> {
  writeFileSync(join(root, "registry/rules.yaml"), text);
  const { expanded, findings } = await checkRegistry({
    root,
    paths: { out: "generated", registry: "registry" },
    client: { package: null, queries: false, mocks: false },
  });
  expect(findings).toEqual([]);
  return thawed(JSON.parse(JSON.stringify(frozen(expanded.model))) as object);
}

/** What is told between two texts: level and text of each change. */
async function toldBetween(before: string, after: string): Promise<readonly string[]> {
  const [was, is] = [await modelOf(before), await modelOf(after)];
  return compareRegistries(was, is, "2026-01-01").map(({ level, text }) => `${level} ${text}`);
}

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
    expect(removed.filter((text) => text.startsWith("breaking"))).toEqual([]);
    expect(removed.filter((text) => text.startsWith("additive"))).toContainEqual(
      expect.stringContaining(told[0]),
    );
    const changed = await toldBetween(with1 ?? "", with2 ?? "");
    expect(changed.filter((text) => text.startsWith("breaking"))).toContainEqual(
      expect.stringContaining(told[1]),
    );
  });
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
    const isAsked = level === "breaking";
    const gone = isAsked
      ? `additive first ${begins} is no longer asked`
      : `documentation first ${begins} is no longer run`;
    const added = isAsked ? "is asked" : "is run";
    expect(await toldBetween(none, one)).toContain(`${level} first ${begins} ${added}`);
    expect(await toldBetween(one, none)).toContain(gone);
    const changed = await toldBetween(one, other);
    expect(changed).toContain(`${level} second ${begins} ${added}`);
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
    "breaking checked before runs second instead of first",
    "breaking checked before runs first instead of second",
  ],
  [
    "the function of a scope",
    "scopes: {mine: RULE}\ndocuments: {notes: {type: {text: string}, guard: scoped, mount: false}}\n",
    "registry/code.ts#mine",
    "registry/code.ts#theirs",
    "breaking scope mine before runs theirs instead of mine",
    "breaking scope mine before runs mine instead of theirs",
  ],
  [
    "a permission above every other",
    "authorization: {override: RULE}\n",
    "[admin]",
    "[]",
    "breaking identity no longer lets admin do everything",
    "additive identity lets admin do everything",
  ],
  [
    "who decides",
    "authorization: {decide: RULE}\n",
    "registry/code.ts#mine",
    "registry/code.ts#theirs",
    "breaking identity decides permissions otherwise",
    "breaking identity decides permissions otherwise",
  ],
  [
    "what hosts are believed",
    "tenancy: {trust_forwarded_host: RULE}\n",
    "false",
    "true",
    "additive identity believes the host that trusted proxies forward",
    "breaking identity no longer believes the host that proxies forward",
  ],
  [
    "who hears a topic",
    "realtime: {topics: RULE, events: {note.made: {data: {id: uuid}, audience: [topic], delivery: ephemeral}}}\n",
    "registry/code.ts#topics",
    "registry/code.ts#others",
    "breaking realtime grants topics otherwise",
    "breaking realtime grants topics otherwise",
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
    "additive webhooks no longer asks platform.boss of who hears shop.sold",
  ],
  [
    "the policy of a document whose events webhooks send",
    "types: {Note: {text: string}}\ndocuments: {notes: {type: Note, guard: RULE, mount: false}}\noutbox: {events: {note.made: {destination: shop, data: Note}}}\nwebhooks: {guard: staff}\n",
    "staff",
    "boss",
    "breaking webhooks asks platform.boss of who hears note.made",
    "additive webhooks no longer asks platform.boss of who hears note.made",
  ],
  [
    "how many webhooks a caller may have",
    "outbox: {events: {shop.sold: {destination: shop, data: {id: uuid}}}}\nwebhooks: {guard: staff, max: RULE}\n",
    "20",
    "5",
    "breaking webhooks takes 5 of a caller",
    "additive webhooks takes 20 of a caller",
  ],
  [
    "which files a storage takes",
    "storage: {files: {guard: open, accept: RULE}}\n",
    '["image/*"]',
    "[image/png]",
    "breaking files takes image/png",
    "additive files takes image/*",
  ],
  [
    "what a storage goes by",
    "storage: {files: {guard: open, accept: [image/png], detect: RULE}}\n",
    "name",
    "bytes",
    "breaking files refuses files whose bytes are of no accepted type, whatever they are called",
    "additive files believes the names of files whose bytes no format is known of",
  ],
  [
    "how large a file may be",
    "storage: {files: {guard: open, max_upload: RULE}}\n",
    "2MiB",
    "1MiB",
    "breaking files takes files of 1048576 bytes",
    "additive files takes files of 2097152 bytes",
  ],
  [
    "whether credentials are looked at",
    "operations: {shop.ship: {post: /ship, in: {id: uuid}, run: registry/code.ts#mine, guard: openRULE}}\n",
    "",
    ", credentials: ignore",
    "breaking shop.ship ignores credentials",
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
    "whose a document is",
    "documents: {notes: {type: {text: string}, guard: open, mount: false, tenant: RULE}}\ntenancy: {}\n",
    "true",
    "false",
    "breaking notes is of all tenants",
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
