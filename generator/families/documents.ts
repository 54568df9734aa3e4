// The documents family: a declaration becomes a document model, its types, and up to ten operations (service.md "Document routes").
import { didYouMean } from "../did-you-mean.js";
import type { Origin, Report } from "../diagnostics.js";
import type { Declarations, DocumentDeclaration } from "../load/declarations.js";
import { durationSeconds } from "../load/quantities.js";
import { isMap } from "../load/shape.js";
import type { SourceTree } from "../load/source-tree.js";
import type { TypeReader } from "../load/types.js";
import {
  objectSchema,
  propertiesOf,
  referredType,
  refTo,
  requiredOf,
  type JsonSchema,
  type SchemaObject,
} from "../model/json-schema.js";
import { pascalCase, sentenceCase } from "../model/names.js";
import type {
  DocumentModel,
  DocumentVerb,
  IndexModel,
  OperationModel,
  ParameterModel,
} from "../model/registry.js";
import {
  fieldType,
  isNullableMember,
  memberPaths,
  patchSchema,
  resolved,
  type Resolve,
} from "./document-fields.js";
import { hookChain } from "./guards.js";
import {
  fieldNameSchema,
  filterSchema,
  listRequestSchema,
  pageSchema,
  queryableFields,
  sharedQueryTypes,
  sortSchema,
} from "./query-schemas.js";

/** An operation before it is mounted, with its route in each style relative to the mount. */
export interface UnmountedOperation {
  readonly operation: OperationModel;
  /** Default routes by style; null where the operation cannot be attached. */
  readonly routes: Readonly<
    Record<"rest" | "rpc", { readonly method: RouteMethod; readonly path: string }>
  > | null;
  readonly status: number;
  readonly at: Origin;
}

type RouteMethod = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

const baseNames = ["id", "rev", "created_at", "last_update_at", "is_deleted", "tenant_id"];

const uuid: SchemaObject = { type: "string", format: "uuid" };
const revisionSchema: SchemaObject = { type: "integer", minimum: 1 };

/** One document declaration, expanded. */
export interface ExpandedDocument {
  readonly model: DocumentModel;
  readonly operations: readonly UnmountedOperation[];
}

export interface FamilyContext {
  readonly declarations: Declarations;
  readonly tree: SourceTree;
  readonly types: TypeReader;
  readonly report: Report;
}

/** Expands `documents.<name>`; undefined where its type is no object. Puts the document's types into the table. */
export function expandDocument(
  context: FamilyContext,
  name: string,
  declaration: DocumentDeclaration,
): ExpandedDocument | undefined {
  const at = context.tree.at("documents", name);
  const model = documentModel(context, name, declaration, at);
  if (model === undefined) return undefined;
  const registered = verbsOf(model, declaration);
  checkVerbs(context, model, declaration, registered);
  return {
    model,
    operations: registered.map((verb) => expandVerb(context, model, declaration, verb)),
  };
}

/** Reports verbs that the document does not register, wherever the declaration names verbs. */
function checkVerbs(
  { tree, report }: FamilyContext,
  model: DocumentModel,
  declaration: DocumentDeclaration,
  registered: readonly DocumentVerb[],
): void {
  const check = (verb: string, isKey: boolean, ...path: readonly (string | number)[]): void => {
    if ((registered as readonly string[]).includes(verb)) return;
    report({
      code: "OPW062",
      message: `${model.name} registers no operation ${verb}`,
      at: { ...tree.at("documents", model.name, ...path), isKey },
      suggestion: didYouMean(verb, registered),
    });
  };
  const guards = typeof declaration.guard === "string" ? [] : Object.keys(declaration.guard);
  for (const verb of guards)
    if (verb !== "read" && verb !== "write") check(verb, true, "guard", verb);
  for (const verb of Object.keys(declaration.hooks ?? {})) check(verb, true, "hooks", verb);
  for (const [index, verb] of (declaration.idempotency ?? []).entries()) {
    check(verb, false, "idempotency", index);
    if (!(reading as readonly string[]).includes(verb)) continue;
    const at = tree.at("documents", model.name, "idempotency", index);
    report({ code: "OPW047", message: `${verb} does not write`, at });
  }
}

