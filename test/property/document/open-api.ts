// An OpenAPI document as tests read it: its operations, what they refer to, and its schemas as validators.
import { Ajv2020 } from "ajv/dist/2020.js";
import { formats } from "../../../runtime/contract/validation.js";

export type Json = null | boolean | number | string | Json[] | { [name: string]: Json };

/** The keywords of JSON Schema that documents use. */
export type Schema =
  | boolean
  | {
      readonly $ref?: string;
      readonly type?: string | readonly string[];
      readonly const?: Json;
      readonly enum?: readonly Json[];
      readonly anyOf?: readonly Schema[];
      readonly oneOf?: readonly Schema[];
      readonly allOf?: readonly Schema[];
      readonly properties?: Readonly<Record<string, Schema>>;
      readonly required?: readonly string[];
      readonly additionalProperties?: Schema;
      readonly propertyNames?: Schema;
      readonly minProperties?: number;
      readonly maxProperties?: number;
      readonly items?: Schema;
      readonly minItems?: number;
      readonly maxItems?: number;
      readonly uniqueItems?: boolean;
      readonly minLength?: number;
      readonly maxLength?: number;
      readonly pattern?: string;
      readonly format?: string;
      readonly minimum?: number;
      readonly maximum?: number;
      readonly exclusiveMinimum?: number;
      readonly exclusiveMaximum?: number;
      readonly multipleOf?: number;
    };

export interface Parameter {
  readonly name: string;
  readonly in: "path" | "query" | "header";
  readonly required: boolean;
  readonly schema: Schema;
}

type Content = Readonly<Record<string, { readonly schema?: Schema }>>;

interface Response {
  readonly content?: Content;
}

export interface Operation {
  readonly key: string;
  readonly namespace: string;
  readonly method: string;
  readonly path: string;
  readonly parameters: readonly Parameter[];
  readonly body: {
    readonly required: boolean;
    readonly type: string;
    readonly schema: Schema;
  } | null;
  /** Answers by status. */
  readonly responses: Readonly<Record<string, Response>>;
  readonly codes: readonly string[];
}

type Referred<Part> = Part | { readonly $ref: string };

interface OperationObject {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly parameters?: readonly Referred<Parameter>[];
  readonly requestBody?: { readonly required: boolean; readonly content: Content };
  readonly responses: Readonly<Record<string, Referred<Response>>>;
  readonly "x-error-codes": readonly Referred<string | readonly string[]>[];
}

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, OperationObject>>>>;
}

export class OpenApiDocument {
  readonly operations: readonly Operation[];
  readonly #root: unknown;
  readonly #ajv = new Ajv2020({
    strict: false,
    formats: { ...formats, binary: true },
    validateFormats: true,
  });
  readonly #checks = new Map<Schema, (value: unknown) => boolean>();

  constructor(root: unknown) {
    this.#root = root;
    this.#ajv.addSchema(root as object, "openapi");
    this.operations = Object.entries((root as Document).paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) =>
        this.#operation(path, method, operation),
      ),
    );
  }

  /** A part of the document by its reference. Fails where that leads nowhere. */
  resolve<Part>(reference: string): Part {
    const value = reference
      .slice(2)
      .split("/")
      .map((step) => step.replaceAll("~1", "/").replaceAll("~0", "~"))
      .reduce<unknown>((at, step) => (at as Readonly<Record<string, unknown>>)[step], this.#root);
    if (value === undefined) throw new Error(`${reference} leads nowhere`);
    return value as Part;
  }

  /** Whether the document calls a value one of a schema. */
  isValid(schema: Schema, value: unknown): boolean {
    const known = this.#checks.get(schema);
    if (known !== undefined) return known(value);
    const check = this.#ajv.compile(withDocument(schema) as object | boolean);
    this.#checks.set(schema, check);
    return check(value);
  }

  #operation(path: string, method: string, operation: OperationObject): Operation {
    const { requestBody, parameters = [], responses } = operation;
    const [type, media] = Object.entries(requestBody?.content ?? {})[0] ?? [];
    return {
      key: operation.operationId,
      namespace: operation.tags[0] ?? "",
      method: method.toUpperCase(),
      path,
      parameters: parameters.map((parameter) => this.#referred(parameter)),
      body:
        requestBody === undefined
          ? null
          : { required: requestBody.required, type: type ?? "", schema: media?.schema ?? true },
      responses: Object.fromEntries(
        Object.entries(responses).map(([status, response]) => [status, this.#referred(response)]),
      ),
      codes: operation["x-error-codes"].flatMap((code) => this.#referred(code)),
    };
  }

  #referred<Part>(part: Referred<Part>): Part {
    return typeof part === "object" && part !== null && "$ref" in part
      ? this.resolve<Part>(part.$ref)
      : part;
  }
}

/** A schema whose references name the document, so that it is one by itself. */
function withDocument(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(withDocument);
  if (typeof schema !== "object" || schema === null) return schema;
  return Object.fromEntries(
    Object.entries(schema).map(([name, value]) => [
      name,
      name === "$ref" && typeof value === "string" ? `openapi${value}` : withDocument(value),
    ]),
  );
}
