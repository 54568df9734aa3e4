// Whether valid payloads may make a document that isn't: then the whole is checked as well.
import type { Resolve } from "../../kernel/resolve.js";
import type { DocumentModel } from "../../model/document-model.js";
import { propertiesOf, type JsonSchema, type SchemaObject } from "../../model/json-schema.js";
import type { DocumentDeclaration } from "./format.js";
import { fieldType } from "./members/fields.js";

interface Checked extends Pick<DocumentModel, "set" | "references"> {
  readonly body: SchemaObject;
  readonly patchable: readonly string[];
  readonly resolve: Resolve;
}

/** Whether each write checks the whole body of a document, besides its payload. */
export function checksBody(
  { read_only: isReadOnly }: DocumentDeclaration,
  { body, set, references, patchable, resolve }: Checked,
): boolean {
  const properties = propertiesOf(body);
  return (
    // No payload of a caller's has a type of its own: handlers are held to the whole.
    isReadOnly === true ||
    set.length > 0 ||
    // Ids that differ in case alone are the same once they are canonical.
    references.some(({ many }) => many === true) ||
    patchable.some((field) => !isSimple(properties[field] ?? true, resolve)) ||
    hasObjectKeywords(body)
  );
}

/** Whether a patch of the member, valid by itself, leaves a valid body valid. */
function isSimple(schema: JsonSchema, resolve: Resolve): boolean {
  const type = fieldType(schema, resolve);
  return type !== undefined && type !== "object";
}

function hasObjectKeywords(body: SchemaObject): boolean {
  return [
    "allOf",
    "anyOf",
    "oneOf",
    "not",
    "if",
    "dependentRequired",
    "minProperties",
    "maxProperties",
  ].some((keyword) => keyword in body);
}