function documentModel(
  context: FamilyContext,
  name: string,
  declaration: DocumentDeclaration,
  at: Origin,
): DocumentModel | undefined {
  const { types, report } = context;
  const resolve: Resolve = (type) => types.schemas.get(type);
  const typeAt = inside(at, "type");
  const read = types.readType(declaration.type, typeAt, `${pascalCase(name)}Document`);
  const typeName = referredType(read) ?? `${pascalCase(name)}Document`;
  const body = resolved(read, resolve);
  if (typeof body === "boolean" || body["type"] !== "object") {
    report({
      code: "OPW011",
      message: "the type of a document must be an object with declared fields",
      at: typeAt,
    });
    return undefined;
  }
  const properties = propertiesOf(body);
  const reserved = Object.keys(properties).filter((field) => baseNames.includes(field));
  for (const field of reserved) {
    report({
      code: "OPW025",
      message: `${field} is a base field of every document`,
      at: { ...inside(types.origins.get(typeName) ?? typeAt, field), isKey: true },
    });
  }
  if (reserved.length > 0) return undefined;

  const softDelete = declaration.soft_delete !== undefined && declaration.soft_delete !== false;
  const known = (field: string, path: readonly (string | number)[]): boolean => {
    if (Object.hasOwn(properties, field)) return true;
    report({
      code: "OPW030",
      message: `${typeName} has no field ${field}`,
      at: context.tree.at("documents", name, ...path),
      suggestion: didYouMean(field, Object.keys(properties)),
    });
    return false;
  };
  const creatable = (declaration.create ?? Object.keys(properties)).filter((field, index) =>
    known(field, ["create", index]),
  );
  const patchable = (declaration.update ?? Object.keys(properties)).filter((field, index) =>
    known(field, ["update", index]),
  );
  const nullable = memberPaths(body, resolve)
    .filter(({ path, schema }) => !path.includes("[]") && isNullableMember(schema, resolve))
    .map(({ path }) => path);
  const defaults = defaultsOf(declaration, properties, nullable, known);
  for (const field of requiredOf(body)) {
    if (
      creatable.includes(field) ||
      Object.hasOwn(defaults, field) ||
      declaration.read_only === true
    )
      continue;
    report({
      code: "OPW032",
      message: `${field} is required, but nothing can set it`,
      at: context.tree.keyAt("documents", name),
    });
  }

  const createTypeName = `${pascalCase(name)}Create`;
  const patchTypeName = `${pascalCase(name)}Patch`;
  // A member that has a default is always there once the document is stored.
  const stored = Object.keys(properties).filter(
    (field) => requiredOf(body).includes(field) || Object.hasOwn(defaults, field),
  );
  const bodySchema: SchemaObject = { ...body, ...(stored.length > 0 ? { required: stored } : {}) };
  if (declaration.read_only !== true) {
    types.add(createTypeName, createSchema(body, creatable, defaults), at);
    types.add(patchTypeName, patchSchema(bodySchema, patchable, resolve), at);
  }
  types.schemas.set(typeName, resourceSchema(bodySchema, softDelete, declaration.description));
  const fields = fieldsOf(bodySchema, resolve);
  const queryable = queryableFields({ fields, softDelete });
  const queryTypes = queryTypeNames(name);
  types.add(queryTypes.filter, filterSchema(queryable), at);
  types.add(queryTypes.sorts, sortSchema(queryable), at);
  types.add(queryTypes.field, fieldNameSchema(queryable), at);
  for (const [shared, schema] of Object.entries(sharedQueryTypes(queryable)))
    types.addShared(shared, schema, at);
  return {
    name,
    source: at.file,
    description: declaration.description ?? null,
    table: name,
    typeName,
    createTypeName,
    patchTypeName,
    tenant: declaration.tenant ?? true,
    sensitive: declaration.sensitive ?? false,
    softDelete,
    listDeleted: isMap(declaration.soft_delete) && declaration.soft_delete.list_deleted === true,
    history: historyOf(declaration),
    defaults,
    nullable,
    canonical: canonicalOf(bodySchema, resolve),
    fields,
    indexes: indexesOf(context, name, declaration, fields),
    checksBody:
      patchable.some((field) => !isSimple(properties[field] ?? true, resolve)) ||
      hasObjectKeywords(body),
    bodySchema,
  };
}

