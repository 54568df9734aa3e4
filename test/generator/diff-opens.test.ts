// Every way in which a protection goes: opwright diff tells it as what opens, on top, and passes it with an approval alone.
import { describe, expect, test } from "vitest";
import { tellingWith } from "./told-between.js";

const { changes, causes } = tellingWith(`export const first = async () => undefined;
export const second = async () => undefined;
export const mine = () => ({});
export const topics = () => [];
`);

const registryOf = (declared: string, identity = "identity: {}"): string => `registry: 1
${identity}
policies:
  open: []
  slow: [{rate_limit: 9/1m}]
  member: [principal]
  reader: [principal, {authorize: "{resource}.read"}]
  own: [principal, {scope: own_rows}]
  boss: [principal, {authorize: platform.boss}]
  checked: [checked, principal]
hooks:
  checked: {run: registry/code.ts#first, phase: before}
${declared}
`;

/** The same with a policy more, which the text begins with. */
function mergedOf(text: string): string {
  const [, policy] = /^policies: \{(.*)\}\n/.exec(text) ?? [];
  const whole = registryOf(text.replace(/^policies: .*\n/, ""));
  return policy === undefined ? whole : whole.replace("hooks:\n", `  ${policy}\nhooks:\n`);
}

/** What opens, by what it is called: a registry with RULE, how it is before and afterwards, and how that is told. */
const opened: readonly (readonly [
  title: string,
  registry: string,
  before: string,
  after: string,
  told: string,
])[] = [
  [
    "a document that nobody has to be signed in for",
    "documents: {notes: {type: {text: string}, guard: RULE}}",
    "reader",
    "open",
    "opens notes.get no longer requires authentication",
  ],
  [
    "a document that needs no permission",
    "documents: {notes: {type: {text: string}, guard: RULE}}",
    "reader",
    "member",
    "opens notes.get needs no notes.read",
  ],
  [
    "one verb that shows all rows",
    "documents: {notes: {type: {text: string}, guard: {read: RULE, write: own}}}",
    "own",
    "member",
    "opens scope own_rows before no longer runs",
  ],
  [
    "a limit that leaves more at once, but fewer over time",
    "policies: {fast: [{rate_limit: RULE}]}\ndocuments: {notes: {type: {text: string}, guard: fast}}",
    "6/1m",
    "10/10m",
    "opens, breaks rate_limit 10/10m before runs instead of rate_limit 6/1m before",
  ],
  [
    "a member that a view shows",
    "documents: {people: {type: {name: string, born: date-time}, guard: reader, views: {card: {fields: RULE, guard: open}}}}",
    "[name]",
    "[name, born]",
    "opens people.card shows born",
  ],
  [
    "a document that is sensitive no more",
    "documents: {notes: {type: {text: string}, guard: reader, sensitive: RULE}}",
    "true",
    "false",
    "opens notes.get is no longer sensitive",
  ],
  [
    "a storage that is sensitive no more",
    "storage: {files: {guard: reader, sensitive: RULE}}",
    "true",
    "false",
    "opens files.download is no longer sensitive",
  ],
  [
    "lists that show what is deleted",
    "documents: {notes: {type: {text: string}, guard: reader, soft_delete: {list_deleted: RULE}}}",
    "false",
    "true",
    "opens notes lists what is deleted",
  ],
  [
    "a field that callers write when they create",
    "documents: {notes: {type: {text: string, state: [open, done]}, defaults: {state: open}, guard: reader, create: RULE}}",
    "[text]",
    "[text, state]",
    "opens notes lets callers write state by create",
  ],
  [
    "a field that callers write when they update",
    "documents: {notes: {type: {text: string, state: [open, done]}, defaults: {state: open}, guard: reader, update: RULE}}",
    "[text]",
    "[text, state]",
    "opens notes lets callers write state by update",
  ],
  [
    "a field that handlers alone wrote",
    "documents: {notes: {type: {text: string, state: [open, done]}, defaults: {state: open}, guard: reader, set: RULE}}",
    "{state: $handler}",
    "{}",
    "opens notes lets callers write state by create",
  ],
  [
    "a cookie that pages read",
    "operations: {shop.ship: {post: /ship, in: {id: uuid}, run: registry/code.ts#first, guard: member, reply: {cookies: {cart: RULE}}}}",
    "{}",
    "{http_only: false}",
    "opens shop.ship sets the cookie cart, which is shown to pages",
  ],
  [
    "a cookie that other sites' requests carry",
    "operations: {shop.ship: {post: /ship, in: {id: uuid}, run: registry/code.ts#first, guard: member, reply: {cookies: {cart: RULE}}}}",
    "{}",
    "{same_site: none}",
    "opens shop.ship sets the cookie cart, which has same_site none instead of lax",
  ],
  [
    "a cookie that more requests carry",
    "operations: {shop.ship: {post: /ship, in: {id: uuid}, run: registry/code.ts#first, guard: member, reply: {cookies: {cart: RULE}}}}",
    "{path: /shop}",
    "{}",
    "opens shop.ship sets the cookie cart, which goes with requests below /",
  ],
  [
    "a cookie that is kept for longer",
    "operations: {shop.ship: {post: /ship, in: {id: uuid}, run: registry/code.ts#first, guard: member, reply: {cookies: {cart: RULE}}}}",
    "{}",
    "{max_age: 1d}",
    "opens shop.ship sets the cookie cart, which is kept for 86400 s",
  ],
  [
    "an app of the author's",
    "service: {name: shop, title: Shop, version: 1.2.3RULE}",
    "",
    ", app: registry/code.ts#mine",
    "opens service answers other requests with mine",
  ],
  [
    "another app of the author's",
    "service: {name: shop, title: Shop, version: 1.2.3, app: registry/code.ts#RULE}",
    "mine",
    "topics",
    "opens, breaks service answers other requests with topics instead of mine",
  ],
  [
    "a field that another function makes",
    "documents: {notes: {type: {text: string, state: string}, guard: reader, create: [text], update: [text], set: {state: RULE}}}",
    "registry/code.ts#first",
    "registry/code.ts#second",
    "opens, breaks notes sets state to what second makes on write instead of what first makes on write",
  ],
  [
    "a field that is no longer the caller's",
    "documents: {notes: {type: {text: string, state: string}, guard: reader, create: [text], update: [text], set: {state: RULE}}}",
    "$caller",
    "registry/code.ts#first",
    "opens, breaks notes sets state to what first makes on write instead of the caller on create",
  ],
  [
    "a limit that counts others",
    "policies: {counted: [RULE]}\ndocuments: {notes: {type: {text: string}, guard: counted}}",
    "{rate_limit: 9/1m}, checked",
    "checked, {rate_limit: 9/1m}",
    "opens, breaks checked before runs ahead of rate_limit 9/1m",
  ],
  [
    "a reference that shows the whole document",
    "documents: {people: {type: {name: string, born: date-time}, guard: reader, views: {card: [name]}}, notes: {type: {text: string, author: {ref: peopleRULE}}, guard: reader}}",
    ", view: card",
    "",
    "opens, breaks notes shows people through author instead of people.card",
  ],
  [
    "a reference through which a view is shown whose policy lets others read",
    "documents: {people: {type: {name: string, born: date-time}, guard: reader, views: {card: {fields: [name], guard: open}}}, notes: {type: {text: string, author: {ref: peopleRULE}}, guard: reader}}",
    "",
    ", view: card",
    "opens, breaks notes shows people.card through author instead of people",
  ],
  [
    "a deletion that takes along what refused it",
    "documents: {people: {type: {name: string}, guard: reader}, notes: {type: {text: string, author: {ref: people, on_delete: RULE}}, guard: reader}}",
    "restrict",
    "cascade",
    "opens, breaks notes has on_delete cascade instead of restrict where author names one of the people",
  ],
  [
    "more documents in one request",
    "documents: {notes: {type: {text: string}, guard: reader, bulk: {max: RULE}}}",
    "10",
    "500",
    "opens notes writes up to 500 documents in one request",
  ],
  [
    "a hook of a creation that many are created without",
    "documents: {notes: {type: {text: string}, guard: reader, bulk: {max: 5}, hooks: RULE}}",
    "{create: {before: [registry/code.ts#first]}}",
    "{}",
    "opens notes no longer runs first of create for each document that bulk verbs, upsert or revert write",
  ],
  [
    "files of any type",
    "storage: {files: {guard: readerRULE}}",
    ", accept: [image/png]",
    "",
    "opens files takes any type",
  ],
  [
    "files of another type",
    "storage: {files: {guard: reader, accept: RULE}}",
    "[image/png]",
    "[image/svg+xml]",
    "opens, breaks files takes image/svg+xml",
  ],
  [
    "files that are stored in the clear",
    "storage: {files: {guard: readerRULE}}",
    ", encryption: client",
    "",
    "opens files has encryption none",
  ],
  [
    "larger ranges",
    "storage: {files: {guard: reader, max_range: RULE}}",
    "1MiB",
    "4MiB",
    "opens files answers ranges of 4194304 bytes",
  ],
  [
    "who is there",
    "realtime: {topics: registry/code.ts#topics, presence: RULE, events: {note.made: {data: {id: uuid}, audience: [topic], delivery: ephemeral}}}",
    "false",
    "true",
    "opens realtime tells who is there",
  ],
  [
    "topics that are granted at all",
    "realtime: {RULEevents: {note.made: {data: {id: uuid}, audience: [principal], delivery: ephemeral}}}",
    "",
    "topics: registry/code.ts#topics, ",
    "opens realtime grants topics",
  ],
  [
    "an event for topics as well",
    "realtime: {topics: registry/code.ts#topics, events: {note.made: {data: {id: uuid}, audience: RULE, delivery: ephemeral}}}",
    "[principal]",
    "[principal, topic]",
    "opens event note.made may be for a topic",
  ],
  [
    "an event that goes to another topic",
    'realtime: {topics: registry/code.ts#topics, events: {note.made: {data: {id: uuid}, audience: [topic], delivery: ephemeral, to: "RULE:{id}"}}}',
    "note",
    "public",
    "opens, breaks event note.made goes to the topic public:{id} instead of to the topic note:{id}",
  ],
  [
    "an event that subscribers may hear",
    "outbox: {events: {shop.sold: {destination: shop, data: {id: uuid}}, shop.lost: {destination: shop, data: {id: uuid}}}}\nwebhooks: {guard: boss, events: RULE}",
    "[shop.sold]",
    "[shop.sold, shop.lost]",
    "opens webhooks lets subscribers hear shop.lost",
  ],
  [
    "webhooks for events that went to one destination",
    "outbox: {events: {shop.sold: {destination: shop, data: {id: uuid}}}}\nRULE",
    "",
    "webhooks: {guard: boss}",
    "opens webhooks lets subscribers hear shop.sold",
  ],
];

