// From a document declaration to its model and its types (service.md "Document routes").
import { canonicalBody } from "../../../runtime/contract/canonical-values.js";
import { serviceFields } from "../../../runtime/contract/fields.js";
import { inside } from "../../diagnostics/diagnostics.js";
import { didYouMean } from "../../diagnostics/did-you-mean.js";
import type { DocumentDeclaration } from "./format.js";
import { isMap } from "../../load/shape.js";
import {
  alternativesOf,
  objectSchema,
  propertiesOf,
  referredType,
  requiredOf,
  revisionSchema,
  uuidSchema,
  type JsonSchema,
  type SchemaObject,
} from "../../model/json-schema.js";
import { pascalCase } from "../../model/names.js";
import type { DocumentModel } from "../../model/document-model.js";
import { mapRecord } from "../../model/records.js";
import { checksBody } from "./checks-body.js";
import { resolveSchema, type Resolve } from "../../kernel/resolve.js";
import {
  canonicalOf,
  elementsOf,
  decimalsOf,
  enumsOf,
  fieldsOf,
  memberPaths,
} from "./members/fields.js";
import { defaultsOf, storedSchema } from "./members/defaults.js";
import { nullablePaths, patchSchema } from "./members/patch-schema.js";
import { writtenSchema } from "../../kernel/written-later.js";
import { laterFields } from "./members/later.js";
import { emissions } from "./members/emissions.js";
import { remindersOf } from "./members/reminders.js";
import { historyOf } from "./past.js";
import { checkHistory, deletedForSeconds } from "./members/retention.js";
import { rulesOfRows } from "./members/row-rules.js";
import { setRules } from "./members/set.js";
import { referencesOf, refuseNestedReferences } from "./members/references.js";
import { viewTypeName } from "../../model/views.js";
import { addViewTypes, viewsOf } from "./members/views.js";
import { takeKeys } from "./members/keys.js";
import { sayVisible, shownSchema } from "./members/visible.js";
import { documentOfUnion } from "./members/union.js";
import { pastOf, refuseNested } from "./members/former.js";
import type { FamilyContext } from "../../kernel/family.js";

/** A document's type before the base fields are added, and the name of the type with them. */
export interface DocumentType {
  readonly typeName: string;
  readonly body: SchemaObject;
  readonly softDelete: boolean;
}

/**
 * Reads the type of a document and puts it, with the base fields, into the table; undefined where
 * it cannot be one. All documents' types are read before any model is made, so that one may hold
 * another whatever the order of files.
 */
export function readDocumentType(
  context: FamilyContext,
  name: string,
  declaration: DocumentDeclaration,
): DocumentType | undefined {
  const { types, report } = context;
  const resolve: Resolve = (type) => types.table.schemas.get(type);
  const typeAt = context.tree.at("documents", name, "type");
  const inlineName = `${pascalCase(name)}Document`;
  const read = types.readType(declaration.type, typeAt, inlineName);
  const typeName = referredType(read) ?? inlineName;
  if (typeName === inlineName && referredType(read) === undefined)
    types.table.add(typeName, true, typeAt);
  const body = bodyOf(context, read);
  // A name that no type has was reported.
  const isUnknown = read === true && typeof declaration.type === "string";
  if (typeof body !== "object" || body["type"] !== "object") {
    if (isUnknown) return undefined;
    const message = "the type of a document must be an object with declared fields";
    report({ code: "OPW011", message: typeof body === "string" ? body : message, at: typeAt });
    return undefined;
  }
  const typeOrigin = types.table.origins.get(typeName) ?? typeAt;
  const faulty = Object.keys(propertiesOf(body)).filter((field) => serviceFields.includes(field));
  for (const field of faulty) {
    const at = { ...inside(typeOrigin, field), isKey: true };
    report({
      code: "OPW025",
      message: `${field} is a base field of every document`,
      at,
      hint: "Leave it out: opwright adds and fills it.",
    });
  }
  const odd = memberPaths(body, resolve).filter(
    ({ name: member }) => !/^[A-Za-z_][\w-]*$/.test(member),
  );
  for (const { name: member } of odd) {
    report({
      code: "OPW025",
      message: `${JSON.stringify(member)} cannot be a field of a document`,
      at: typeOrigin,
    });
  }
  if (faulty.length + odd.length > 0) return undefined;
  const softDelete = declaration.soft_delete !== undefined && declaration.soft_delete !== false;
  types.table.schemas.set(
    typeName,
    resourceSchema(
      shownSchema(declaration, storedSchema(declaration, body, resolve)),
      softDelete,
      declaration.description,
    ),
  );
  addViewTypes(context, name, declaration, typeName);
  return { typeName, body, softDelete };
}

