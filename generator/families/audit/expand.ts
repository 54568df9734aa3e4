// `audit:` → the operations by which the trail is read.
import { didYouMean } from "../../diagnostics/did-you-mean.js";
import { builtInNamespace, expandBuiltIn, type BuiltInVerb } from "../../kernel/built-in.js";
import type { FamilyContext, NamespaceExpansion } from "../../kernel/family.js";
import { hookChain } from "../../kernel/guards.js";
import { durationSeconds } from "../../load/quantities.js";
import { ofRuntime } from "../../model/code.js";
import { objectSchema, refTo, uuidSchema, type JsonSchema } from "../../model/json-schema.js";
import type { ParameterModel } from "../../model/registry.js";
import type { AuditModel } from "./model.js";

/** The model; null if `audit:` isn't declared. Reports exceptions that are not there (OPW112). */
export function auditModel({ declarations, tree, report }: FamilyContext): AuditModel | null {
  const { audit, documents, storage } = declarations;
  if (audit === undefined) return null;
  const { keep, except = [] } = audit;
  const known = [...Object.keys(documents), ...Object.keys(storage)];
  for (const [index, name] of except.entries())
    if (!known.includes(name))
      report({
        code: "OPW112",
        message: `no document and no storage is called ${name}`,
        at: tree.at("audit", "except", index),
        suggestion: didYouMean(name, known),
      });
  return {
    keepSeconds: keep === undefined ? null : durationSeconds(keep),
    except: [...new Set(except)].sort(),
  };
}

const text: JsonSchema = { type: "string" };
const textOrNull: JsonSchema = { type: ["string", "null"] };
const idOrNull: JsonSchema = { type: ["string", "null"], format: "uuid" };
const time: JsonSchema = { type: "string", format: "date-time" };

const entry = {
  id: uuidSchema,
  at: time,
  operation: { ...text, description: "The operation or job that did it." },
  request_id: uuidSchema,
  principal_id: { ...idOrNull, description: "Null for strangers, and for the service itself." },
  actor_id: { ...idOrNull, description: "Who acted for the principal." },
  credential: { type: ["string", "null"], enum: ["session", "api_key", null] },
  change: {
    type: "string",
    enum: ["create", "update", "delete", "restore", "kill", "write", "call"],
    description: "`write` is of objects; `call` is anything else that an operation did.",
  },
  resource: { ...textOrNull, description: "The document or storage." },
  resource_id: { ...textOrNull, description: "The id of the document, or the key of the object." },
  rev: { type: ["integer", "null"] },
  fields: { type: "array", items: text, description: "The members of the document that are new." },
  details: { type: "object", additionalProperties: true },
} satisfies Readonly<Record<string, JsonSchema>>;

const page = {
  entries: { type: "array", items: refTo("AuditTrailEntry") },
  has_more: { type: "boolean" },
} satisfies Readonly<Record<string, JsonSchema>>;

const questions: readonly ParameterModel[] = [
  question("operation", text, "The operation or job, such as tasks.update."),
  question("principal_id", uuidSchema, "Whoever has done it."),
  question("resource", text, "The document or storage, such as tasks."),
  question("resource_id", text, "The id of the document, or the key of the object."),
  question("since", time, "Entries from this time on."),
  question("until", time, "Entries before this time."),
];

function question(name: string, schema: JsonSchema, description: string): ParameterModel {
  const type = schema === uuidSchema ? "uuid" : "string";
  return { name, in: "query", type, required: false, schema: { ...Object(schema), description } };
}

const verbs: readonly BuiltInVerb[] = [
  {
    name: "list",
    handler: "list",
    summary: "List what was done, the newest first",
    route: ["GET", "/"],
    takesSpec: false,
    isWrite: false,
    parameters: [
      ...questions,
      question("before", uuidSchema, "The last entry of the page before."),
    ],
    output: "AuditTrailPage",
    errors: [],
  },
  {
    name: "download",
    handler: "download",
    summary: "Download what was done as lines of JSON, the oldest first",
    route: ["GET", "/download"],
    takesSpec: false,
    isWrite: false,
    mediaType: "application/jsonl",
    parameters: questions,
    output: null,
    errors: [],
  },
];

/** The namespace of the audit trail; none if it isn't declared. Adds its types to the table. */
export function expandAudit(context: FamilyContext): readonly NamespaceExpansion[] {
  const { declarations, tree, types } = context;
  const { audit } = declarations;
  if (audit === undefined) return [];
  const at = tree.keyAt("audit");
  types.table.add("AuditTrailEntry", objectSchema(entry, Object.keys(entry)), at);
  types.table.add("AuditTrailPage", objectSchema(page, Object.keys(page)), at);
  const { guard: policy } = audit;
  const hooks = hookChain(context, [{ policy, at: tree.at("audit", "guard") }], "audit");
  const place = {
    family: "audit",
    handlers: "auditTrail",
    namespace: "audit",
    at,
    guard: { policy, hooks },
    spec: ofRuntime("auditTrail"),
  } as const;
  return builtInNamespace(
    { name: "audit", description: "Who has changed what in the caller's tenant." },
    at,
    expandBuiltIn(context, place, verbs),
    { path: ["audit", "mount"], declared: audit.mount, usual: "/audit" },
  );
}
