// A document as the console knows it: its operations, its members, and the query language of its
// lists.
import { namespaceOf } from "../../openapi/catalog.js";
import type { Schema } from "../../openapi/document.js";
import { innerSchema } from "../../openapi/type-text.js";
import { answerSchema, bodySchema, memberSchema, type Api, type Json } from "../api.js";

/** Members that every document has, which nobody writes. */
const baseMembers = ["id", "rev", "created_at", "last_update_at", "is_deleted"];

export interface DocumentKind {
  /** `tasks`. */
  readonly name: string;
  readonly members: Readonly<Record<string, Schema>>;
  /** Its own members, in their order. */
  readonly ownMembers: readonly string[];
  /** The document that a member leads to. */
  readonly references: Readonly<Record<string, string>>;
  /** The operation that lists it by cursor, or else by page; null if nobody may list it. */
  readonly list: string | null;
  /** The operators of each member that a filter can be about. */
  readonly operators: Readonly<Record<string, readonly string[]>>;
  readonly sortable: readonly string[];
}

/** The documents that the caller may list, in the order of the catalog. */
export function documentsOf(api: Api): readonly string[] {
  const documents = api.catalog.operations.filter(({ family }) => family === "documents");
  const names = new Set(documents.map(namespaceOf));
  return [...names].filter((name) =>
    ["list_cursor", "list"].some((verb) => api.can(`${name}.${verb}`)),
  );
}

/** Reads a kind of document from the service's documents. */
export function documentKind(api: Api, name: string): DocumentKind {
  const { openapi } = api;
  const key = ["list_cursor", "list"].map((verb) => `${name}.${verb}`).find(api.can) ?? null;
  const listing = key === null ? undefined : api.operation(key);
  const reading = api.operation(`${name}.get`);
  const body = listing === undefined ? {} : bodySchema(api, listing);
  const schema =
    listing === undefined
      ? reading === undefined
        ? {}
        : answerSchema(api, reading)
      : memberSchema(openapi, answerSchema(api, listing), "hits", "[]");
  const members = Object.fromEntries(
    Object.keys(schema.properties ?? {}).map((member) => [
      member,
      memberSchema(openapi, schema, member),
    ]),
  );
  return {
    name,
    members,
    ownMembers: Object.keys(members).filter((member) => !baseMembers.includes(member)),
    references: api.catalog.documents?.[name]?.references ?? {},
    list: key,
    operators: operatorsOf(api, memberSchema(openapi, body, "filters")),
    sortable: Object.keys(memberSchema(openapi, body, "sorts").properties ?? {}),
  };
}

/** The operators of `$values`, by member: those of the constraint that is an object. */
function operatorsOf({ openapi }: Api, filters: Schema): DocumentKind["operators"] {
  const values = (filters.anyOf ?? [filters])
    .map((one) => memberSchema(openapi, { properties: { one } }, "one"))
    .map((one) => one.properties?.["$values"])
    .find((one) => one !== undefined);
  const constraints = innerSchema(openapi, values)?.properties ?? {};
  return Object.fromEntries(
    Object.entries(constraints).flatMap(([member, constraint]) => {
      const operators = Object.keys(innerSchema(openapi, constraint)?.properties ?? {});
      return operators.length === 0 ? [] : [[member, operators]];
    }),
  );
}

/** The member that names a document to people: its first text that is no id. */
export function titleMember({ members, ownMembers }: DocumentKind): string | null {
  const isTitle = (name: string): boolean => {
    const { type, format, enum: choices } = members[name] ?? {};
    const types = typeof type === "string" ? [type] : (type ?? []);
    return types.includes("string") && format === undefined && choices === undefined;
  };
  return ownMembers.find(isTitle) ?? null;
}

/** A document's name to people; its id if it has none. */
export function titleOf(kind: DocumentKind, document: Json): string {
  const member = titleMember(kind);
  const title = member === null ? undefined : document[member];
  return typeof title === "string" && title !== "" ? title : String(document["id"] ?? "");
}
