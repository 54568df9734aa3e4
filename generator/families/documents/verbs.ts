// The operations of a document: verbs, routes in both styles, inputs and outputs (service.md "Document routes").
import type { DocumentDeclaration } from "./format.js";
import { own } from "../../model/records.js";
import { objectSchema, refTo, revisionSchema, uuidSchema } from "../../model/json-schema.js";
import { callOf, ofGenerated, ofRuntime, type Code } from "../../model/code.js";
import { camelCase, pascalCase, specName, summaryOf } from "../../model/names.js";
import type { DocumentModel, SetModel, ToldMembers } from "../../model/document-model.js";
import { documentOf } from "../../model/views.js";
import {
  bodyInput,
  type DocumentVerb,
  type HistoryVerb,
  type InputModel,
  type OperationModel,
  type ParameterModel,
} from "../../model/registry.js";
import { idInPath } from "../../kernel/built-in.js";
import {
  deletedListInput,
  historyOutput,
  historyParameters,
  historyVerbs,
} from "./history-verbs.js";
import { queryTypeNames } from "./query-types.js";
import {
  deadlineOf,
  deprecationOf,
  extensionsOf,
  type FamilyContext,
  type UnmountedOperation,
} from "../../kernel/family.js";
import { guardText, hookChain, requiresAuthn } from "../../kernel/guards.js";
import { aggregatePage, aggregateRequestSchema, aggregateTypeNames } from "./aggregate-schemas.js";
import { queryableFields } from "../../model/query-fields.js";
import { bulkRequestSchema, matchedSchema, outcomesSchema } from "./bulk-schemas.js";
import { guardsOf, operationName, reading } from "./guard.js";
import { hooksOfVerb, twinArguments, writtenBy } from "./twin-hooks.js";
import { profilesAsked } from "./set.js";
import { listings, ofOneVersion, summaries, verbs } from "./verb-table.js";
import { expandMember, listRequestSchema, pageSchema, rawPages } from "./query-schemas.js";

/** What goes on with a document that was created. */
const followers: readonly DocumentVerb[] = ["get", "update", "delete", "kill"];

/** One operation of a document, or of a view of it. */
export function expandVerb(
  context: FamilyContext,
  model: DocumentModel,
  declaration: DocumentDeclaration,
  verb: DocumentVerb,
): UnmountedOperation {
  const shape = verbs[verb];
  const { view } = model;
  const document = documentOf(model.name);
  const name = operationName(verb, view);
  const isRead = reading.includes(verb);
  const own = declaration.hooks?.[name];
  const tree = context.tree;
  const guards = guardsOf(tree, document, declaration, verb, view);
  const hooks = hookChain(
    context,
    guards,
    document,
    own === undefined
      ? undefined
      : { hooks: own, at: tree.at("documents", document, "hooks", name) },
  );
  const spec = ofGenerated(`documents/${document}`, specName(model.name));
  const each = writtenBy(verb, model.softDelete).flatMap((of) =>
    hooksOfVerb(context, document, declaration, of).map((hook) => ({ of, ...hook })),
  );
  const operation: OperationModel = {
    key: `${document}.${name}`,
    namespace: document,
    name,
    family: "documents",
    source: model.source,
    summary: `${summaryOf(summaries[verb], document)}${view === null ? "" : ` (${view.name})`}`,
    description: null,
    input: inputOf(model, verb, spec),
    output: outputOf(model, verb),
    guard: guardText(guards),
    hooks,
    eachHooks: each.map(({ of, id, phase }) => ({ of, id, phase })),
    deadlineSeconds: deadlineOf(context, declaration.deadline),
    transaction: isRead ? "read" : "write",
    idempotencyKey: declaration.idempotency?.includes(name) ?? false,
    // The version is that of the whole, which a view says nothing of.
    isConditional: view === null && ofOneVersion.includes(verb),
    tokens: null,
    leadsTo: verb === "create" ? followers : [],
    isSensitive: model.sensitive,
    deprecated: deprecationOf(context, declaration.deprecated?.[name], [
      "documents",
      document,
      "deprecated",
      name,
    ]),
    requiresAuthn: requiresAuthn(hooks),
    ignoresCredentials: false,
    route: null,
    audit: null,
    run: runOf(model, verb, spec),
    effect: isRead ? "reads" : adding.includes(verb) ? "adds" : "changes",
    isTool: true,
    declares: "nothing",
    lists: shape.asks === undefined ? null : document,
    queries: shape.asks === "query" ? model.name : null,
    adds: growing.includes(verb) ? document : null,
    errors: [
      ...shape.errors,
      ...historyErrors(model, verb),
      ...uniqueErrors(context, model, verb),
      ...setErrors(model, verb),
      ...each.flatMap(({ errors }) => errors),
    ],
    extensions: extensionsOf(declaration),
  };
  return {
    operation,
    routes: routesOf(verb, view),
    status: shape.status ?? 200,
    at: tree.keyAt("documents", document, ...(view === null ? [] : ["views", view.name])),
  };
}