describe("what opens is told as such", () => {
  test.each(opened)("%s", async (_title, registry, before, after, told) => {
    const merged = (rule: string): string => mergedOf(registry.replace("RULE", rule));
    const there = await changes(merged(before), merged(after));
    expect(there).toContain(told);
    // The way back protects: nothing of it opens, but where it is another one.
    const back = await changes(merged(after), merged(before));
    const isEither = told.startsWith("opens, breaks");
    if (!isEither) expect(back.filter((text) => text.startsWith("opens"))).toEqual([]);
    expect(back).not.toContain(told);
  });
});

/** The same for what identity, tenancy and authorization say. */
const identities: readonly (readonly [
  title: string,
  section: string,
  before: string,
  after: string,
  told: string,
])[] = [
  [
    "tokens that last longer",
    "identity: {access_ttl: RULE}",
    "5m",
    "24h",
    "opens identity access tokens last 86400 s",
  ],
  [
    "keys where tokens were asked for",
    "identity: {methods: [token, api_key], ingress: RULE}",
    "[{bearer: Authorization}]",
    "[{bearer: Authorization}, {api_key: X-API-Key}]",
    "opens identity takes an api_key in X-API-Key",
  ],
  [
    "tokens of others that another function verifies",
    "identity: {routes: {api: {verifier: registry/code.ts#RULE, resolver: registry/code.ts#mine}}}",
    "first",
    "second",
    "opens, breaks identity verifies tokens of the route api otherwise",
  ],
  [
    "callers whom another function names",
    "identity: {routes: {api: {verifier: registry/code.ts#mine, resolver: registry/code.ts#RULE}}}",
    "first",
    "second",
    "opens, breaks identity resolves callers of the route api otherwise",
  ],
  [
    "a tenant that requests name",
    "identity: {}\ntenancy: {trust_tenant_header: RULE}",
    "false",
    "true",
    "opens identity takes a tenant from a header",
  ],
  [
    "addresses that nobody proves",
    "identity: {sign_up: {verify: RULE}}\noutbox: {events: {authn.sign_up_requested: {destination: mail}}}",
    "email",
    "none",
    "opens, breaks identity registers people without a token from their mail",
  ],
  [
    "an administration that needs no permission",
    "identity: {provisioning: {guard: RULE}}",
    "boss",
    "open",
    "opens principals.create_principal needs no platform.boss",
  ],
];

