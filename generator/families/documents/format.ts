// `documents:`: the declaration of a type of documents.
import {
  deprecation,
  duration,
  extensions,
  formerlyCalled,
  typeOrFields,
  guard,
  hooksByPhase,
  include,
  listOf,
  mapOf,
  mount,
  optional,
  required,
  text,
  requiredGuard,
} from "../../load/format-parts.js";
import { limits } from "../../../runtime/contract/limits.js";
import type { Declared, Member, FormatShape } from "../../load/shape.js";
import {
  aField,
  type move,
  overlapRule,
  setRule,
  someValues,
  stateRules,
  type runningNumber,
} from "./format-rules.js";
import { countRule } from "../../kernel/list-count.js";
import { documentWords } from "./other-words.js";

/** A job, and the time at which it runs for a document. */
const reminder = {
  kind: "object",
  members: {
    job: required(text, "The job. It takes the `id` of the document.", "bookings.remind"),
    at: required(
      {
        kind: "object",
        members: {
          field: required(aField, "A field that is a date-time.", "starts_at"),
          minus: optional(duration, "How long before it.", "1d"),
          plus: optional(duration, "How long behind it.", "1h"),
        },
      },
      "When: at the time of a field, or before or behind it.",
    ),
    where: optional(someValues, "Only for documents whose fields have one of these values."),
  },
} as const satisfies FormatShape;

/** An event, and perhaps what it carries, to whom, and which fields must have changed. */
const emittedEvent = {
  kind: "either",
  of: [
    { kind: "string", what: "an event of `realtime`", example: "task.assigned" },
    {
      kind: "object",
      members: {
        event: required(text, "The event.", "task.assigned"),
        data: optional(
          mapOf(aField, undefined, undefined, "ticket"),
          "What it carries: a field of the document for each member; the document where left out.",
        ),
        to: optional(
          text,
          "Who hears it, by fields of the document: a principal, or a topic. As the event says where left out.",
          "{assignee}",
        ),
        if_changed: optional(
          { kind: "either", of: [aField, listOf(aField, 1)] },
          "Fields of which one must have changed.",
        ),
      },
    },
  ],
} as const satisfies FormatShape;

const uniqueFields = listOf(aField, 1);

const uniqueRule = {
  kind: "object",
  members: {
    fields: required(uniqueFields, "The fields."),
    global: optional({ kind: "boolean" }, "true holds beyond the tenant, for all of them."),
    where: optional(
      { kind: "either", of: [{ kind: "oneOf", values: ["not_deleted"] }, someValues] },
      "not_deleted lets documents that are deleted have what others have; or only documents count whose fields have one of these values, `is_deleted: [false]` among them.",
      { status: ["active"] },
    ),
  },
} as const satisfies FormatShape;

const viewFields = listOf(aField, 1);

const aPolicy = { kind: "string", what: "the name of a policy", example: "staff" } as const;