/** Names of the types that queries of a document use. */
export function queryTypeNames(document: string): {
  readonly filter: string;
  readonly sorts: string;
  readonly field: string;
} {
  const name = pascalCase(document);
  return { filter: `${name}Filter`, sorts: `${name}Sorts`, field: `${name}Field` };
}

function historyOf(declaration: DocumentDeclaration): number | null {
  if (declaration.history === undefined || declaration.history === false) return 0;
  return declaration.history === true ? null : declaration.history.keep;
}

/** Values of members that a payload leaves out: declared, from the schema, or null where null is a value. */
function defaultsOf(
  declaration: DocumentDeclaration,
  properties: Readonly<Record<string, JsonSchema>>,
  nullable: readonly string[],
  known: (field: string, path: readonly (string | number)[]) => boolean,
): Readonly<Record<string, unknown>> {
  const defaults: Record<string, unknown> = {};
  for (const [field, schema] of Object.entries(properties)) {
    if (nullable.includes(field)) defaults[field] = null;
    if (typeof schema === "object" && "default" in schema) defaults[field] = schema["default"];
  }
  for (const [field, value] of Object.entries(declaration.defaults ?? {})) {
    if (known(field, ["defaults", field])) defaults[field] = value;
  }
  return defaults;
}

function createSchema(
  body: SchemaObject,
  creatable: readonly string[],
  defaults: Readonly<Record<string, unknown>>,
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
  return objectSchema(Object.fromEntries(members), required);
}