describe("what opens in who is calling is told as such", () => {
  test.each(identities)("%s", async (_title, section, before, after, told) => {
    const withRule = (rule: string): string => registryOf("", section.replace("RULE", rule));
    expect(await changes(withRule(before), withRule(after))).toContain(told);
    const back = await changes(withRule(after), withRule(before));
    // What another function decides is not to be seen, either way.
    if (!told.endsWith("otherwise")) expect(back).not.toContain(told);
  });
});

describe("a new operation", () => {
  const notes = (rest: string, guard = "reader"): string =>
    registryOf(`documents: {notes: {type: {text: string}, guard: ${guard}}}\n${rest}`);
  const operation = (guard: string): string =>
    `operations: {notes.send: {post: /send, in: {id: uuid}, run: registry/code.ts#mine, guard: ${guard}}}`;

  test.each([
    ["guarded as those beside it", "reader", "additive notes.send is new"],
    ["with another permission", "boss", "additive notes.send is new"],
    ["for anybody", "open", "opens notes.send is new and requires no authentication"],
    ["for anybody, now and then", "slow", "opens notes.send is new and requires no authentication"],
    [
      "for all who are signed in, where others need a permission",
      "member",
      "opens notes.send is new and asks only who is calling, unlike all others of notes",
    ],
    [
      "with a check of its own, where others need a permission",
      "checked",
      "opens notes.send is new and asks only who is calling, unlike all others of notes",
    ],
  ])("%s", async (_title, guard, told) => {
    expect(await changes(notes(""), notes(operation(guard)))).toEqual(
      expect.arrayContaining([told]),
    );
  });

  test("for all who are signed in, as those beside it", async () => {
    const told = await changes(notes("", "member"), notes(operation("member"), "member"));
    expect(told).toContain("additive notes.send is new");
  });

  test("of a document for anybody is one cause, and of one that is guarded an offer", async () => {
    const none = registryOf("");
    expect(await causes(none, notes("", "open"))).toEqual([
      "opens document notes is new and requires no authentication",
    ]);
    expect(await causes(none, notes(""))).toEqual(["additive document notes is new"]);
    expect(await causes(none, notes("", "{read: open, write: reader}"))).toEqual([
      "opens document notes is new and requires no authentication",
      "additive document notes is new",
    ]);
  });
});

