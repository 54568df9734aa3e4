// The registry format: every section and key, once (shared by checking and by the editors' JSON Schema).
import type { Member, Shape } from "./shape.js";
import { authorization, identity, outbox, policyStep, tenancy } from "./format-identity.js";
import {
  byteSize,
  duration,
  fieldType,
  hookList,
  hookPhases,
  include,
  listOf,
  mapOf,
  mount,
  mountMembers,
  mountPath,
  name,
  optional,
  policyName,
  reference,
  required,
  style,
  text,
  typeName,
  urlPath,
} from "./format-parts.js";
import { realtime } from "../families/realtime/format.js";

const hooksByPhase: Shape = {
  kind: "object",
  members: Object.fromEntries(
    hookPhases.map((phase) => [
      phase,
      optional(hookList, `Hooks of the phase ${phase}, in order.`),
    ]),
  ),
};

/** https://semver.org §2, §9 and §10. */
const version =
  /^(?:0|[1-9]\d*)(?:\.(?:0|[1-9]\d*)){2}(?:-[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*)?(?:\+[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*)?$/;

/** `image/png`, or `image/*`. */
const contentType = /^[a-z]+\/(?:\*|[a-z0-9][a-z0-9.+-]*)$/;

const extensions = { hasExtensions: true } as const;

const service: Shape = {
  kind: "object",
  ...extensions,
  members: {
    name: required(
      { kind: "string", pattern: name, what: "a name in [a-z][a-z0-9_]*" },
      "The name in file and log output.",
    ),
    title: required(text, "The title of the API's documents."),
    version: required(
      { kind: "string", pattern: version, what: "a version such as 1.0.0" },
      "The version of the API.",
    ),
    description: optional(text, "What the service is for, in Markdown."),
    style: optional(style, "The default style of document routes: rest or rpc."),
    transaction: optional(
      { kind: "string", pattern: name, what: "a name in [a-z][a-z0-9_]*" },
      "The transaction route of this service.",
    ),
    deadline: optional(
      duration,
      "The time budget of operations that declare none; 30s where left out.",
    ),
    app: optional(
      reference,
      "An Express app, or any (req, res, next) handler, behind the generated routes.",
    ),
  },
};

const hook: Shape = {
  kind: "object",
  members: {
    run: required(reference, "The function, as file#export."),
    phase: required({ kind: "oneOf", values: hookPhases }, "When it runs."),
    requires: optional(listOf(text), "Steps that must have run before."),
    provides: optional(listOf(text), "Steps that this hook provides; its own name is always one."),
  },
};

const guard: Shape = { kind: "either", of: [policyName, mapOf(policyName)] };

const emittedEvent: Shape = {
  kind: "either",
  of: [
    text,
    {
      kind: "object",
      members: {
        event: required(text, "The event."),
        if_changed: required(
          { kind: "either", of: [text, listOf(text, 1)] },
          "Fields of which one must have changed.",
        ),
      },
    },
  ],
};

/** What documents and composites both say. */
const documentMembers = {
  type: required(fieldType, "The type's name, or its fields."),
  description: optional(text, "What such a document is."),
  create: optional(
    listOf({ kind: "string", what: "a field" }),
    "Fields that a create payload may have; all where left out.",
  ),
  update: optional(
    listOf({ kind: "string", what: "a field" }),
    "Fields that a patch may have; all where left out.",
  ),
  defaults: optional(
    { kind: "map", of: { kind: "any", what: "a value" }, key: /^/, keyIs: "a field" },
    "Values of fields that a create payload leaves out.",
  ),
  indexes: optional(
    listOf(listOf({ kind: "string", what: "a field" }, 1)),
    "Fields that lists filter and sort by, one list an index.",
  ),
  history: optional(
    {
      kind: "either",
      of: [
        { kind: "boolean" },
        {
          kind: "object",
          members: {
            keep: required({ kind: "integer", minimum: 1 }, "Revisions kept of each document."),
          },
        },
      ],
    },
    "Whether old revisions are kept, so that disjoint edits merge.",
  ),
  tenant: optional({ kind: "boolean" }, "false makes the documents global."),
  sensitive: optional({ kind: "boolean" }, "true keeps the documents off every mount."),
  guard: required(guard, "The policy of all operations, or of read, write and single operations."),
  deadline: optional(duration, "The time budget of each operation."),
  idempotency: optional(include, "Operations that honour Idempotency-Key."),
  hooks: optional(mapOf(hooksByPhase), "Hooks of single operations."),
  emits: optional(
    mapOf({ kind: "either", of: [emittedEvent, listOf(emittedEvent, 1)] }),
    "Events of `realtime` that a change of a document sends, by operation.",
  ),
} satisfies Readonly<Record<string, Member>>;

const document: Shape = {
  kind: "object",
  ...extensions,
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
            },
          },
        ],
      },
      "Whether documents are marked as deleted and can be restored.",
    ),
    read_only: optional({ kind: "boolean" }, "Whether only reading operations are registered."),
    mount: optional(mount, "Where the routes are; false registers without HTTP."),
  },
};

