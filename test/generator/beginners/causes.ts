// Mistakes in what others name: the others are not wrong as well.
import { mistake, type Mistake } from "./mistake.js";

const run = "run: registry/handlers/tasks.ts#complete";
const faulty = "documents: {tasks: {type: {title: string}, guard: member, «soft_delet»: true}}\n";
const unknownKey = { code: "OPW010", says: "soft_delet", hint: "did you mean soft_delete?" };
const phase = { code: "OPW013", says: "before, wrap", hint: "did you mean before?" };
const service = (more: string): Readonly<Record<string, string>> => ({
  "registry/service.yaml": `registry: 1\nservice: {name: shop, title: Shop, version: 1.0.0}\npolicies: {member: [principal]}\n${more}`,
});

export const inCauses: readonly Mistake[] = [
  mistake(
    "an event that a document emits",
    `
    types: {Task: {title: string}}
    documents: {tasks: {type: Task, guard: member, emits: {create: task.made}}}
    realtime: {events: {task.made: {data: Task, audience: [«user»], to: "{owner_id}", delivery: durable}}}`,
    { code: "OPW013", says: "principal, topic", hint: "did you mean principal?" },
  ),
  mistake(
    "an event that webhooks offer",
    `
    outbox: {events: {task.made: {data: {n: integer}, destination: «5»}}}
    webhooks: {guard: member, events: [task.made]}`,
    { code: "OPW011", says: "the name of a destination", hint: "type that the message names" },
  ),
  mistake(
    "a document that a mount attaches",
    `${faulty}mounts: {more: {namespace: tasks, at: /more}}`,
    unknownKey,
  ),
  mistake(
    "a document that a search is over",
    `${faulty}search: {finds: {of: tasks, text: [title], guard: member}}`,
    unknownKey,
  ),
  mistake(
    "a document that another one refers to",
    faulty.replace("}}\n", "}, notes: {type: {task: {ref: tasks}}, guard: member}}\n"),
    unknownKey,
  ),
  mistake(
    "a document that profiles are",
    service(`identity: {sign_up: {verify: none, profile: tasks}}\n${faulty}`),
    unknownKey,
  ),
  mistake(
    "a document whose operation is left out of OpenAPI",
    service(`identity: {openapi_exclude: [tasks.create]}\n${faulty}`),
    unknownKey,
  ),
  mistake(
    "an operation that a command calls",
    `
    operations: {tasks.complete: {«pots»: /tasks, ${run}, guard: member}}
    realtime: {events: {}, commands: {task.complete: {operation: tasks.complete}}}`,
    { code: "OPW010", says: "pots", hint: "did you mean post?" },
  ),
  mistake(
    "a hook that a policy names",
    `
    hooks: {check: {${run}, phase: «befor»}}
    policies: {strict: [principal, check]}
    documents: {tasks: {type: {title: string}, guard: strict}}`,
    phase,
  ),
  mistake(
    "a hook that an operation names",
    `
    hooks: {check: {${run}, phase: «befor»}}
    operations: {tasks.complete: {post: /tasks, ${run}, guard: member, hooks: {before: [check]}}}`,
    phase,
  ),
  mistake(
    "a scope that a policy names",
    `
    scopes: {mine: «registry/handlers/tasks.ts»}
    policies: {own: [principal, {scope: mine}]}
    documents: {tasks: {type: {title: string}, guard: own}}`,
    { code: "OPW013", says: "reference to an export", hint: "#<export>" },
  ),
  mistake(
    "an error that an operation names",
    `
    errors: {full: {kind: «conflic», detail: It is full.}}
    operations: {tasks.complete: {post: /tasks, ${run}, guard: member, errors: [full]}}`,
    { code: "OPW013", says: "conflict", hint: "did you mean conflict?" },
  ),
  mistake(
    "a field that indexes, unique, defaults and a search name",
    `
    documents: {tasks: {type: {title: «strng»}, guard: member, indexes: [[title]], unique: [[title]], defaults: {title: a}}}
    search: {finds: {of: tasks, text: [title], guard: member}}`,
    { code: "OPW026", says: "strng", hint: "did you mean string?" },
  ),
  mistake(
    "a name of a field that `create` has as well",
    "documents: {tasks: {type: {title: string, «due-date»: date-time}, guard: member, create: [title, due-date]}}",
    { code: "OPW025", says: "due-date", hint: "did you mean due_date?" },
  ),
  mistake(
    "the type of a document",
    "types: {Task: {title: string}}\ndocuments: {tasks: {type: «Tsk», guard: member}}",
    { code: "OPW020", says: "no type is called Tsk", hint: "did you mean Task?" },
  ),
  mistake(
    "the type of a document that nothing is called like",
    "documents: {tasks: {type: «Chore», guard: member, unique: [[title]]}}",
    { code: "OPW020", says: "no type is called Chore", hint: "Declare the type" },
  ),
  mistake(
    "a section that steps need",
    `
    tenancy: {«selectr»: {}}
    policies: {inside: [principal, tenant]}
    documents: {tasks: {type: {title: string}, guard: inside}}`,
    { code: "OPW010", says: "selectr", hint: "did you mean selector?" },
  ),
];
