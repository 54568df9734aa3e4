// openapi.json: OpenAPI 3.1 of every operation with a route, error responses included.
import type { StatesModel } from "../model/document-model.js";
import { isDeepStrictEqual } from "node:util";
import type { FieldType } from "../../runtime/contract/fields.js";
import { idempotencyKeyPattern } from "../../runtime/contract/limits.js";
import { operatorsOf } from "../../runtime/contract/query-operators.js";
import { idInPath } from "../kernel/built-in.js";
import { deprecationFacts, deprecationText } from "../model/deprecation.js";
import { queryableFields, queryExtension } from "../model/query-fields.js";
import { readBy } from "../model/views.js";
import { own, sortedRecord } from "../model/records.js";
import type {
  BodyModel,
  OperationModel,
  ParameterModel,
  RegistryModel,
} from "../model/registry.js";
import { errorGroups, groupedCodesOf, ownCodesOf } from "../model/error-codes.js";
import { documentFile, type EmittedFile } from "../print/file.js";
import { publishedTypes } from "./published-types.js";
import { publishSchema } from "./published-schema.js";
import { envelopeSchema, referToError } from "./openapi-errors.js";
import { exampleOf } from "./openapi-examples.js";
import { linksOf } from "./openapi-links.js";
import { readHeaders } from "./openapi-replies.js";
import { everyAnswersHeaders } from "./openapi-headers.js";
import { responsesOf } from "./openapi-responses.js";
import { securitySchemes, sessionSchemes } from "../print/security-schemes.js";
import { SharedComponents } from "./shared-components.js";

/** The document. `others` are operations that the service answers outside its table of routes. */
export function emitOpenApi(
  model: RegistryModel,
  others: readonly OperationModel[] = [],
): EmittedFile {
  const { service } = model;
  const attached = [
    ...Object.values(model.operations).filter(({ route }) => route !== null),
    ...others,
  ];
  const types = Object.entries(publishedTypes(model)).map(
    ([name, schema]) => [name, publishSchema(schema)] as const,
  );
  const envelope = ["ErrorEnvelope", envelopeSchema()] as const;
  const components = new SharedComponents(
    new Map([...types, ...(service.errors === null ? [envelope] : [])]),
  );
  const paths: Record<string, Record<string, unknown>> = {};
  const schemes = model.identity === null ? {} : securitySchemes(model.identity);
  const anyCredential = Object.keys(schemes);
  const sessions = model.identity === null ? [] : sessionSchemes(model.identity);
  for (const operation of attached) {
    const { route } = operation;
    if (route === null) continue;
    const methods = (paths[documentedPath(route.path)] ??= {});
    const isTold = model.identity?.undocumented.includes(operation.key) !== true;
    methods[route.method.toLowerCase()] = operationObject(
      model,
      operation,
      (!isTold ? [] : needsSession(operation) ? sessions : anyCredential).map((name) => ({
        [name]: [],
      })),
      queryMember(model, operation, components),
      components,
      linksOf(operation, model),
      exampleMember(operation, model),
    );
  }
  const everyAnswer = everyAnswersHeaders(components);
  const document = {
    openapi: "3.1.0",
    info: {
      title: service.title,
      version: service.version,
      ...(service.description === null ? {} : { description: service.description }),
      ...(service.contact === null ? {} : { contact: service.contact }),
      ...(service.license === null ? {} : { license: service.license }),
    },
    servers: [{ url: "/", description: "This service" }],
    security: [],
    tags: [...new Set(attached.map(({ namespace }) => namespace))].sort().map((name) => ({
      name,
      description: own(model.namespaces, name) ?? `Operations of ${name}.`,
      ...statesMember(own(model.documents, name)?.states),
    })),
    paths: sortedRecord(Object.entries(paths)),
    components: {
      ...components.all(),
      ...(model.identity === null ? {} : { securitySchemes: schemes }),
    },
    // OpenAPI can only say of each response what is true of all.
    "x-headers-of-every-answer": everyAnswer,
    ...service.extensions,
  };
  return documentFile("openapi.json", document);
}

