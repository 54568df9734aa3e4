// `{ref: projects, on_delete: cascade}`: a field that names another document.
import { didYouMean } from "../diagnostics/did-you-mean.js";
import { inside, type Origin, type Report } from "../diagnostics/diagnostics.js";
import { nullable, uuidSchema, type JsonSchema, type SchemaObject } from "../model/json-schema.js";
import type { ReferenceModel } from "../model/document-model.js";
import { formerKeywords } from "./former-names.js";
import { optional, required, text } from "./format-parts.js";
import { checkShape } from "./check-shape.js";
import { isMap, type Declared, type FormatShape } from "./shape.js";

const documentKeyword = "x-ref";
const viewKeyword = "x-view";
const deletionKeyword = "x-on-delete";

const reference = {
  kind: "object",
  members: {
    ref: required(
      {
        kind: "string",
        pattern: /^[a-z][a-z0-9_]*\??$/,
        what: "the name of a document, with ? where null is a value",
      },
      "The document that the field names one of.",
    ),
    view: optional(
      text,
      "The view of it that callers see who follow the field: all of it where left out.",
    ),
    on_delete: optional(
      { kind: "oneOf", values: ["restrict", "cascade", "set_null"] },
      "What becomes of this when that one is deleted: restrict where left out.",
    ),
    description: optional(text, "What it is."),
    was: optional(text, "What it was called before."),
    former: optional(text, "What it is in documents that were stored without it."),
  },
} as const satisfies FormatShape;

/** Whether a field is said as a reference. */
export function isReference(value: unknown): value is Readonly<Record<string, unknown>> {
  return isMap(value) && typeof value["ref"] === "string";
}

/** The schema of a reference: a UUID, and which document it names. */
export function readReference(
  value: Readonly<Record<string, unknown>>,
  at: Origin,
  documents: readonly string[],
  report: Report,
): JsonSchema {
  if (!checkShape(reference, value, at, report)) return true;
  const {
    ref,
    view,
    on_delete: onDelete = "restrict",
    description,
    was,
    former,
  } = value as Declared<typeof reference>;
  const document = ref.replace(/\?$/, "");
  if (!documents.includes(document))
    report({
      code: "OPW029",
      message: `no document is called ${document}`,
      at: inside(at, "ref"),
      suggestion: didYouMean(document, documents),
    });
  if (onDelete === "set_null" && document === ref)
    report({
      code: "OPW029",
      message: `null is no value here: say \`ref: ${ref}?\``,
      at: inside(at, "on_delete"),
    });
  const schema = document === ref ? uuidSchema : nullable(uuidSchema);
  return {
    ...(schema as SchemaObject),
    ...(description === undefined ? {} : { description }),
    ...(was === undefined ? {} : { [formerKeywords.was]: was }),
    ...(former === undefined ? {} : { [formerKeywords.former]: former }),
    [documentKeyword]: document,
    ...(view === undefined ? {} : { [viewKeyword]: view }),
    [deletionKeyword]: onDelete,
  };
}

/** The document that a field names one of; null if it names none. */
export function referenceOf(schema: JsonSchema): Omit<ReferenceModel, "field"> | null {
  if (typeof schema !== "object") return null;
  const { [documentKeyword]: document, [viewKeyword]: view, [deletionKeyword]: onDelete } = schema;
  return typeof document === "string"
    ? {
        document,
        ...(typeof view === "string" ? { view } : {}),
        onDelete: onDelete as ReferenceModel["onDelete"],
      }
    : null;
}
