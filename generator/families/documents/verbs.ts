// The operations of a document: verbs, routes in both styles, inputs and outputs (service.md "Document routes").
import type { DocumentDeclaration } from "../../load/declarations.js";
import { own } from "../../model/records.js";
import { objectSchema, refTo, revisionSchema, uuidSchema } from "../../model/json-schema.js";
import { callOf, ofGenerated, ofRuntime, type Code } from "../../model/code.js";
import { camelCase, pascalCase, specName, summaryOf } from "../../model/names.js";
import type { DocumentModel } from "../../model/document-model.js";
import {
  bodyInput,
  type DocumentVerb,
  type InputModel,
  type OperationModel,
  type ParameterModel,
} from "../../model/registry.js";
import { idInPath } from "../../kernel/built-in.js";
import { queryTypeNames } from "./query-types.js";
import {
  deadlineOf,
  deprecationOf,
  extensionsOf,
  type FamilyContext,
  type RouteMethod,
  type UnmountedOperation,
} from "../../kernel/family.js";
import { hookChain, requiresAuthn } from "../../kernel/guards.js";
import { aggregatePage, aggregateRequestSchema, aggregateTypeNames } from "./aggregate-schemas.js";
import { queryableFields } from "../../model/query-fields.js";
import { guardOf, reading } from "./guard.js";
import { expandMember, listRequestSchema, pageSchema, rawPages } from "./query-schemas.js";

/** The verbs that a document registers. */
export function verbsOf(
  model: DocumentModel,
  declaration: DocumentDeclaration,
): readonly DocumentVerb[] {
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

/** Verbs about one version, of which the headers of a request may say something. */
const ofOneVersion: readonly DocumentVerb[] = ["get", "update", "kill", "delete", "restore"];

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

/** What each does, `*` being what the documents are called. */
const summaries: Readonly<Record<DocumentVerb, string>> = {
  create: "Create one of the *",
  get: "Read one of the *",
  update: "Change one of the * by a merge patch",
  kill: "Remove one of the * for good",
  delete: "Delete one of the *, so that it can be restored",
  restore: "Restore one of the * that was deleted",
  list: "List * by page",
  raw_list: "List chosen fields of * by page",
  list_cursor: "List * by cursor",
  raw_list_cursor: "List chosen fields of * by cursor",
  agg_list: "Group * and compute over the groups",
};

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
  agg_list: { rest: ["POST", "/agg_list"], rpc: ["POST", "/agg_list"], errors: listErrors },
};

/** What reads the input of a list, by its name in the runtime. */
const listings: Partial<Record<DocumentVerb, string>> = {
  list: "page",
  raw_list: "rawPage",
  list_cursor: "cursor",
  raw_list_cursor: "rawCursor",
};

/** One operation of a document. */
/** What goes on with a document that was created. */
const followers: readonly DocumentVerb[] = ["get", "update", "delete", "kill"];