/** The states of documents, for whoever calls and for pages that draw them. */
function statesMember(states: StatesModel | null | undefined): object {
  if (states === null || states === undefined) return {};
  const { field, initial } = states;
  const moves = states.moves.map(({ from, to, by }) => ({
    from,
    to,
    ...(by === null ? {} : { by }),
  }));
  return { "x-states": { field, initial, moves } };
}

/** Whether an API key is refused whatever its principal may do. */
function needsSession({ hooks }: OperationModel): boolean {
  return hooks.some(({ provides }) =>
    ["authn.session", "authn.any_session"].some((fact) => provides.includes(fact)),
  );
}

/** An example of the body; none for a form, which needs a file. */
function exampleMember({ input: { body } }: OperationModel, { types }: RegistryModel): object {
  const example =
    body === null || body.isForm || body.media === "*/*"
      ? undefined
      : exampleOf(body.schema, types);
  return example === undefined ? {} : { example };
}

/**
 * OpenAPI has no placeholder for the rest of a path, so the parameter's description explains it.
 */
function documentedPath(path: string): string {
  return path.replace("{+", "{");
}

/** The extension `x-query` of a list: what queries can do with each field. */
function queryMember(
  { documents }: RegistryModel,
  { queries }: OperationModel,
  components: SharedComponents,
): object {
  const document = readBy(documents, queries ?? "");
  if (document === undefined) return {};
  const operators = (type: FieldType): object =>
    components.refer("x-query-operators", type.replace("[]", "-array"), () => operatorsOf(type));
  const query = (): object =>
    queryExtension(queryableFields(document), document.elements, operators);
  return { "x-query": components.refer("x-query", document.name, query) };
}

/**
 * The codes of an operation: a reference to those of its groups, which many operations share, then
 * its own.
 */
function errorCodesMember(
  operation: OperationModel,
  components: SharedComponents,
): readonly (object | string)[] {
  const { groups, own } = groupedCodesOf(operation);
  const shared = components.refer("x-error-codes", groups.join("."), () => [
    ...new Set(groups.flatMap((group) => errorGroups[group])),
  ]);
  return [shared, ...own];
}

function operationObject(
  model: RegistryModel,
  operation: OperationModel,
  security: readonly object[],
  query: object,
  components: SharedComponents,
  links: object,
  example: object,
): unknown {
  const { input, deadlineSeconds } = operation;
  for (const code of ownCodesOf(operation)) referToError(code, model, components);
  const budget = deadlineSeconds === null ? [] : [`Time budget: ${deadlineSeconds} s.`];
  const { deprecated } = operation;
  const end = deprecated === null ? [] : [deprecationText(deprecated)];
  const description = [operation.description, ...end, ...budget]
    .filter((part) => part !== null)
    .join("\n\n");
  return {
    operationId: operation.key,
    tags: [operation.namespace],
    summary: operation.summary,
    ...(description === "" ? {} : { description }),
    ...(deprecated === null
      ? {}
      : { deprecated: true, "x-deprecated": deprecationFacts(deprecated) }),
    ...parametersMember(operation, components),
    ...(input.body === null
      ? {}
      : {
          requestBody: {
            required: !input.body.isOptional,
            content: {
              [mediaOf(input.body)]: {
                schema: components.schema(input.body.typeName, publishSchema(input.body.schema)),
                ...example,
              },
            },
          },
        }),
    responses: responsesOf(operation, model, components, links),
    ...(deadlineSeconds === null ? {} : { "x-deadline-seconds": deadlineSeconds }),
    ...(operation.idempotencyKey ? { "x-supports-idempotency-key": true } : {}),
    ...(operation.requiresAuthn && security.length > 0
      ? { security, "x-requires-authn": true, ...permissionsMember(operation) }
      : {}),
    ...query,
    "x-error-codes": errorCodesMember(operation, components),
    ...operation.extensions,
  };
}