/** What a search says of its own. */
const searchMembers = {
  text: required(
    {
      kind: "either",
      of: [
        listOf({ kind: "string", what: "a field" }, 1),
        { kind: "map", of: { kind: "any", what: "a weight" }, key: /^/, keyIs: "a field" },
      ],
    },
    "Fields whose texts are searched, four at most; a map gives their weights.",
  ),
  facets: optional(
    listOf({ kind: "string", what: "a field" }),
    "Fields whose values can be counted.",
  ),
  description: optional(text, "What is searched for."),
} satisfies Readonly<Record<string, Member>>;

const search: Shape = {
  kind: "object",
  ...extensions,
  members: {
    of: required(text, "The document that is searched."),
    ...searchMembers,
    guard: required(guard, "The policy of all operations, or of single ones."),
    deadline: optional(duration, "The time budget of each operation."),
    mount: optional(mount, "Where the routes are; /search/<name> where left out."),
  },
};

/** What a storage says of its own. */
const storageMembers = {
  max_upload: optional(
    { kind: "either", of: [{ kind: "constant", value: false }, byteSize] },
    "Bytes of an upload, 64MiB where left out; false is without bound.",
  ),
  max_range: optional(byteSize, "Bytes of one range of a download, 16MiB where left out."),
  accept: optional(
    listOf({ kind: "string", pattern: contentType, what: "a content type such as image/*" }, 1),
    "Content types that are taken; all where left out.",
  ),
  presign: optional({ kind: "boolean" }, "Whether clients get signed addresses of single objects."),
  multipart: optional({ kind: "boolean" }, "Whether clients upload in parts, to signed addresses."),
  encryption: optional(
    { kind: "oneOf", values: ["client"] },
    "client has the service encrypt what it stores.",
  ),
  stream: optional({ kind: "boolean" }, "false reads each download into memory first."),
  description: optional(text, "What is stored."),
} satisfies Readonly<Record<string, Member>>;

const storage: Shape = {
  kind: "object",
  ...extensions,
  members: {
    ...storageMembers,
    guard: required(guard, "The policy of all operations, or of read, write and single ones."),
    deadline: optional(duration, "The time budget of each operation."),
    mount: optional(mount, "Where the routes are; /<name> where left out."),
  },
};