/** The routes of a verb in both styles; those of a view are below it. */
function routesOf(verb: DocumentVerb, view: ToldMembers | null): UnmountedOperation["routes"] {
  const { rest, rpc } = verbs[verb];
  if (view === null)
    return { rest: { method: rest[0], path: rest[1] }, rpc: { method: rpc[0], path: rpc[1] } };
  return {
    rest: { method: rest[0], path: `/views/${view.name}${rest[1]}` },
    rpc: { method: rpc[0], path: `/${operationName(verb, view)}` },
  };
}

/** Verbs whose repetition adds once more. */
const adding: readonly DocumentVerb[] = ["create", "create_many"];

/** Verbs that may add documents. */
const growing: readonly DocumentVerb[] = [...adding, "upsert"];

/** What runs a verb. */
function runOf(model: DocumentModel, verb: DocumentVerb, spec: Code): Code {
  const twins = twinArguments(model, verb);
  if (verb === "agg_list") return callOf(ofRuntime("aggList"), spec);
  const name = own(manyOf, verb);
  const family = Object.hasOwn(historyVerbs, verb) ? "history" : "documents";
  if (name === undefined) return callOf(ofRuntime(`${family}.${camelCase(verb)}`), spec, ...twins);
  const max = verb.endsWith("where") ? [{ literal: model.bulk ?? 0 }] : [];
  return callOf(ofRuntime(`bulk.${name}`), spec, ...max, ...twins);
}

/** What runs them, and reads their inputs, by its name in the runtime. */
const manyOf: Partial<Record<DocumentVerb, string>> = {
  upsert: "upsert",
  create_many: "create",
  update_many: "update",
  delete_many: "delete",
  update_where: "updateWhere",
  delete_where: "deleteWhere",
};

/** Whether it is about what documents were, which `history-verbs.ts` describes; lists of what is deleted are lists. */
function isOfHistory(verb: DocumentVerb): verb is Exclude<HistoryVerb, "list_deleted"> {
  return verb !== "list_deleted" && Object.hasOwn(historyVerbs, verb);
}

/** Verbs that may give a document what another one has. */
const occupying: readonly DocumentVerb[] = ["create", "update", "restore", "upsert", "revert"];

/** A rule that is no longer declared holds until it is purged. */
function uniqueErrors(
  { stored }: FamilyContext,
  { unique, table }: DocumentModel,
  verb: DocumentVerb,
): readonly string[] {
  const { indexes = {} } = own(stored.tables, table) ?? {};
  const isHeld = unique.length > 0 || Object.values(indexes).some((index) => index.unique);
  return isHeld && occupying.includes(verb) ? ["unique_violation"] : [];
}

/** Verbs that write what the service sets, by when it is set. */
const setting: Readonly<Record<SetModel["on"], readonly DocumentVerb[]>> = {
  create: ["create", "upsert"],
  write: ["create", "upsert", "update", "revert"],
};

function setErrors(model: DocumentModel, verb: DocumentVerb): readonly string[] {
  return profilesAsked(model).some(({ on }) => setting[on].includes(verb))
    ? ["profile_required"]
    : [];
}

function historyErrors(model: DocumentModel, verb: DocumentVerb): readonly string[] {
  if (verb === "revert" && model.softDelete) return ["document_deleted"];
  if (verb !== "update") return [];
  return [
    ...(model.history === 0 ? [] : ["historical_consistency_violation", "history_not_found_retry"]),
    ...(model.softDelete ? ["document_deleted"] : []),
  ];
}

function inputOf(model: DocumentModel, verb: DocumentVerb, spec: Code): InputModel {
  const typeName = `${pascalCase(`${model.name}.${verb}`)}Input`;
  const reader = own(manyOf, verb);
  if (reader !== undefined) {
    // Items are as many as the registry says; what filters find is counted as it is found.
    const given: Code = verb.endsWith("_many") ? { literal: model.bulk ?? 0 } : spec;
    const read = callOf(ofRuntime(`bulkInput.${reader}`), given);
    return bodyInput(bulkRequestSchema(model, verb), typeName, read);
  }
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
  if (isOfHistory(verb)) return only(...historyParameters(verb));
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
    case "list_deleted":
      return deletedListInput(model, typeName, spec);
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
  if (isOfHistory(verb)) return historyOutput(model, verb);
  switch (verb) {
    case "kill":
      return { schema: null, hasEntityTag: false, isBytes: false };
    case "upsert": {
      const created = { type: "boolean", description: "Whether it was not there before." };
      return {
        schema: objectSchema({ data: document, created }, ["data", "created"]),
        hasEntityTag: true,
        isBytes: false,
      };
    }
    case "create_many":
    case "update_many":
    case "delete_many":
      return { schema: outcomesSchema(model.typeName), hasEntityTag: false, isBytes: false };
    case "update_where":
    case "delete_where":
      return { schema: matchedSchema, hasEntityTag: false, isBytes: false };
    case "agg_list":
      return { schema: refTo(aggregatePage.name), hasEntityTag: false, isBytes: false };
    case "get":
      return {
        schema: refTo(model.readTypeName),
        hasEntityTag: model.view === null,
        isBytes: false,
      };
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
    case "list_deleted":
      return { schema: pageSchema(document, true), hasEntityTag: false, isBytes: false };
    case "list":
    case "list_cursor":
      return {
        schema: pageSchema(refTo(model.readTypeName), verb === "list_cursor"),
        hasEntityTag: false,
        isBytes: false,
      };
  }
}
