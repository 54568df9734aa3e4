// openapi.json: OpenAPI 3.1 of every attached operation, error answers included.
import type { OpenAPIV3_1 } from "openapi-types";
import { errorKinds, errors, type ErrorCode } from "../../runtime/contract/errors.js";
import { idempotencyKeyPattern } from "../../runtime/contract/limits.js";
import { authoredIn } from "../model/code.js";
import { mapSchema, objectSchema, referredType, type JsonSchema } from "../model/json-schema.js";
import { queryableFields, queryExtension } from "../model/query-fields.js";
import { own } from "../model/records.js";
import { pascalCase } from "../model/names.js";
import type {
  IdentityModel,
  OperationModel,
  ParameterModel,
  RegistryModel,
} from "../model/registry.js";
import { jsonFile, type EmittedFile } from "../print/file.js";

type Schema = OpenAPIV3_1.SchemaObject;

const always: readonly ErrorCode[] = [
  "http_malformed",
  "deadline_malformed",
  "core.internal",
  "core.infrastructure",
  "core.unavailable",
  "service_draining",
  "deadline_exceeded",
];

const ofParameters: readonly ErrorCode[] = [
  "path_malformed",
  "parameter_malformed",
  "core.validation",
];

/** Codes of everything that takes a JSON body. */
export const ofBody: readonly ErrorCode[] = [
  "json_malformed",
  "json_duplicate_key",
  "json_too_deep",
  "json_too_complex",
  "number_not_exact",
  "body_too_large",
  "media_type_unsupported",
  "core.validation",
];

const ofIdempotency: readonly ErrorCode[] = [
  "idempotency_key_malformed",
  "idempotency_key_reused",
  "idempotency_in_flight",
];

/** Every code that an operation may answer with. */
export function errorCodesOf(operation: OperationModel): readonly ErrorCode[] {
  const hasRevision = operation.input.parameters.some(({ in: place }) => place === "revision");
  const codes = new Set<string>([
    ...always,
    ...ofParameters,
    ...(hasRevision ? ["header_malformed"] : []),
    ...(operation.input.body === null || operation.input.body.isForm ? [] : ofBody),
    ...(operation.idempotencyKey ? ofIdempotency : []),
    ...(authoredIn(operation.run).length > 0 ? Object.keys(errors).filter(isAuthorCode) : []),
    ...operation.hooks.flatMap((hook) => hook.errors),
    ...operation.errors,
  ]);
  return (Object.keys(errors) as ErrorCode[]).filter((code) => codes.has(code));
}

/** Codes that a handler of the author's may throw. */
function isAuthorCode(code: string): boolean {
  return (
    /^core\.(?:malformed|domain|not_found|validation|conflict|concurrency|precondition)$/.test(
      code,
    ) || /^(?:revision_|document_|history|historical)/.test(code)
  );
}

export function emitOpenApi(model: RegistryModel): EmittedFile {
  const { service } = model;
  const attached = Object.values(model.operations).filter(({ route }) => route !== null);
  const paths: Record<string, Record<string, unknown>> = {};
  const schemes = model.identity === null ? [] : securitySchemes(model.identity);
  const security = schemes.map(([name]) => ({ [name]: [] }));
  for (const operation of attached) {
    const { route } = operation;
    if (route === null) continue;
    const methods = (paths[documentedPath(route.path)] ??= {});
    const isTold = model.identity?.undocumented.includes(operation.key) !== true;
    methods[route.method.toLowerCase()] = operationObject(
      operation,
      isTold ? security : [],
      queryMember(model, operation),
    );
  }
  const statuses = new Set(
    attached.flatMap((operation) => errorCodesOf(operation).map((code) => errors[code].status)),
  );
  const document = {
    openapi: "3.1.0",
    info: {
      title: service.title,
      version: service.version,
      ...(service.description === null ? {} : { description: service.description }),
    },
    servers: [{ url: "/", description: "This service" }],
    security: [],
    tags: [...new Set(attached.map(({ namespace }) => namespace))].sort().map((name) => ({ name })),
    paths: Object.fromEntries(Object.entries(paths).sort(([a], [b]) => (a < b ? -1 : 1))),
    components: {
      schemas: componentSchemas(model),
      responses: Object.fromEntries(
        [...statuses].sort().map((status) => [`Error${status}`, errorResponse(status)]),
      ),
      ...(model.identity === null
        ? {}
        : { securitySchemes: Object.fromEntries(securitySchemes(model.identity)) }),
      headers: {
        ErrorCode: {
          description: "The code of the error, as in the body.",
          schema: { type: "string" },
        },
      },
    },
    ...service.extensions,
  };
  return jsonFile("openapi.json", document);
}

