// The OpenAPI document, as far as pages read it, and what its references lead to.

export interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly format?: string;
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Schema | boolean>>;
  readonly required?: readonly string[];
  readonly items?: Schema | boolean;
  readonly additionalProperties?: Schema | boolean;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly default?: unknown;
  readonly examples?: readonly unknown[];
  readonly anyOf?: readonly (Schema | boolean)[];
  readonly oneOf?: readonly (Schema | boolean)[];
  readonly allOf?: readonly (Schema | boolean)[];
  /** Members that only some may see, with the policies that show them. */
  readonly "x-visible"?: Readonly<Record<string, readonly string[]>>;
  readonly [keyword: string]: unknown;
}

export interface Parameter {
  readonly name: string;
  /** `form` is a part of a form beside its file; OpenAPI has it among the members of the body. */
  readonly in: "path" | "query" | "header" | "cookie" | "form";
  readonly required?: boolean;
  readonly description?: string;
  readonly schema?: Schema;
  readonly example?: unknown;
}

export interface Media {
  readonly schema?: Schema;
  readonly example?: unknown;
}

export interface Body {
  readonly required?: boolean;
  readonly description?: string;
  readonly content?: Readonly<Record<string, Media>>;
}

export interface Response {
  readonly description: string;
  readonly headers?: Readonly<Record<string, unknown>>;
  /** The codes of all errors with this status. */
  readonly "x-error-codes"?: readonly string[];
  readonly content?: Readonly<Record<string, Media>>;
}

export interface OperationObject {
  readonly operationId?: string;
  readonly tags?: readonly string[];
  readonly summary?: string;
  readonly description?: string;
  readonly deprecated?: boolean;
  readonly parameters?: readonly (Parameter | { readonly $ref: string })[];
  readonly requestBody?: Body | { readonly $ref: string };
  readonly responses?: Readonly<Record<string, Response | { readonly $ref: string }>>;
  readonly "x-deadline-seconds"?: number;
  readonly "x-requires-authn"?: boolean;
  readonly "x-required-permissions"?: readonly string[];
  readonly "x-supports-idempotency-key"?: boolean;
  readonly "x-error-codes"?: readonly (string | { readonly $ref: string })[];
}

/** Which values of a field follow each other, and whom a move takes. */
export interface StatesFacts {
  readonly field: string;
  readonly initial: readonly string[];
  readonly moves: readonly { readonly from: string; readonly to: string; readonly by?: string }[];
}

export interface Tag {
  readonly name: string;
  readonly description?: string;
  readonly "x-states"?: StatesFacts;
}

export interface OpenApi {
  readonly info: {
    readonly title: string;
    readonly version: string;
    readonly description?: string;
  };
  readonly tags?: readonly Tag[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, OperationObject>>>>;
  readonly components?: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

/** What a value or a reference to one stands for. */
export function resolveReference<T extends object>(
  document: OpenApi,
  given: T | { readonly $ref: string },
): T {
  if (!("$ref" in given) || typeof given.$ref !== "string") return given as T;
  const steps = given.$ref.slice(2).split("/");
  const found = steps
    .map((step) => step.replaceAll("~1", "/").replaceAll("~0", "~"))
    .reduce<unknown>((part, step) => (part as Record<string, unknown>)[step], document);
  return resolveReference(document, found as T);
}

/** The name of the component that a schema refers to. */
export function referredName(schema: Schema | boolean | undefined): string | undefined {
  if (typeof schema !== "object" || schema.$ref === undefined) return undefined;
  return schema.$ref.split("/").at(-1);
}