function mediaOf({ isForm, media }: BodyModel): string {
  return media ?? (isForm ? "multipart/form-data" : "application/json");
}

function permissionsMember({ hooks }: OperationModel): object {
  const permissions = hooks.flatMap(({ permission }) => permission ?? []);
  return permissions.length === 0 ? {} : { "x-required-permissions": permissions };
}

function parametersMember(
  operation: OperationModel,
  components: SharedComponents,
): { readonly parameters?: readonly unknown[] } {
  const shared = (name: string, parameter: object): unknown =>
    components.refer("parameters", name, () => parameter);
  const parameters: unknown[] = operation.input.parameters.flatMap((parameter) => {
    if (parameter.in === "revision") return revisionParameters(parameter, components);
    const isId = isDeepStrictEqual(parameter, idInPath);
    return [isId ? shared("Id", urlParameter(parameter)) : urlParameter(parameter)];
  });
  parameters.push(...readHeaders(operation.route?.reply ?? null));
  for (const name of conditionsOf(operation))
    parameters.push(
      shared(
        name.replaceAll("-", ""),
        headerParameter(name, descriptionOf(name), { type: "string" }),
      ),
    );
  if (operation.idempotencyKey) {
    const schema = { type: "string", pattern: idempotencyKeyPattern };
    const description =
      "1 to 255 visible ASCII characters. For 24 hours the same key with the same arguments answers what the first request did, with Idempotency-Replayed; with others it is 422, while the first still runs 409. Answers of 5xx are not kept.";
    parameters.push(
      shared("IdempotencyKey", headerParameter("Idempotency-Key", description, schema)),
    );
  }
  return parameters.length === 0 ? {} : { parameters };
}

/**
 * A weak tag counts here, because this service and proxies weaken tags where they compress
 * (decisions.md §1 "Documents").
 */
const weakTags = "A weak tag counts as the strong one of its version.";

function descriptionOf(condition: string): string {
  return condition === "If-Match" ? `As RFC 9110 has it, but: ${weakTags}` : "As RFC 9110 has it.";
}

/**
 * The headers that an operation evaluates (RFC 9110 §13, §14), except an If-Match that its revision
 * parameter documents.
 */
function conditionsOf({ isConditional, input, output, route }: OperationModel): readonly string[] {
  if (!isConditional) return [];
  const hasRevision = input.parameters.some(({ in: place }) => place === "revision");
  const isRead = route?.method === "GET" || route?.method === "HEAD";
  return [
    ...(hasRevision ? [] : ["If-Match"]),
    "If-None-Match",
    ...(isRead ? ["If-Modified-Since"] : []),
    "If-Unmodified-Since",
    ...(output.isBytes && route?.method === "GET" ? ["If-Range", "Range"] : []),
  ];
}

function urlParameter(parameter: ParameterModel): object {
  return {
    name: parameter.name,
    in: parameter.in,
    required: parameter.required,
    ...(parameter.type === "list" ? { style: "form", explode: false } : {}),
    schema: publishSchema(parameter.schema),
  };
}

function revisionParameters(
  parameter: ParameterModel,
  components: SharedComponents,
): readonly unknown[] {
  const need = parameter.required
    ? "One of rev and If-Match is needed."
    : "Checked where it is given.";
  const prefix = parameter.required ? "Needed" : "";
  const rev = {
    name: "rev",
    in: "query",
    required: false,
    description: `The expected revision. ${need}`,
    schema: publishSchema(parameter.schema),
  };
  const description = `Entity tags of which one is that of the document, or 412. ${weakTags} ${need}`;
  const ifMatch = headerParameter("If-Match", description, { type: "string" });
  return [
    components.refer("parameters", `${prefix}Rev`, () => rev),
    components.refer("parameters", `${prefix === "" ? "Optional" : prefix}IfMatch`, () => ifMatch),
  ];
}

function headerParameter(name: string, description: string, schema: unknown): object {
  return { name, in: "header", required: false, description, schema };
}
