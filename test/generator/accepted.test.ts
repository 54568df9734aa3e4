// Registries that were accepted once and did not compile or load: each is the smallest that showed a fault
// (test/property/generated-code.test.ts found most of them).
import { beforeAll, describe, expect, test } from "vitest";
import { parse } from "yaml";
import { compileStandalone } from "../../generator/compile/ajv-standalone.js";
import { jsonEqual } from "../../runtime/contract/validation.js";
import { outcomesOf, type Outcome } from "../property/registries/program.js";
import type { Json } from "../property/registries/world.js";

const run = (file: string): string => `run: registry/${file}.ts#go, guard: open`;

const wideTypes = "types of 400 members, wherever they are checked";
const wide = (prefix: string): string =>
  Array.from({ length: 400 }, (_, at) => `${prefix}_${at}: string?`).join(", ");

/** What each shows, and what stands below a service with the policies `open` and `staff`. */
const cases: Readonly<Record<string, string>> = {
  [wideTypes]: `
    types: {Validator: {${wide("a")}}, Answer: {${wide("b")}}}
    documents: {forms: {type: {${wide("field")}}, guard: open, unique: [[field_0]], upsert: true, bulk: {max: 20}, history: {revisions: true}}}
    search: {form_search: {of: forms, text: [field_0, field_399], guard: open}}
    operations:
      a.go: {post: /go, in: Validator, out: Answer, ${run("a-go")}}
      a.look: {get: /look, in: Answer, out: Validator, ${run("a-look")}}
    errors: {bad: {kind: conflict, detail: It is bad., context: {${wide("c")}}}}`,
  "operations of the runtime that no mount includes": `
    identity: {mount: {at: /auth, include: [logout]}, provisioning: {guard: staff, mount: {at: /a, include: [list_permissions]}}}
    tenancy: {selector: {mount: false}, admin: {guard: staff, mount: {at: /b, include: [list_members]}}}`,
  "operations of the runtime without any mount": `
    identity: {mount: false, reset: {events: outbox}, deactivate: {guard: staff}, provisioning: {guard: staff, mount: false}}
    outbox: {events: {authn.password_reset_requested: {destination: mail}}}`,
  "files of the author's that are called like what routes import": `
    types: {Note: {text: string}}
    documents: {tasks: {type: Note, guard: open, hooks: {create: {on_success: [registry/on/success.ts#a]}}}}
    operations:
      tasks.go: {post: /go, hooks: {on_success: [registry/on/success.ts#b]}, ${run("tasks-spec")}}
      finds.go: {post: /finds, ${run("search-input")}}
      finds.run: {post: /runs, ${run("finds-spec")}}
    search: {finds: {of: tasks, text: [text], guard: open}}`,
  "files of the author's that are called like what identity, realtime and the outbox declare": `
    identity: {resolver: registry/identity-spec.ts#go}
    realtime: {topics: registry/realtime-spec.ts#go, events: {a.b: {data: {n: integer}, audience: [topic], delivery: ephemeral}}}
    outbox: {events: {a.c: {data: {n: integer}, destination: registry/outbox-spec.ts#go}, a.d: {data: {n: integer}, destination: registry/stage-event.ts#go}}}`,
  "a file of the author's that is called like the spec of a profile": `
    documents: {tasks: {type: {text: string}, guard: staff, tenant: false, unique: [[owner_id]]}}
    identity: {signing: {algorithm: HS256, signer: registry/tasks-spec.ts#go}, sign_up: {verify: none, profile: tasks}}`,
  "types that are called like what modules with types declare": `
    identity: {}
    types: {RealtimeSpec: {n: integer}, DurableSignals: {n: integer}, StageEvent: {n: integer}, OutboxEvents: {n: integer}, MockHandlers: {n: integer}, Events: {n: integer}}
    realtime: {events: {a.b: {data: RealtimeSpec, audience: [principal], delivery: durable}, a.c: {data: DurableSignals, audience: [principal], delivery: durable}}}
    outbox: {events: {a.d: {data: StageEvent, destination: mail}, a.e: {data: OutboxEvents, destination: mail}}}
    operations: {a.go: {post: /go, in: MockHandlers, out: Events, ${run("a-go")}}}`,
  "searches and storages that are called like parts of the service": `
    identity: {}
    documents: {notes: {type: {text: string}, guard: open}}
    search: {realtime: {of: notes, text: [text], guard: open}}
    storage: {identity: {guard: open}, outbox: {guard: open}}
    realtime: {events: {a.b: {data: {n: integer}, audience: [topic], delivery: ephemeral}}}
    outbox: {events: {a.b: {data: {n: integer}, destination: mail}}}`,
  "a map of a type, as a type that others refer to": `
    types:
      Money: {amount: integer}
      Prices: {type: object, additionalProperties: {$ref: Money}}
    operations: {a.go: {post: /go, in: {prices: Prices}, out: {prices: Prices}, ${run("a-go")}}}`,
  "a namespace called realtime beside signals": `
    identity: {}
    realtime: {events: {a.b: {data: {n: integer}, audience: [topic], delivery: ephemeral}}}
    operations: {realtime.go: {post: /go, in: {n: integer}, ${run("a-go")}}}`,
  "a command called like the spec of the plane": `
    identity: {}
    realtime: {events: {}, commands: {a.b: {operation: realtime.spec}}}
    operations: {realtime.spec: {post: /go, in: {n: integer}, ${run("a-go")}}}`,
  "signals that are called alike in code": `
    identity: {}
    types: {Note: {text: string}}
    realtime: {events: {a.b_c: {data: Note, audience: [topic], delivery: ephemeral}, a_b.c: {data: Note, audience: [topic], delivery: ephemeral}}}`,
  "operations that are called like other validators of their namespace": `
    documents: {notes: {type: {text: string, parts: {type: object, properties: {n: {type: integer}}}}, guard: open}}
    operations:
      notes.body: {post: /a, in: {n: integer}, ${run("a-a")}}
      notes.create_check: {post: /b, in: {n: integer}, ${run("a-b")}}`,
  "operations that are called like what validators import": `
    operations:
      code_point.length: {post: /a, in: {n: {type: string, minLength: 2}}, ${run("a-a")}}
      json.equal: {post: /b, in: {n: {const: {a: 1}}}, ${run("a-b")}}`,
  "an operation beside a list, called like the list's pages": `
    documents: {notes: {type: {text: string}, guard: open}}
    operations: {notes.list_cursor_pages: {post: /a, in: {n: integer}, ${run("a-a")}}}`,
  "a hook around operations of different types": `
    hooks: {timed: {run: registry/timed.ts#go, phase: wrap}}
    policies: {open: [], staff: [principal, {authorize: platform.admin}], timed: [timed]}
    documents: {notes: {type: {text: string}, guard: timed}}
    operations: {notes.go: {post: /a, in: {n: integer}, out: string, run: registry/a-a.ts#go, guard: timed}}`,
  "operations that are called like what their routes import": `
    documents: {notes: {type: {text: string}, guard: open}}
    search: {finds: {of: notes, text: [text], guard: open}}
    operations:
      notes.spec: {post: /a, ${run("a-a")}}
      finds.spec: {post: /b, ${run("a-b")}}
      after.commit: {post: /c, in: {n: integer}, run: registry/a-c.ts#go, guard: open, hooks: {after_commit: [registry/a-d.ts#go]}}
      rate.limit: {post: /d, in: {n: integer}, run: registry/a-e.ts#go, guard: slow}
    policies: {open: [], staff: [principal], slow: [{rate_limit: 5/1m}]}`,
  "types that are the same shorthand, beside more that is said of them": `
    types:
      Email: string
      Name: string
      One: {a: {$ref: '#/types/Email', description: first}}
      Two: {b: {$ref: '#/types/Name', description: second}}
    operations:
      one.say: {post: /a, in: One, out: Name, ${run("a-a")}}
      one.tell: {post: /b, in: Two, out: Email, ${run("a-b")}}`,
  "an input that no value fits": `
    operations: {a.go: {post: /go, in: {allOf: [{enum: [true]}, {const: 1}]}, ${run("a-go")}}}`,
  "an answer that may be anything": `
    operations: {a.go: {post: /go, in: {n: integer}, out: true, ${run("a-go")}}}`,
  "inputs with defaults, of a type of their own and of one that others have": `
    types: {Paging: {limit: {type: integer, default: 10}, by: {type: string, enum: [name, size], default: name}, query: string}}
    documents: {notes: {type: {text: string, paging: Paging}, guard: open}}
    operations:
      notes.find: {post: /a, in: Paging, ${run("a-a")}}
      notes.seek: {get: /b, in: {limit: {type: integer, default: 10}, query: string?}, ${run("a-b")}}
      notes.many: {post: /c, in: {pages: 'Paging[]', sizes: {type: array, items: {type: integer}, default: []}}, ${run("a-c")}}`,
  "documents whose members have one of several forms, or hold themselves": `
    types:
      Box: {kind: {const: box}, due: date-time?, inner: Tree?}
      Bag: {kind: {const: bag}, due: date-time, labels: {type: object, additionalProperties: {type: string}}}
      Tree: {anyOf: [{$ref: Box}, {$ref: Bag}, {type: string}, {type: array, items: {$ref: Tree}}]}
    documents:
      notes:
        type:
          tree: Tree
          trees: {type: object, additionalProperties: {$ref: Tree}}
          either: {oneOf: [{$ref: Box}, {$ref: Bag}], default: {kind: bag, due: "2026-01-01T00:00:00Z", labels: {}}}
          mixed: {type: [object, string, "null"], minLength: 2, properties: {a: {type: integer}}, required: [a]}
          loose: {properties: {a: {type: integer}}, required: [a]}
          both: {allOf: [{type: object, properties: {a: {type: integer}}}, {type: object, properties: {b: {type: integer}}}]}
        guard: open`,
  "documents that name each other in circles, with guards of all kinds and searches": `
    identity: {}
    scopes: {team: registry/notes-spec.ts#go}
    policies: {open: [], staff: [principal, {authorize: platform.admin}], mine: [principal, {scope: own_rows}, {rate_limit: 5/1m}], team: [principal, {scope: team}]}
    types: {Note: {text: string, state: {type: string, enum: [a, b]}, tags: {type: array, items: {type: object, properties: {name: {type: string}}}}, next: {ref: notes?}, book: {ref: books}}}
    documents:
      notes: {type: Note, guard: mine}
      books: {type: {title: string, best: {ref: notes?}, owner: {ref: people?}, safe: {ref: safes?}}, guard: team, soft_delete: true}
      people: {type: {name: string, boss: {ref: people?}}, guard: staff, read_only: true}
      safes: {type: {code: string, book: {ref: books}}, guard: open, sensitive: true}
    search: {finds: {of: notes, text: [text], facets: [state], guard: mine}}`,
  "fields that the service sets, by functions in files called like what documents import": `
    identity: {}
    types: {Note: {text: string, by: uuid?, at: date-time?, total: number?, size: integer?, key: string?, lines: {type: array, items: {type: object, properties: {n: {type: number}}}}}}
    documents: {notes: {type: Note, guard: open, soft_delete: true, set: {by: $caller, at: {from: $now, on: write}, total: {$sum: ["lines[].n", size], on: create}, size: {$count: lines}, key: registry/document.ts#go}}}`,
  "fields that are set to the profile of who writes, in the profile as well": `
    identity: {methods: [token, password], sign_up: {verify: none, profile: people}}
    documents:
      people: {type: {name: string, last_editor: {ref: people?}}, guard: open, unique: [[owner_id]], set: {last_editor: {from: $profile, on: write}}}
      notes: {type: {text: string, author: {ref: people}}, guard: open, unique: [[author]], upsert: true, bulk: {max: 5}, history: {revisions: true}, set: {author: $profile}}`,
  "fields that handlers alone write, in a document that refers to itself": `
    types: {NotesHandled: {text: string, of: string?, up: {ref: notes?}, class: {type: integer, default: 0}}}
    documents: {notes: {type: NotesHandled, guard: open, set: {of: $handler, up: $handler, class: $handler}}}`,
  "a namespace called await": `
    operations: {await.go: {post: /a, in: {n: integer}, ${run("a-a")}}}`,
};