describe("what is gone or grows is no opening", () => {
  test.each([
    [
      "an operation",
      "documents: {notes: {type: {text: string}, guard: reader, RULE}}",
      "bulk: {max: 5}",
      "bulk: null",
    ],
    ["a document", "RULE", "documents: {notes: {type: {text: string}, guard: reader}}", ""],
    [
      "a longer text",
      "documents: {notes: {type: {text: {type: string, maxLength: RULE}}, guard: reader}}",
      "5",
      "9",
    ],
    [
      "a field",
      "documents: {notes: {type: {text: stringRULE}, guard: reader}}",
      "",
      ", more: string?",
    ],
    [
      "permissions in another order",
      "policies: {both: [principal, RULE]}\ndocuments: {notes: {type: {text: string}, guard: both}}",
      "{authorize: platform.a}, {authorize: platform.b}",
      "{authorize: platform.b}, {authorize: platform.a}",
    ],
  ])("%s", async (_title, registry, before, after) => {
    const withRule = (rule: string): string =>
      mergedOf(registry.replace("RULE", rule).replace(", bulk: null", ""));
    const told = await changes(withRule(before), withRule(after));
    expect(told.length).toBeGreaterThan(0);
    expect(told.filter((text) => text.startsWith("opens"))).toEqual([]);
  });
});

describe("a changed view is one cause", () => {
  const people = (members: string): string =>
    registryOf(`documents:
  people: {type: {name: string, born: date-time, kind: [a, b]}, guard: reader, views: {card: {fields: [${members}], guard: open}}}
  posts: {type: {title: string, author: {ref: people, view: card}}, guard: reader}
`);

  test("with all that its readers may ask by", async () => {
    const [few, more] = [people("name"), people("name, born, kind")];
    expect(await causes(few, more)).toEqual([
      "opens people.card shows born",
      "opens people.card shows kind",
    ]);
    expect(await causes(more, few)).toEqual([
      "breaking PeopleCard.born is gone",
      "breaking PeopleCard.kind is gone",
    ]);
  });
});

describe("an answer that had a view and has more from now on", () => {
  const people = (out: string, data: string): string =>
    registryOf(`types: {Person: {name: string, born: date-time}, Team: {name: string, members: "${out}[]"}}
documents: {people: {type: Person, guard: reader, views: {card: [name], long: [name, born]}}}
operations:
  people.team: {get: /team, out: Team, run: registry/code.ts#mine, guard: boss}
  people.first: {get: /first, out: ${data}, run: registry/code.ts#mine, guard: boss}
`);

  test.each(["PeopleLong", "Person"])("such as %s opens", async (type) => {
    const [card, more] = [people("PeopleCard", "PeopleCard"), people(type, type)];
    const told = await changes(card, more);
    expect(told).toContain("opens people.first shows born in answers");
    expect(told).toContain("opens Team.members[] shows born in answers");
    const back = await changes(more, card);
    expect(back.filter((text) => text.startsWith("opens"))).toEqual([]);
  });

  test("as a reference that shows the whole document is one cause", async () => {
    const posts = (view: string): string =>
      registryOf(`documents:
  people: {type: {name: string, born: date-time}, guard: reader, views: {card: [name]}}
  posts: {type: {title: string, author: {ref: people${view}}}, guard: reader}
`);
    const told = await causes(posts(", view: card"), posts(""));
    expect(told.filter((text) => text.startsWith("opens"))).toEqual([
      "opens, breaks PostsExpansions.author shows born in answers",
    ]);
  });
});