export function expandVerb(
  context: FamilyContext,
  model: DocumentModel,
  declaration: DocumentDeclaration,
  verb: DocumentVerb,
): UnmountedOperation {
  const shape = verbs[verb];
  const key = `${model.name}.${verb}`;
  const isRead = reading.includes(verb);
  const own = declaration.hooks?.[verb];
  const guard = guardOf(declaration, verb);
  const tree = context.tree;
  const hooks = hookChain(
    context,
    {
      policy: guard.policy,
      at: tree.at("documents", model.name, ...guard.path),
    },
    model.name,
    own === undefined
      ? undefined
      : { hooks: own, at: tree.at("documents", model.name, "hooks", verb) },
  );
  const spec = ofGenerated(`documents/${model.name}`, specName(model.name));
  const isList = verb.includes("list");
  const operation: OperationModel = {
    key,
    namespace: model.name,
    name: verb,
    family: "documents",
    source: model.source,
    summary: summaryOf(summaries[verb], model.name),
    description: null,
    input: inputOf(model, verb, spec),
    output: outputOf(model, verb),
    guard: guard.policy,
    hooks,
    deadlineSeconds: deadlineOf(context, declaration.deadline),
    transaction: isRead ? "read" : "write",
    idempotencyKey: declaration.idempotency?.includes(verb) ?? false,
    isConditional: ofOneVersion.includes(verb),
    leadsTo: verb === "create" ? followers : [],
    isSensitive: model.sensitive,
    deprecated: deprecationOf(context, declaration.deprecated?.[verb], [
      "documents",
      model.name,
      "deprecated",
      verb,
    ]),
    requiresAuthn: requiresAuthn(hooks),
    ignoresCredentials: false,
    route: null,
    audit: null,
    run: callOf(ofRuntime(verb === "agg_list" ? "aggList" : `documents.${camelCase(verb)}`), spec),
    effect: isRead ? "reads" : verb === "create" ? "adds" : "changes",
    isTool: true,
    declares: "nothing",
    lists: isList ? model.name : null,
    queries: isList ? model.name : null,
    errors: [...shape.errors, ...historyErrors(model, verb), ...uniqueErrors(model, verb)],
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

/** Verbs that may give a document what another one has. */
const occupying: readonly DocumentVerb[] = ["create", "update", "restore"];

function uniqueErrors({ unique }: DocumentModel, verb: DocumentVerb): readonly string[] {
  return unique.length > 0 && occupying.includes(verb) ? ["unique_violation"] : [];
}

function historyErrors(model: DocumentModel, verb: DocumentVerb): readonly string[] {
  if (verb !== "update") return [];
  return [
    ...(model.history === 0 ? [] : ["historical_consistency_violation", "history_not_found_retry"]),
    ...(model.softDelete ? ["document_deleted"] : []),
  ];
}

function inputOf(model: DocumentModel, verb: DocumentVerb, spec: Code): InputModel {
  const typeName = `${pascalCase(`${model.name}.${verb}`)}Input`;
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
    read: "parts" as const,
  });
  switch (verb) {
    case "create":
      return bodyInput(refTo(model.createTypeName), model.createTypeName, "parts");
    case "get":
      return only(idInPath, ...expandParameters(model));
    case "kill":
      return only(idInPath, rev(false));
    case "delete":
    case "restore":
      return only(idInPath, rev(true));
    case "update": {
      const patch = refTo(model.patchTypeName);
      return {
        schema: objectSchema({ id: uuidSchema, rev: revisionSchema, patch }, [
          "id",
          "rev",
          "patch",
        ]),
        typeName,
        parameters: [idInPath, rev(true)],
        body: {
          as: { member: "patch" },
          isOptional: false,
          isForm: false,
          schema: patch,
          typeName: model.patchTypeName,
        },
        read: "parts",
      };
    }
    case "agg_list": {
      const names = { ...queryTypeNames(model.name), ...aggregateTypeNames(model.name) };
      const schema = aggregateRequestSchema(queryableFields(model), names, model.listDeleted);
      return bodyInput(schema, typeName, callOf(ofRuntime("aggInput"), spec));
    }
    default: {
      const schema = listRequestSchema(queryTypeNames(model.name), {
        isRaw: verb.startsWith("raw_"),
        byCursor: verb.endsWith("cursor"),
        listDeleted: model.listDeleted,
        expandable: model.expandable,
      });
      return bodyInput(
        schema,
        typeName,
        callOf(ofRuntime(`listing.${own(listings, verb) ?? ""}`), spec),
      );
    }
  }
}

/** What may come along with one document. */
function expandParameters(model: DocumentModel): readonly ParameterModel[] {
  return Object.entries(expandMember(model)).map(([name, schema]) => ({
    name,
    in: "query",
    type: "list",
    required: false,
    schema,
  }));
}

function outputOf(model: DocumentModel, verb: DocumentVerb): OperationModel["output"] {
  const document = refTo(model.typeName);
  switch (verb) {
    case "kill":
      return { schema: null, hasEntityTag: false, isBytes: false };
    case "agg_list":
      return { schema: refTo(aggregatePage.name), hasEntityTag: false, isBytes: false };
    case "get":
      return { schema: refTo(model.readTypeName), hasEntityTag: true, isBytes: false };
    case "create":
    case "delete":
    case "restore":
      return { schema: document, hasEntityTag: true, isBytes: false };
    case "update": {
      const diff = {
        type: "object",
        description: "The new values of what changed.",
        additionalProperties: true,
      };
      return {
        schema: objectSchema({ data: document, diff }, ["data", "diff"]),
        hasEntityTag: true,
        isBytes: false,
      };
    }
    case "raw_list":
      return { schema: refTo(rawPages.byNumber.name), hasEntityTag: false, isBytes: false };
    case "raw_list_cursor":
      return { schema: refTo(rawPages.byCursor.name), hasEntityTag: false, isBytes: false };
    case "list":
    case "list_cursor":
      return {
        schema: pageSchema(refTo(model.readTypeName), verb === "list_cursor"),
        hasEntityTag: false,
        isBytes: false,
      };
  }
}