/** OpenAPI has no placeholder for the rest of a path: the parameter's description says that it is. */
function documentedPath(path: string): string {
  return path.replace("{+", "{");
}

/** A schema with references to components. */
function published(schema: JsonSchema): Schema {
  return mapSchema(schema, (inner) => {
    const type = referredType(inner);
    return type === undefined ? inner : { ...inner, $ref: `#/components/schemas/${type}` };
  }) as Schema;
}

function componentSchemas(model: RegistryModel): Readonly<Record<string, Schema>> {
  const schemas = Object.entries(model.types).map(
    ([name, schema]) => [name, published(schema)] as const,
  );
  return Object.fromEntries(
    [...schemas, ["ErrorEnvelope", envelopeSchema()] as const].sort(([a], [b]) => (a < b ? -1 : 1)),
  );
}

function envelopeSchema(): Schema {
  return {
    ...objectSchema(
      {
        detail: { type: "string" },
        code: { type: "string" },
        kind: { type: "string", enum: Object.keys(errorKinds) },
        context: { type: "object", additionalProperties: true },
      },
      ["detail", "code", "kind", "context"],
    ),
    description: "The body of every error.",
  } as Schema;
}

function errorResponse(status: number): unknown {
  const codes = (Object.keys(errors) as ErrorCode[]).filter(
    (code) => errors[code].status === status,
  );
  return {
    description: `One of: ${codes.join(", ")}.`,
    headers: { "X-Error-Code": { $ref: "#/components/headers/ErrorCode" } },
    content: { "application/json": { schema: { $ref: "#/components/schemas/ErrorEnvelope" } } },
  };
}

/** One scheme an ingress, by its name (service.md "Documenting authentication in OpenAPI"). */
function securitySchemes({ ingress }: IdentityModel): readonly (readonly [string, object])[] {
  return ingress.map((one) => {
    if (one.kind === "cookie")
      return ["cookie", { type: "apiKey", in: "cookie", name: one.cookie }] as const;
    const { kind, header } = one;
    return kind === "bearer" && header.toLowerCase() === "authorization"
      ? ([kind, { type: "http", scheme: "bearer", bearerFormat: "JWT" }] as const)
      : ([kind, { type: "apiKey", in: "header", name: header }] as const);
  });
}

/** What a list can be asked, field by field. */
function queryMember({ documents }: RegistryModel, { queries }: OperationModel): object {
  const document = own(documents, queries ?? "");
  return document === undefined
    ? {}
    : { "x-query": queryExtension(queryableFields(document), document.elements) };
}

function operationObject(
  operation: OperationModel,
  security: readonly object[],
  query: object,
): unknown {
  const { input, output, route, deadlineSeconds } = operation;
  const statuses = [...new Set(errorCodesOf(operation).map((code) => errors[code].status))].sort();
  const budget = deadlineSeconds === null ? [] : [`Time budget: ${deadlineSeconds} s.`];
  const description = [operation.description, ...budget]
    .filter((part) => part !== null)
    .join("\n\n");
  return {
    operationId: operation.key,
    tags: [operation.namespace],
    summary: operation.summary,
    ...(description === "" ? {} : { description }),
    ...parametersMember(operation),
    ...(input.body === null
      ? {}
      : {
          requestBody: {
            required: !input.body.isOptional,
            content: {
              [input.body.isForm ? "multipart/form-data" : "application/json"]: {
                schema: published(input.body.schema),
              },
            },
          },
        }),
    responses: {
      [String(route?.status ?? 200)]: successResponse(operation),
      ...(output.isBytes && route?.method === "GET"
        ? { "206": { description: "The part that Range asks for.", content: anyBytes } }
        : {}),
      ...(output.isBytes || (output.hasEntityTag && route?.method === "GET")
        ? { "304": { description: "Not changed." } }
        : {}),
      ...Object.fromEntries(
        statuses.map((status) => [
          String(status),
          { $ref: `#/components/responses/Error${status}` },
        ]),
      ),
    },
    ...(deadlineSeconds === null ? {} : { "x-deadline-seconds": deadlineSeconds }),
    ...(operation.idempotencyKey ? { "x-supports-idempotency-key": true } : {}),
    ...(operation.requiresAuthn && security.length > 0
      ? { security, "x-requires-authn": true, ...permissionsMember(operation) }
      : {}),
    ...query,
    "x-error-codes": errorCodesOf(operation),
    ...operation.extensions,
  };
}