/** What a document's type says, as one object; a text is why a union can't be one. */
function bodyOf({ types }: FamilyContext, read: JsonSchema): JsonSchema | string {
  const body = resolveSchema(read, (type) => types.table.schemas.get(type));
  const isUnion = typeof body === "object" && alternativesOf(body).length > 0;
  return isUnion && !("type" in body)
    ? documentOfUnion(body, (type) => types.declared(type) ?? types.table.schemas.get(type))
    : body;
}

/** How documents are read, before it is known which others there are. */
const unread = { reading: null, scopes: {}, expandable: [] };

/** What is said of a document without its fields. */
function factsOf(
  { tree }: FamilyContext,
  name: string,
  declaration: DocumentDeclaration,
  { typeName, softDelete }: DocumentType,
) {
  const [createTypeName, patchTypeName] = payloadTypeNames(name);
  return {
    name,
    source: tree.at("documents", name).file,
    description: declaration.description ?? null,
    table: declaration.was ?? name,
    typeName,
    createTypeName,
    patchTypeName,
    tenant: declaration.tenant ?? true,
    sensitive: declaration.sensitive ?? false,
    takesIds: declaration.id === "client",
    countUpTo: declaration.count?.up_to ?? null,
    takesReplica: declaration.replica ?? false,
    softDelete,
    listDeleted: isMap(declaration.soft_delete) && declaration.soft_delete.list_deleted === true,
    ...historyOf(declaration),
    deletedForSeconds: deletedForSeconds(declaration),
  };
}

/** The model of a document. Puts the types of its payloads and queries into the table. */
export function documentModel(
  context: FamilyContext,
  name: string,
  declaration: DocumentDeclaration,
  type: DocumentType,
): DocumentModel {
  const { typeName, body, softDelete } = type;
  const resolve: Resolve = (other) => context.types.table.schemas.get(other);
  const properties = propertiesOf(body);
  const nullable = nullablePaths([body], resolve);
  const defaults = defaultsOf(declaration, properties, nullable);
  const set = setRules(context, name, declaration, body, resolve, defaults);
  const later = laterFields(context, name, declaration, body, defaults, resolve);
  const left = set.filter(({ on }) => on === "absent").map(({ field }) => field);
  const own = set.map(({ field }) => field).filter((field) => !left.includes(field));
  const { creatable, patchable } = settableFields(context, name, declaration, type, defaults, {
    own,
    later,
    left,
  });
  const bodySchema = storedSchema(declaration, body, resolve);
  const payloads = { creatable, patchable };
  addPayloadTypes(context, name, declaration, { body, bodySchema, defaults, left }, payloads);
  const canonical = canonicalOf(bodySchema, resolve);
  const fields = fieldsOf(bodySchema, resolve);
  const elements = elementsOf(bodySchema, resolve);
  const enums = enumsOf(bodySchema, resolve);
  refuseNested(context, name, body, resolve);
  refuseNestedReferences(context, name, body, resolve);
  const references = referencesOf(properties);
  checkHistory(context, name, declaration, type);
  const past = pastOf(declaration, properties, canonical, resolve);
  const rows = {
    fields,
    canonical,
    references,
    softDelete,
    bodySchema,
    enums,
    defaults,
    nullable,
    former: past.former,
  };
  return {
    ...factsOf(context, name, declaration, type),
    // They reach rows that are stored already without being written by anybody.
    defaults: canonicalBody(defaults, canonical),
    nullable,
    canonical,
    fields,
    set,
    elements,
    enums,
    decimals: decimalsOf(bodySchema, resolve),
    ...past,
    ...rulesOfRows(context, name, declaration, rows),
    references,
    ...unread,
    readTypeName: typeName,
    views: viewsOf(declaration).map(({ name: view, members }) => ({
      name: view,
      members,
      typeName: viewTypeName(name, view),
      ...unread,
      readTypeName: viewTypeName(name, view),
    })),
    view: null,
    bulk: declaration.read_only === true ? null : (declaration.bulk?.max ?? null),
    emits: emissions(declaration),
    reminders: remindersOf(context, name, declaration, { fields, canonical }),
    hooks: {},
    checksBody: checksBody(declaration, { body, set, references, patchable, resolve }),
    bodySchema,
  };
}

/** Fields that callers don't write, not yet, or needn't. */
interface SetFields {
  readonly own: readonly string[];
  readonly later: readonly string[];
  readonly left: readonly string[];
}

/**
 * The fields that payloads may have. Reports those that are not there, and required ones that
 * nothing can set.
 */
