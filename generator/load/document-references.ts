// `{ref: projects, on_delete: cascade}`: a field that names another document. In a list,
// `[{ref: labels}]`, it names any number of them.
import { didYouMean } from "../diagnostics/did-you-mean.js";
import { inside, type Origin, type Report } from "../diagnostics/diagnostics.js";
import { nullable, uuidSchema, type JsonSchema, type SchemaObject } from "../model/json-schema.js";
import type { ReferenceModel } from "../model/document-model.js";
import { formerKeywords } from "./former-names.js";
import { listOf, optional, required, text } from "./format-parts.js";
import { checkShape } from "./check-shape.js";
import { isMap, type Declared, type FormatShape } from "./shape.js";

const documentKeyword = "x-ref";
const viewKeyword = "x-view";
const deletionKeyword = "x-on-delete";

const members = {
  view: optional(
    text,
    "The view of it that callers see who follow the field: all of it where left out.",
  ),
  description: optional(text, "What it is."),
  was: optional(text, "What it was called before."),
} as const;

const formerly = "What it is in documents that were stored without it.";

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
    on_delete: optional(
      { kind: "oneOf", values: ["restrict", "cascade", "set_null"] },
      "What becomes of this when that one is deleted: restrict where left out.",
    ),
    former: optional(text, formerly),
    ...members,
  },
} as const satisfies FormatShape;

/** Documents that a list may name. */
const maxNamed = 100;

const listOfReferences = {
  kind: "object",
  members: {
    ref: required(
      { kind: "string", pattern: /^[a-z][a-z0-9_]*$/, what: "the name of a document" },
      "The document that the list names some of.",
    ),
    on_delete: optional(
      { kind: "oneOf", values: ["restrict", "remove"] },
      "What happens when one of them is deleted: restrict where left out; remove takes it from the list.",
    ),
    max: optional(
      { kind: "integer", minimum: 1, maximum: maxNamed },
      `How many it may name: ${maxNamed} where left out.`,
    ),
    former: optional(listOf(text), formerly),
    ...members,
  },
} as const satisfies FormatShape;

/** The schema of a field that names documents: one, or a list of them; undefined for any other. */
export function readReferences(
  value: unknown,
  at: Origin,
  documents: readonly string[],
  report: Report,
): JsonSchema | undefined {
  if (isReference(value)) return readReference(value, at, documents, report);
  if (!isListOfReferences(value)) return undefined;
  const [only, ...others] = value;
  if (others.length === 0) return readListOfReferences(only, inside(at, 0), documents, report);
  report({ code: "OPW029", message: "a list names documents of one kind", at: inside(at, 1) });
  return true;
}

/** Reports a type that is a list of references as a whole. */
export function refusesReferences(
  value: unknown,
  typeName: string,
  at: Origin,
  report: Report,
): boolean {
  if (!isListOfReferences(value)) return false;
  const message = `${typeName} cannot name documents: only members of a document can`;
  report({ code: "OPW029", message, at });
  return true;
}

/** Whether a value is said as a list of references, whatever else is wrong with it. */
function isListOfReferences(value: unknown): value is readonly [Reference, ...Reference[]] {
  return Array.isArray(value) && value.length > 0 && value.every(isReference);
}

type Reference = Readonly<Record<string, unknown>>;

function isReference(value: unknown): value is Reference {
  return isMap(value) && typeof value["ref"] === "string";
}

/** The schema of a list of references: different UUIDs, and which document they name. */
function readListOfReferences(
  value: Readonly<Record<string, unknown>>,
  at: Origin,
  documents: readonly string[],
  report: Report,
): JsonSchema {
  if (!checkShape(listOfReferences, value, at, report)) return true;
  const {
    ref,
    on_delete: onDelete = "restrict",
    max = maxNamed,
    ...said
  } = value as Declared<typeof listOfReferences>;
  checkDocument(ref, at, documents, report);
  const list = { type: "array", items: uuidSchema, maxItems: max, uniqueItems: true };
  return withKeywords(list, ref, onDelete, said);
}

/** The schema of a reference: a UUID, and which document it names. */
function readReference(
  value: Readonly<Record<string, unknown>>,
  at: Origin,
  documents: readonly string[],
  report: Report,
): JsonSchema {
  const several = /^([a-z][a-z0-9_]*)\[\]\??$/.exec(String(value["ref"]))?.[1];
  if (several !== undefined) {
    const message = `several are named by a list: \`[{ref: ${several}}]\``;
    report({ code: "OPW029", message, at: inside(at, "ref") });
    return true;
  }
  if (!checkShape(reference, value, at, report)) return true;
  const { ref, on_delete: onDelete = "restrict", ...said } = value as Declared<typeof reference>;
  const document = ref.replace(/\?$/, "");
  checkDocument(document, at, documents, report);
  if (onDelete === "set_null" && document === ref)
    report({
      code: "OPW029",
      message: `null is no value here: say \`ref: ${ref}?\``,
      at: inside(at, "on_delete"),
    });
  const schema = document === ref ? uuidSchema : nullable(uuidSchema);
  return withKeywords(schema as SchemaObject, document, onDelete, said);
}

function checkDocument(
  document: string,
  at: Origin,
  documents: readonly string[],
  report: Report,
): void {
  if (documents.includes(document)) return;
  report({
    code: "OPW029",
    message: `no document is called ${document}`,
    at: inside(at, "ref"),
    suggestion: didYouMean(document, documents),
  });
}

function withKeywords(
  schema: SchemaObject,
  document: string,
  onDelete: ReferenceModel["onDelete"],
  {
    view,
    description,
    was,
    former,
  }: { readonly [Member in keyof typeof members]?: string | undefined } & {
    readonly former?: string | readonly string[] | undefined;
  },
): JsonSchema {
  return {
    ...schema,
    ...(description === undefined ? {} : { description }),
    ...(was === undefined ? {} : { [formerKeywords.was]: was }),
    ...(former === undefined ? {} : { [formerKeywords.former]: former }),
    [documentKeyword]: document,
    ...(view === undefined ? {} : { [viewKeyword]: view }),
    [deletionKeyword]: onDelete,
  };
}

/** The document that a field names one of, or some of; null if it names none. */
export function referenceOf(schema: JsonSchema): Omit<ReferenceModel, "field"> | null {
  if (typeof schema !== "object") return null;
  const { [documentKeyword]: document, [viewKeyword]: view, [deletionKeyword]: onDelete } = schema;
  return typeof document === "string"
    ? {
        document,
        ...(typeof view === "string" ? { view } : {}),
        onDelete: onDelete as ReferenceModel["onDelete"],
        ...(schema["type"] === "array" ? { many: true } : {}),
      }
    : null;
}