const head = `
registry: 1
service: {name: demo, title: Demo, version: 1.0.0}
policies: {open: [], staff: [principal, {authorize: platform.admin}]}
`;

const registryOf = (sections: string): Json => ({ ...parse(head), ...parse(sections) });

describe("what is accepted compiles and loads", () => {
  let outcomes: readonly Outcome[] = [];
  const titles = Object.keys(cases);
  beforeAll(async () => {
    outcomes = await outcomesOf(Object.values(cases).map(registryOf));
  }, 300_000);

  test.each(titles)("%s", (title) => {
    expect(outcomes[titles.indexOf(title)]).toEqual({ kind: "sound" });
  });
});

// TypeScript stops the control flow analysis of more than it says if one function is too large (TS2563).
test("types of 400 members compile with the last compiler in JavaScript as well", async () => {
  const { [wideTypes]: text = "" } = cases;
  expect(await outcomesOf([registryOf(text)], "typescript-5.9")).toEqual([{ kind: "sound" }]);
}, 60_000);

test("a member that is called like a function of Ajv's is checked", () => {
  const schema = {
    type: "object",
    properties: { validate0: { type: "string", const: "validate0" } },
    required: ["validate0"],
  };
  const code = compileStandalone({ demo: schema });
  // The text is a module's without its imports.
  const check = new Function("jsonEqual", `${code}\nreturn demoCheck;`)(jsonEqual) as (
    value: unknown,
  ) => boolean;
  expect([{ validate0: "validate0" }, { validate0: 1 }, {}].map(check)).toEqual([
    true,
    false,
    false,
  ]);
});