/** What documents and composites both say. */
export const documentMembers = {
  type: required(typeOrFields, "The type's name, or its fields.", {
    title: "string",
    due: "date-time?",
  }),
  was: optional(
    formerlyCalled,
    "What the documents were called when their table was made; rows stay where they are.",
  ),
  singular: optional(
    {
      kind: "string",
      pattern: /^\p{L}[\p{L}\p{N} '-]{0,59}$/u,
      what: "a noun without an article",
      example: "task",
    },
    "What one of them is called in summaries, as in `Create a task`; by the usual rules of English where left out.",
  ),
  description: optional(text, "What such a document is.", "What somebody has to do."),
  create: optional(listOf(aField), "Fields that a create payload may have; all where left out."),
  update: optional(listOf(aField), "Fields that a patch may have; all where left out."),
  defaults: optional(
    {
      kind: "map",
      of: { kind: "any", what: "a value", example: "open" },
      key: /^/,
      keyIs: "a field",
      keyExample: "state",
    },
    "Values of fields that a create payload leaves out.",
  ),
  dropped: optional(
    {
      kind: "map",
      of: {
        kind: "object",
        members: {
          as: required(
            { kind: "any", what: "a value" },
            "The value that the previous version reads in documents that this one makes.",
            "open",
          ),
        },
      },
      key: /^/,
      keyIs: "a field",
      keyExample: "state",
    },
    "Fields that the type no longer has, while the previous version still needs them.",
  ),
  set: optional(
    { kind: "map", of: setRule, key: /^/, keyIs: "a field", keyExample: "author" },
    "Fields that the service sets: from the caller, the clock, the document, or in handlers alone; no payload of a caller has them.",
  ),
  personal: optional(
    {
      kind: "either",
      of: [
        listOf(aField),
        {
          kind: "map",
          of: { kind: "any", what: "a value", example: "Somebody" },
          key: /^/,
          keyIs: "a field",
          keyExample: "name",
        },
      ],
    },
    "Fields that tell of who has created the document: they become null, or these values, once that one is erased.",
    { name: "Somebody", phone: null },
  ),
  visible: optional(
    {
      kind: "map",
      of: { kind: "either", of: [aPolicy, listOf(aPolicy, 1)] },
      key: /^/,
      keyIs: "a field",
      keyExample: "cost",
    },
    "Fields that only some of those who read the document may see: whom a policy lets pass, or one of several. The others get the document without them.",
    { cost: "staff" },
  ),
  indexes: optional(
    listOf(listOf(aField, 1)),
    "Fields that lists filter and sort by, one list an index.",
  ),
  unique: optional(
    listOf({ kind: "either", of: [uniqueFields, uniqueRule] }),
    "Fields that no two documents of a tenant have the same values of.",
  ),
  no_overlap: optional(
    { kind: "either", of: [overlapRule, listOf(overlapRule, 1)] },
    "Ranges of which no two overlap, such as bookings of a room.",
  ),
  key: optional(
    aField,
    "A unique text by which callers may name a document in place of its id, in paths and in references.",
    "slug",
  ),
  id: optional(
    { kind: "oneOf", values: ["client"] },
    "`client` lets whoever creates a document choose its id, a UUID; the service makes one where it is left out.",
  ),
  count: optional(
    countRule,
    "How far numbered lists count their hits; all where left out. Counting is most of what they cost.",
    { up_to: 1_000 },
  ),
  states: optional(
    stateRules,
    "The states of a document: which values of a field may follow each other.",
  ),
  views: optional(
    mapOf(
      {
        kind: "either",
        of: [
          viewFields,
          {
            kind: "object",
            members: {
              fields: required(viewFields, "The fields."),
              guard: optional(
                text,
                "The policy of those who read them: that of get where left out.",
                "staff",
              ),
            },
          },
        ],
      },
      undefined,
      undefined,
      "short",
    ),
    "Fields that are told without the others, by name: each view has a type, and operations that read it.",
  ),
  history: optional(
    {
      kind: "either",
      of: [
        { kind: "boolean" },
        {
          kind: "object",
          members: {
            keep: optional({ kind: "integer", minimum: 1 }, "Revisions kept of each document."),
            revisions: optional(
              { kind: "boolean" },
              "true has operations that list, read and compare revisions, and go back to one.",
            ),
          },
        },
      ],
    },
    "Whether old revisions are kept, so that disjoint edits merge.",
  ),
  bulk: optional(
    {
      kind: "object",
      members: {
        max: required(
          { kind: "integer", minimum: 1, maximum: limits.maxBulk },
          "Documents that one request may write.",
        ),
      },
    },
    "Whether requests may create, update and delete many documents.",
  ),
  upsert: optional(
    { kind: "boolean" },
    "Whether callers may update the document that has the same unique values, or create it.",
  ),
  retention: optional(
    {
      kind: "object",
      members: {
        deleted: optional(
          duration,
          "How long what is deleted can be restored; then it is removed.",
        ),
        history: optional({ kind: "integer", minimum: 1 }, "Revisions kept of each document."),
      },
    },
    "What is removed by itself, and when.",
  ),
  tenant: optional({ kind: "boolean" }, "false makes the documents global."),
  replica: optional(
    { kind: "boolean" },
    "true has callers' lists, aggregates and searches read from a replica of PostgreSQL (`DATABASE_REPLICA_URL`), as soon as that has all that was acknowledged before.",
    true,
  ),
  sensitive: optional({ kind: "boolean" }, "true keeps the documents off every mount."),
  guard: requiredGuard(
    guard,
    "The policy of all operations, or of read, write and single operations.",
  ),
  deadline: optional(duration, "The time budget of each operation."),
  idempotency: optional(include, "Operations that honour Idempotency-Key."),
  hooks: optional(
    mapOf(hooksByPhase, undefined, undefined, "create"),
    "Hooks of single operations.",
  ),
  deprecated: optional(
    mapOf(deprecation, undefined, undefined, "list"),
    "Single operations that go one day.",
  ),
  emits: optional(
    mapOf(
      { kind: "either", of: [emittedEvent, listOf(emittedEvent, 1)] },
      undefined,
      undefined,
      "create",
    ),
    "Events of `realtime` that a change of a document sends, by operation.",
  ),
  remind: optional(
    { kind: "either", of: [reminder, listOf(reminder, 1)] },
    "Jobs that run at the time of a field; they move with it, and go with the document.",
  ),
} satisfies Readonly<Record<string, Member>>;

const document = {
  kind: "object",
  ...extensions,
  otherWords: documentWords,
  members: {
    ...documentMembers,
    soft_delete: optional(
      {
        kind: "either",
        of: [
          { kind: "boolean" },
          {
            kind: "object",
            members: {
              list_deleted: optional(
                { kind: "boolean" },
                "Whether a list may ask for deleted rows as well.",
              ),
              read: optional(text, "The policy of those who read what is deleted.", "staff"),
            },
          },
        ],
      },
      "Whether documents are marked as deleted and can be restored.",
    ),
    read_only: optional({ kind: "boolean" }, "Whether only reading operations are registered."),
    mount: optional(mount, "Where the routes are; false registers without HTTP."),
  },
} as const satisfies FormatShape;

export type DocumentDeclaration = Declared<typeof document>;
export type SetDeclaration = Declared<typeof setRule>;
export type NumberDeclaration = Declared<typeof runningNumber>;
export type OverlapDeclaration = Declared<typeof overlapRule>;
export type MoveDeclaration = Declared<typeof move>;
export type ReminderDeclaration = Declared<typeof reminder>;
export type EmittedEvent = Declared<(typeof emittedEvent)["of"][0 | 1]>;

declare module "../../load/declarations.js" {
  interface Declarations {
    readonly documents: Readonly<Record<string, DocumentDeclaration>>;
  }
}

/** Its sections. */
export const format: Readonly<Record<string, Member>> = {
  documents: {
    ...optional(
      mapOf(document),
      "Documents by name; the name is the namespace of their operations.",
    ),
    alsoCalled: ["models", "entities", "collections", "tables", "resources"],
  },
};