const composite: Shape = {
  kind: "object",
  ...extensions,
  members: {
    ...documentMembers,
    search: required({ kind: "object", members: searchMembers }, "What is searched for, and how."),
    storage: optional(
      {
        kind: "object",
        members: {
          ...storageMembers,
          prefix: optional(
            mountPath,
            "Where its routes are below the others; /blobs where left out.",
          ),
        },
      },
      "The files of the documents.",
    ),
    style: optional(style, "rest or rpc."),
    transaction: optional(
      { kind: "string", pattern: name, what: "a name in [a-z][a-z0-9_]*" },
      "The transaction route of the service.",
    ),
    mount: optional(
      {
        kind: "either",
        of: [
          { kind: "constant", value: false },
          {
            kind: "object",
            members: { at: required(mountPath, "Where the routes are mounted.") },
          },
        ],
      },
      "Where the routes are; false registers without HTTP.",
    ),
  },
};

const operation: Shape = {
  kind: "object",
  ...extensions,
  members: {
    get: optional(urlPath, "The path of a GET."),
    post: optional(urlPath, "The path of a POST."),
    put: optional(urlPath, "The path of a PUT."),
    patch: optional(urlPath, "The path of a PATCH."),
    delete: optional(urlPath, "The path of a DELETE."),
    summary: optional(text, "One line for the documents."),
    description: optional(text, "More, in Markdown."),
    in: optional(fieldType, "The input: fields, or a type's name."),
    out: optional(fieldType, "The output; nothing where left out."),
    status: optional(
      { kind: "integer", minimum: 200 },
      "The status of success: 200, or 204 without an output.",
    ),
    run: required(reference, "The handler, as file#export."),
    guard: required(policyName, "The policy."),
    hooks: optional(hooksByPhase, "Hooks by phase, in order."),
    deadline: optional(duration, "The time budget."),
    idempotency: optional({ kind: "boolean" }, "Whether the operation honours Idempotency-Key."),
    transaction: optional(
      { kind: "oneOf", values: ["read", "write"] },
      "Whether the handler runs in a transaction that commits; read for GET, else write.",
    ),
  },
};

const topLevelMount: Shape = {
  kind: "object",
  members: {
    namespace: optional({ kind: "name", of: "namespaces" }, "The namespace to attach."),
    prefix: optional(
      mountPath,
      "The prefix that the namespace is registered under, instead of its name.",
    ),
    ...mountMembers,
  },
};

/** The whole format. */
export const registryShape: Extract<Shape, { kind: "object" }> = {
  kind: "object",
  ...extensions,
  members: {
    service: required(service, "The service as a whole."),
    policies: optional(
      mapOf(listOf(policyStep)),
      "Named, ordered lists of hooks; a guard names one.",
    ),
    hooks: optional(mapOf(hook), "Hooks of the author's own, by name."),
    authorization: optional(authorization, "Who decides what callers may do."),
    scopes: optional(
      mapOf(reference),
      "Row filters by name: functions that say which rows a caller sees.",
    ),
    outbox: optional(outbox, "Integration events and where they go."),
    tenancy: optional(tenancy, "Tenants: whose data an operation sees."),
    identity: optional(identity, "How callers sign in and are identified."),
    realtime: optional(realtime, "Signals to people who are connected, and commands from them."),
    types: optional(
      mapOf(fieldType, typeName, "a type name in [A-Z][A-Za-z0-9]*"),
      "Types by name: fields, a list of values, or a JSON Schema.",
    ),
    documents: optional(
      mapOf(document),
      "Documents by name; the name is the namespace of their operations.",
    ),
    search: optional(
      mapOf(search),
      "Searches by name; the name is the namespace of their operations.",
    ),
    composites: optional(
      mapOf(composite),
      "Documents with soft deletion, their search and their files, in one declaration.",
    ),
    storage: optional(
      mapOf(storage),
      "Storages of files by name; the name is the namespace of their operations.",
    ),
    operations: optional(
      mapOf(operation, /^/, "an operation key"),
      "Operations of the author's own, by <namespace>.<operation>.",
    ),
    mounts: optional(mapOf(topLevelMount), "Further mounts of a namespace."),
    approved: optional(
      mapOf(text, /^/, "a change as `opwright diff` tells it"),
      "Breaking changes that may be made, by their texts, each with the reason.",
    ),
  },
};