function resourceSchema(
  body: SchemaObject,
  softDelete: boolean,
  description: string | undefined,
): SchemaObject {
  const base: Record<string, JsonSchema> = {
    id: { ...uuid, readOnly: true, description: "UUIDv7." },
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

function fieldsOf(body: JsonSchema, resolve: Resolve): DocumentModel["fields"] {
  const fields: Record<string, NonNullable<ReturnType<typeof fieldType>>> = {};
  for (const { path, schema } of memberPaths(body, resolve)) {
    const type = path.includes("[]") ? undefined : fieldType(schema, resolve);
    if (type !== undefined) fields[path] = type;
  }
  return fields;
}

function canonicalOf(body: JsonSchema, resolve: Resolve): DocumentModel["canonical"] {
  const canonical: Record<string, "uuid" | "date-time"> = {};
  for (const { path, schema } of memberPaths(body, resolve)) {
    const type = fieldType(schema, resolve);
    if (type === "uuid" || type === "date-time") canonical[path] = type;
  }
  return canonical;
}

function indexesOf(
  context: FamilyContext,
  name: string,
  declaration: DocumentDeclaration,
  fields: DocumentModel["fields"],
): readonly IndexModel[] {
  return (declaration.indexes ?? []).map((names, position) => {
    for (const [index, field] of names.entries()) {
      const at = context.tree.at("documents", name, "indexes", position, index);
      const type = fields[field];
      if (type === undefined) {
        const suggestion = didYouMean(field, Object.keys(fields));
        context.report({
          code: "OPW030",
          message: `there is no field ${field} to index`,
          at,
          suggestion,
        });
      } else if (type === "object" || type.endsWith("[]")) {
        context.report({ code: "OPW034", message: `${field} is ${type}, not a scalar`, at });
      }
    }
    return { name: `${name}_by_${names.join("_").replaceAll(".", "_")}`, fields: names };
  });
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
    "dependentRequired",
    "minProperties",
    "maxProperties",
  ].some((keyword) => keyword in body);
}

const reading: readonly DocumentVerb[] = [
  "get",
  "list",
  "raw_list",
  "list_cursor",
  "raw_list_cursor",
];

function verbsOf(model: DocumentModel, declaration: DocumentDeclaration): readonly DocumentVerb[] {
  if (declaration.read_only === true) return reading;
  return [
    "create",
    "get",
    "update",
    "kill",
    ...(model.softDelete ? (["delete", "restore"] as const) : []),
    ...reading.slice(1),
  ];
}

interface VerbShape {
  readonly rest: readonly [RouteMethod, string];
  readonly rpc: readonly [RouteMethod, string];
  readonly status?: number;
  readonly errors: readonly string[];
}

const listErrors = [
  "query_invalid",
  "field_not_queryable",
  "query_operator_type_mismatch",
  "query_too_complex",
];
const revisionErrors = [
  "core.not_found",
  "revision_mismatch",
  "revision_ambiguous",
  "core.concurrency",
];

const verbs: Readonly<Record<DocumentVerb, VerbShape>> = {
  create: { rest: ["POST", "/"], rpc: ["POST", "/create"], status: 201, errors: [] },
  get: { rest: ["GET", "/{id}"], rpc: ["GET", "/get"], errors: ["core.not_found"] },
  update: {
    rest: ["PATCH", "/{id}"],
    rpc: ["PATCH", "/update"],
    errors: [...revisionErrors, "revision_required"],
  },
  kill: {
    rest: ["DELETE", "/{id}"],
    rpc: ["DELETE", "/kill"],
    status: 204,
    errors: revisionErrors,
  },
  delete: {
    rest: ["POST", "/{id}/delete"],
    rpc: ["PATCH", "/delete"],
    errors: [...revisionErrors, "revision_required", "document_deleted"],
  },
  restore: {
    rest: ["POST", "/{id}/restore"],
    rpc: ["PATCH", "/restore"],
    errors: [...revisionErrors, "revision_required"],
  },
  list: { rest: ["POST", "/list"], rpc: ["POST", "/list"], errors: listErrors },
  raw_list: { rest: ["POST", "/raw_list"], rpc: ["POST", "/raw_list"], errors: listErrors },
  list_cursor: {
    rest: ["POST", "/list_cursor"],
    rpc: ["POST", "/list_cursor"],
    errors: [...listErrors, "invalid_cursor"],
  },
  raw_list_cursor: {
    rest: ["POST", "/raw_list_cursor"],
    rpc: ["POST", "/raw_list_cursor"],
    errors: [...listErrors, "invalid_cursor"],
  },
};

function expandVerb(
  context: FamilyContext,
  model: DocumentModel,
  declaration: DocumentDeclaration,
  verb: DocumentVerb,
): UnmountedOperation {
  const shape = verbs[verb];
  const key = `${model.name}.${verb}`;
  const isRead = reading.includes(verb);
  const own = declaration.hooks?.[verb];
  const tree = context.tree;
  const operation: OperationModel = {
    key,
    namespace: model.name,
    name: verb,
    family: "documents",
    source: model.source,
    summary: sentenceCase(verb, model.name),
    description: null,
    ...inputOf(model, verb),
    output: outputOf(model, verb),
    guard: guardOf(declaration, verb).policy,
    hooks: hookChain(
      context.declarations,
      {
        policy: guardOf(declaration, verb).policy,
        at: tree.at("documents", model.name, ...guardOf(declaration, verb).path),
      },
      own === undefined
        ? undefined
        : { hooks: own, at: tree.at("documents", model.name, "hooks", verb) },
      context.report,
    ),
    deadlineSeconds:
      declaration.deadline === undefined ? null : durationSeconds(declaration.deadline),
    transaction: isRead ? "read" : "write",
    idempotencyKey: declaration.idempotency?.includes(verb) ?? false,
    route: null,
    run: { kind: "document", document: model.name, verb },
    errors: [...shape.errors, ...historyErrors(model, verb)],
    extensions: extensionsOf(declaration),
  };
  return {
    operation,
    routes: {
      rest: { method: shape.rest[0], path: shape.rest[1] },
      rpc: { method: shape.rpc[0], path: shape.rpc[1] },
    },
    status: shape.status ?? 200,
    at: tree.keyAt("documents", model.name),
  };
}

function historyErrors(model: DocumentModel, verb: DocumentVerb): readonly string[] {
  if (verb !== "update") return [];
  return [
    ...(model.history === 0 ? [] : ["historical_consistency_violation", "history_not_found_retry"]),
    ...(model.softDelete ? ["document_deleted"] : []),
  ];
}

/** The policy of a verb and where it stands: the verb's own, else that of read or write, else the one for all. */
function guardOf(
  declaration: DocumentDeclaration,
  verb: DocumentVerb,
): { readonly policy: string; readonly path: readonly string[] } {
  const { guard } = declaration;
  if (typeof guard === "string") return { policy: guard, path: ["guard"] };
  const key = Object.hasOwn(guard, verb) ? verb : reading.includes(verb) ? "read" : "write";
  return { policy: guard[key] ?? "", path: Object.hasOwn(guard, key) ? ["guard", key] : ["guard"] };
}

function inputOf(model: DocumentModel, verb: DocumentVerb): Pick<OperationModel, "input"> {
  const typeName = `${pascalCase(`${model.name}.${verb}`)}Input`;
  const id: ParameterModel = { name: "id", in: "path", type: "uuid", required: true, schema: uuid };
  const rev = (required: boolean): ParameterModel => ({
    name: "rev",
    in: "revision",
    type: "integer",
    required,
    schema: revisionSchema,
  });
  const only = (...parameters: readonly ParameterModel[]) => ({
    schema: objectSchema(
      Object.fromEntries(parameters.map(({ name, schema }) => [name, schema])),
      parameters.filter(({ required }) => required).map(({ name }) => name),
    ),
    typeName,
    parameters,
    body: null,
  });
  switch (verb) {
    case "create": {
      const schema = refTo(model.createTypeName);
      return {
        input: {
          schema,
          typeName: model.createTypeName,
          parameters: [],
          body: { as: "input", schema, typeName: model.createTypeName },
        },
      };
    }
    case "get":
      return { input: only(id) };
    case "kill":
      return { input: only(id, rev(false)) };
    case "delete":
    case "restore":
      return { input: only(id, rev(true)) };
    case "update": {
      const patch = refTo(model.patchTypeName);
      return {
        input: {
          schema: objectSchema({ id: uuid, rev: revisionSchema, patch }, ["id", "rev", "patch"]),
          typeName,
          parameters: [id, rev(true)],
          body: { as: { member: "patch" }, schema: patch, typeName: model.patchTypeName },
        },
      };
    }
    default: {
      const schema = listRequestSchema(queryTypeNames(model.name), {
        isRaw: verb.startsWith("raw_"),
        byCursor: verb.endsWith("cursor"),
        listDeleted: model.listDeleted,
      });
      return {
        input: { schema, typeName, parameters: [], body: { as: "input", schema, typeName } },
      };
    }
  }
}

function outputOf(model: DocumentModel, verb: DocumentVerb): OperationModel["output"] {
  const document = refTo(model.typeName);
  switch (verb) {
    case "kill":
      return { schema: null, hasEntityTag: false };
    case "create":
    case "get":
    case "delete":
    case "restore":
      return { schema: document, hasEntityTag: true };
    case "update": {
      const diff = {
        type: "object",
        description: "The new values of what changed.",
        additionalProperties: true,
      };
      return {
        schema: objectSchema({ data: document, diff }, ["data", "diff"]),
        hasEntityTag: true,
      };
    }
    default: {
      const hit = verb.startsWith("raw_")
        ? {
            type: "object",
            description: "The fields that were asked for.",
            additionalProperties: true,
          }
        : document;
      return { schema: pageSchema(hit, verb.endsWith("cursor")), hasEntityTag: false };
    }
  }
}

/** The `x-*` keys of a declaration. */
export function extensionsOf(declaration: object): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(declaration).filter(([key]) => key.startsWith("x-")));
}

function inside(at: Origin, step: string | number): Origin {
  return { file: at.file, path: [...at.path, step] };
}