function settableFields(
  { tree, report }: FamilyContext,
  name: string,
  declaration: DocumentDeclaration,
  { typeName, body }: DocumentType,
  defaults: DocumentModel["defaults"],
  { own, later, left }: SetFields,
): { readonly creatable: readonly string[]; readonly patchable: readonly string[] } {
  const all = Object.keys(propertiesOf(body));
  const known = (field: string, path: readonly (string | number)[]): boolean => {
    if (all.includes(field)) return true;
    report({
      code: "OPW030",
      message: `${typeName} has no field ${field}`,
      at: { ...tree.at("documents", name, ...path), isKey: path[0] === "defaults" },
      suggestion: didYouMean(field, all),
    });
    return false;
  };
  const others = all.filter((field) => !own.includes(field) && !later.includes(field));
  const writable = (fields: readonly string[], key: string): readonly string[] =>
    fields.filter((field, at) => known(field, [key, at]) && !later.includes(field));
  const creatable = writable(declaration.create ?? others, "create");
  const patchable = writable(declaration.update ?? others, "update");
  for (const field of Object.keys(declaration.defaults ?? {})) known(field, ["defaults", field]);
  // A field that is misspelt there is likely the one that seems to be left out.
  if (declaration.create !== undefined && creatable.length < declaration.create.length)
    return { creatable, patchable };
  const unset = requiredOf(body).filter(
    (field) =>
      !creatable.includes(field) &&
      ![...own, ...later, ...left].includes(field) &&
      !Object.hasOwn(defaults, field),
  );
  for (const field of declaration.read_only === true ? [] : unset)
    report({
      code: "OPW032",
      message: `${field} is required, but nothing can set it`,
      // Had `create` been left out, callers could.
      at:
        declaration.create === undefined
          ? tree.keyAt("documents", name)
          : tree.at("documents", name, "create"),
    });
  return { creatable, patchable };
}

/** Puts the types of the payloads of create and update into the table, where there are any. */
function addPayloadTypes(
  context: FamilyContext,
  name: string,
  declaration: DocumentDeclaration,
  {
    body,
    bodySchema,
    defaults,
    left,
  }: Pick<DocumentModel, "defaults"> &
    Pick<SetFields, "left"> & {
      readonly body: SchemaObject;
      readonly bodySchema: SchemaObject;
    },
  {
    creatable,
    patchable,
  }: { readonly creatable: readonly string[]; readonly patchable: readonly string[] },
): void {
  if (declaration.read_only === true) return;
  const { types, tree } = context;
  const { table } = types;
  const at = tree.at("documents", name);
  const resolve: Resolve = (other) => table.schemas.get(other);
  const begun = { ...body, properties: writtenProperties(context, body, resolve) };
  const patched = { ...bodySchema, properties: writtenProperties(context, bodySchema, resolve) };
  const [create, patch] = payloadTypeNames(name);
  table.addTo(
    name,
    create,
    sayVisible(
      declaration,
      createSchema(
        { ...begun, required: requiredOf(begun).filter((field) => !left.includes(field)) },
        creatable,
        defaults,
        declaration.id === "client",
      ),
    ),
    at,
  );
  const patchType = sayVisible(declaration, patchSchema(patched, patchable, resolve));
  table.addTo(name, patch, patchType, at);
}

function payloadTypeNames(name: string): readonly [create: string, patch: string] {
  return [`${pascalCase(name)}Create`, `${pascalCase(name)}Patch`];
}

/** The schemas of what payloads may write of each field. */
function writtenProperties(
  { declarations }: FamilyContext,
  body: SchemaObject,
  resolve: Resolve,
): Readonly<Record<string, JsonSchema>> {
  return mapRecord(propertiesOf(body), (schema) =>
    takeKeys(writtenSchema(schema, resolve), declarations),
  );
}

function createSchema(
  body: SchemaObject,
  creatable: readonly string[],
  defaults: Readonly<Record<string, unknown>>,
  takesIds: boolean,
): SchemaObject {
  const properties = propertiesOf(body);
  const members = creatable.map((field): readonly [string, JsonSchema] => {
    const schema = properties[field] ?? true;
    const value = defaults[field];
    const hasDefault = Object.hasOwn(defaults, field) && value !== null;
    return [
      field,
      hasDefault && typeof schema === "object" ? { ...schema, default: value } : schema,
    ];
  });
  const required = requiredOf(body).filter(
    (field) => creatable.includes(field) && !Object.hasOwn(defaults, field),
  );
  const id = takesIds
    ? { id: { ...uuidSchema, description: "One of its own, if it has one." } }
    : {};
  return objectSchema({ ...id, ...Object.fromEntries(members) }, required);
}

function resourceSchema(
  body: SchemaObject,
  softDelete: boolean,
  description: string | undefined,
): SchemaObject {
  const base: Record<string, JsonSchema> = {
    id: { ...uuidSchema, readOnly: true, description: "UUIDv7." },
    rev: { ...revisionSchema, readOnly: true, description: "Counts the changes, from 1." },
    created_at: { type: "string", format: "date-time", readOnly: true },
    last_update_at: { type: "string", format: "date-time", readOnly: true },
    ...(softDelete ? { is_deleted: { type: "boolean", readOnly: true } } : {}),
  };
  return {
    ...body,
    ...(description === undefined ? {} : { description }),
    properties: { ...base, ...propertiesOf(body) },
    required: [...Object.keys(base), ...requiredOf(body)],
  };
}
