// First mistakes in sections: their names, storages, searches, events.
import { mistake, type Mistake } from "./mistake.js";

const storage = (more: string): string => `storage: {photos: {guard: member, ${more}}}`;
const tasks = "documents: {tasks: {type: {title: string, state: [open, done]}, guard: member}}\n";
const event = (more: string): string =>
  `realtime: {events: {task.done: {data: {title: string}, ${more}}}}`;

export const inOthers: readonly Mistake[] = [
  mistake("models for documents", "«models»: {tasks: {type: {title: string}, guard: member}}", {
    code: "OPW010",
    says: '"models"',
    hint: "did you mean documents?",
  }),
  mistake("paths of OpenAPI", "«paths»: {/tasks: {get: {operationId: tasks}}}", {
    code: "OPW010",
    says: '"paths"',
    hint: "did you mean operations?",
  }),
  mistake("components of OpenAPI", "«components»: {schemas: {Task: {type: object}}}", {
    code: "OPW010",
    says: '"components"',
    hint: "did you mean types?",
  }),
  mistake("enums", "«enums»: {State: [open, done]}", {
    code: "OPW010",
    says: '"enums"',
    hint: "did you mean types?",
  }),
  mistake("a size in MB", storage("max_upload: «1MB»"), {
    code: "OPW013",
    says: "B, KiB, MiB, GiB or TiB",
    hint: "did you mean 1MiB?",
  }),
  mistake("a size without a unit", storage("max_upload: «1000000»"), {
    code: "OPW011",
    says: "B, KiB, MiB, GiB or TiB",
    hint: "1000000B",
  }),
  mistake("a count that no number holds exactly", storage("count: {up_to: «1e21»}"), {
    code: "OPW013",
    says: "must be at most 9007199254740991",
    hint: "",
  }),
  mistake("a size with a fraction", storage("max_upload: «1.5MiB»"), {
    code: "OPW013",
    says: "B, KiB, MiB, GiB or TiB",
    hint: "did you mean 1536KiB?",
  }),
  mistake("a suffix of files", storage("accept: [«jpg»]"), {
    code: "OPW013",
    says: '"jpg"',
    hint: "did you mean image/jpeg?",
  }),
  mistake("one content type", storage("accept: «image/*»"), {
    code: "OPW011",
    says: "must be a list",
    hint: "[image/*]",
  }),
  mistake(
    "a search over what is not there",
    `${tasks}search: {finds: {of: «task», text: [title], guard: member}}`,
    {
      code: "OPW037",
      says: "no document task",
      hint: "did you mean tasks?",
    },
  ),
  mistake(
    "fields of a search",
    `${tasks}search: {finds: {of: tasks, «fields»: [title], guard: member}}`,
    {
      code: "OPW010",
      says: '"fields"',
      hint: "did you mean text?",
    },
  ),
  mistake(
    "a search over numbers",
    "documents: {tasks: {type: {count: integer}, guard: member}}\nsearch: {finds: {of: tasks, text: [«count»], guard: member}}",
    {
      code: "OPW037",
      says: "count is integer",
      hint: "texts",
    },
  ),
  mistake("an audience that there is not", event("audience: [«user»], delivery: durable"), {
    code: "OPW013",
    says: "principal, topic",
    hint: "did you mean principal?",
  }),
  mistake("an audience that is no list", event("audience: «principal», delivery: durable"), {
    code: "OPW011",
    says: "must be a list",
    hint: "[principal]",
  }),
  mistake(
    "payload for data",
    "realtime: {events: {task.done: {«payload»: {title: string}, audience: [principal], delivery: durable}}}",
    {
      code: "OPW010",
      says: '"payload"',
      hint: "did you mean data?",
    },
  ),
  mistake(
    "an event of one word",
    "realtime: {events: {«done»: {data: {title: string}, audience: [principal], delivery: durable}}}",
    {
      code: "OPW013",
      says: '"done"',
      hint: "task.done",
    },
  ),
  mistake(
    "a hook without a phase",
    "hooks: {«check»: {run: registry/handlers/tasks.ts#complete}}",
    {
      code: "OPW012",
      says: "phase",
      hint: "before",
    },
  ),
  mistake(
    "an error by its status",
    "errors: {full: {«status»: 409, kind: conflict, detail: It is full.}}",
    {
      code: "OPW010",
      says: '"status"',
      hint: "kind",
    },
  ),
];