function permissionsMember({ hooks }: OperationModel): object {
  const permissions = hooks.flatMap(({ permission }) => permission ?? []);
  return permissions.length === 0 ? {} : { "x-required-permissions": permissions };
}

function parametersMember(operation: OperationModel): { readonly parameters?: readonly unknown[] } {
  const parameters: unknown[] = operation.input.parameters.flatMap((parameter) =>
    parameter.in === "revision" ? revisionParameters(parameter) : [urlParameter(parameter)],
  );
  if (operation.output.hasEntityTag && operation.route?.method === "GET") {
    parameters.push(
      headerParameter("If-None-Match", "Entity tags that the caller has.", { type: "string" }),
    );
  }
  if (operation.output.isBytes) parameters.push(...conditionParameters());
  if (operation.idempotencyKey) {
    const schema = { type: "string", pattern: idempotencyKeyPattern };
    parameters.push(
      headerParameter("Idempotency-Key", "The same key runs the operation once.", schema),
    );
  }
  return parameters.length === 0 ? {} : { parameters };
}

/** Preconditions and ranges of downloads (RFC 9110 §13, §14). */
function conditionParameters(): readonly unknown[] {
  const text = { type: "string" };
  return [
    "If-Match",
    "If-None-Match",
    "If-Modified-Since",
    "If-Unmodified-Since",
    "If-Range",
    "Range",
  ].map((name) => headerParameter(name, "As RFC 9110 has it.", text));
}

const anyBytes = { "*/*": { schema: { type: "string", format: "binary" } } };

function urlParameter(parameter: ParameterModel): unknown {
  return {
    name: parameter.name,
    in: parameter.in,
    required: parameter.required,
    schema: published(parameter.schema),
  };
}

function revisionParameters(parameter: ParameterModel): readonly unknown[] {
  const need = parameter.required
    ? "One of rev and If-Match is needed."
    : "Checked where it is given.";
  return [
    {
      name: "rev",
      in: "query",
      required: false,
      description: `The expected revision. ${need}`,
      schema: published(parameter.schema),
    },
    headerParameter("If-Match", `The entity tag of the expected revision. ${need}`, {
      type: "string",
    }),
  ];
}

function headerParameter(name: string, description: string, schema: unknown): unknown {
  return { name, in: "header", required: false, description, schema };
}

function successResponse(operation: OperationModel): unknown {
  const { schema, hasEntityTag } = operation.output;
  const headers = {
    ...(hasEntityTag
      ? {
          ETag: {
            description: "The revision, as a strong entity tag.",
            schema: { type: "string" },
          },
        }
      : {}),
    ...(operation.idempotencyKey
      ? {
          "Idempotency-Replayed": {
            description: "true where the answer was stored earlier.",
            schema: { type: "string" },
          },
        }
      : {}),
  };
  return {
    description: schema === null ? "Done." : pascalCase(operation.key),
    ...(Object.keys(headers).length === 0 ? {} : { headers }),
    ...(schema === null ? {} : { content: { "application/json": { schema: published(schema) } } }),
    ...(operation.output.isBytes && operation.route?.method === "GET" ? { content: anyBytes } : {}),
  };
}
