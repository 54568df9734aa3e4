// The frozen registry: the one serializable model between the families and every emitter (architecture.md "Build").
import type { DeprecationModel } from "./deprecation.js";
import type { HookPhaseName, RouteStyle } from "./vocabulary.js";
import type { Code, FunctionReference } from "./code.js";
import type { DocumentModel } from "./document-model.js";
import type { IdentityModel } from "./identity-model.js";
import type { JsonSchema } from "./json-schema.js";

export interface ContactModel {
  readonly name?: string;
  readonly url?: string;
  readonly email?: string;
}

/** The license of the API, by SPDX identifier or by URL. */
export interface LicenseModel {
  readonly name: string;
  readonly identifier?: string;
  readonly url?: string;
}

/** What a service promises those who run it: its objectives (SLO). */
export interface ObjectivesModel {
  /** Percent of requests that must not fail with a status of 500 or more. */
  readonly availability: number;
  /** How quickly requests are answered, if anything is promised of that. */
  readonly latency: {
    readonly seconds: number;
    /** Percent of requests that must be as quick. */
    readonly share: number;
    /** Keys of operations of which that isn't asked. */
    readonly except: readonly string[];
  } | null;
}

export interface ServiceModel {
  readonly name: string;
  /** What it was called first, or null. */
  readonly was: string | null;
  readonly title: string;
  readonly version: string;
  readonly description: string | null;
  /** Whom to ask about the API. */
  readonly contact: ContactModel | null;
  readonly license: LicenseModel | null;
  readonly style: RouteStyle;
  readonly transaction: string;
  /** The deadline of operations that declare none. */
  readonly deadlineSeconds: number;
  /** Paths of the probes. */
  readonly probes: { readonly livez: string; readonly readyz: string };
  /** The function that shapes error bodies, and their type; null for opwright's envelope. */
  readonly errors: { readonly envelope: FunctionReference; readonly typeName: string } | null;
  readonly app: FunctionReference | null;
  /** What alerts and the dashboard are printed from, or null. */
  readonly slo: ObjectivesModel | null;
  readonly extensions: Readonly<Record<string, unknown>>;
}

/** One hook of a chain, resolved. */
export interface HookUse {
  /** Unique in a chain: the declared name, file#export, or for a hook of the runtime what it does (`authorize tasks.read`). */
  readonly id: string;
  readonly phase: HookPhaseName;
  readonly run: Code;
  /** Whether the author wrote it; otherwise it is a hook of the runtime, with arguments from the policy. */
  readonly isAuthored: boolean;
  /** Of an author's hook: whether the operation itself names it, and not only a policy. */
  readonly isOwn?: boolean;
  readonly requires: readonly string[];
  readonly provides: readonly string[];
  /** The permission that it requires, or null. */
  readonly permission: string | null;
  /** The name under which grants of it are stored, where it was called otherwise first. */
  readonly stored?: string;
  /** Of a scope: the permissions whose holders it does not restrict. Registries of earlier versions don't say it. */
  readonly override?: readonly string[];
  /** Codes of the error table that a hook of the runtime refuses with. */
  readonly errors: readonly string[];
}

export type ParameterTypeName =
  | "string"
  | "uuid"
  | "key"
  | "integer"
  | "number"
  | "boolean"
  | "list";

export interface ParameterModel {
  readonly name: string;
  /** `revision` travels as `?rev=` or in `If-Match`. */
  readonly in: "path" | "query" | "revision";
  readonly type: ParameterTypeName;
  readonly required: boolean;
  readonly schema: JsonSchema;
}

/** Bodies that aren't JSON: bytes of any type, or the fields of a form without files. */
export type BodyMedia = "*/*" | "application/x-www-form-urlencoded";

/** A body of JSON, which every request has to have; registry.json leaves these values out. */
export const usualBody = {
  isOptional: false,
  isForm: false,
  media: null,
  fields: {},
} as const satisfies Partial<BodyModel>;

export interface BodyModel {
  /** Whether the body is the whole input, its members that are no parameters, or one member. */
  readonly as: "input" | "members" | { readonly member: string };
  readonly schema: JsonSchema;
  /** Whether a request may have no body. */
  readonly isOptional: boolean;
  /** Whether it is a form with a file instead of JSON. */
  readonly isForm: boolean;
  /** What an author's operation takes instead of JSON; null for JSON and for forms with files. */
  readonly media: BodyMedia | null;
  /** The types as which the fields of a form without files are read. */
  readonly fields: Readonly<Record<string, ParameterTypeName>>;
  /** Name of the TypeScript type and the OpenAPI component. */
  readonly typeName: string;
}

export interface InputModel {
  /** The input as one object, for tools and commands. */
  readonly schema: JsonSchema;
  readonly typeName: string;
  readonly parameters: readonly ParameterModel[];
  readonly body: BodyModel | null;
  /**
   * How it is checked: by one validator over the whole input; by one over the body, with parameters read one by one; or by
   * code of the runtime that reads the input itself.
   */
  readonly read: "whole" | "parts" | Code;
}

/** An input that consists of the request body alone. */
export function bodyInput(
  schema: JsonSchema,
  typeName: string,
  read: InputModel["read"],
): InputModel {
  const body: BodyModel = { as: "input", ...usualBody, schema, typeName };
  return { schema, typeName, parameters: [], body, read };
}

export interface OutputModel {
  /** Null if the operation doesn't answer with values. */
  readonly schema: JsonSchema | null;
  readonly hasEntityTag: boolean;
  /** Whether it answers with bytes. */
  readonly isBytes: boolean;
  /**
   * The type of the bytes, or of the rows of a stream; null for stored objects, which say their
   * own, and for JSON.
   */
  readonly mediaType: string | null;
  /** Whether it answers with any number of values of the schema, one after the other. */
  readonly isStream: boolean;
}

/** What a handler may read and set besides input and body. Names of headers are in lower case. */
export interface ReplyDeclaration {
  readonly reads: readonly string[];
  readonly statuses: readonly number[];
  readonly headers: readonly string[];
  readonly cookies: Readonly<
    Record<
      string,
      {
        readonly path: string;
        readonly maxAgeSeconds: number | null;
        readonly sameSite: "lax" | "strict" | "none";
        readonly httpOnly: boolean;
      }
    >
  >;
  readonly redirects: readonly number[];
}

export interface RouteModel {
  readonly method: "GET" | "HEAD" | "POST" | "PUT" | "PATCH" | "DELETE";
  readonly path: string;
  /** Whether it is the root of a mount, which also answers with a trailing slash. */
  readonly isPrefixRoot: boolean;
  readonly status: number;
  /** What its handler reads and sets besides input and body; null for nothing. */
  readonly reply: ReplyDeclaration | null;
}

/**
 * What calling an operation does: `reads` changes nothing; `repeats` has the same effect when called twice; `adds` changes
 * nothing that exists; `changes` changes what exists.
 */
export type Effect = "reads" | "repeats" | "adds" | "changes";

/** Tokens of a person who signs in, those of the same person in a tenant, or the successors of tokens that expire. */
export type TokenUse = "sign_in" | "tenant" | "refresh";

export interface OperationModel {
  readonly key: string;
  readonly namespace: string;
  readonly name: string;
  /** The name of the family that made it. */
  readonly family: string;
  /** The registry file that declares it. */
  readonly source: string;
  readonly summary: string;
  readonly description: string | null;
  readonly input: InputModel;
  readonly output: OutputModel;
  readonly guard: string;
  readonly hooks: readonly HookUse[];
  /** The author's hooks that run here for each document, as in the operation `of` about one. */
  readonly eachHooks: readonly (Pick<HookUse, "id" | "phase"> & { readonly of: string })[];
  /** Null for none: an upload may take as long as its bytes keep coming. */
  readonly deadlineSeconds: number | null;
  readonly transaction: "write" | "read";
  readonly idempotencyKey: boolean;
  /** Whether its transactions of a tenant run one after another. */
  readonly isSerializable: boolean;
  /** How often its transaction is tried again after a conflict with others. */
  readonly retries: number;
  /** Whether it evaluates preconditions (RFC 9110 §13) against the version that it reads or writes. */
  readonly isConditional: boolean;
  /** Whether the chain has a hook that provides `authn.principal`. */
  readonly requiresAuthn: boolean;
  /** Whether credentials are ignored, because the body authenticates. */
  readonly ignoresCredentials: boolean;
  /** What the tokens in its answer are to a client that keeps them; null if it answers with none that a client works with. */
  readonly tokens: TokenUse | null;
  /** Operations of its namespace that continue with its answer, such as the next step of an upload. */
  readonly leadsTo: readonly string[];
  /** Whether only code of the service may call it: it has no route, and catalogs don't list it. */
  readonly isSensitive: boolean;
  /** Null if it isn't deprecated. */
  readonly deprecated: DeprecationModel | null;
  /** Null if it is on no mount, so that HTTP doesn't reach it. */
  readonly route: RouteModel | null;
  /** Members of the input that the audit log records; null if the operation isn't audited. */
  readonly audit: readonly string[] | null;
  readonly run: Code;
  readonly effect: Effect;
  /** Whether `opwright mcp` may offer it as a tool. */
  readonly isTool: boolean;
  /** Types of its own, besides those of the registry: none, its input, or input, output and handler. */
  readonly declares: "nothing" | "input" | "handler";
  /** The document whose rows it looks through, so that its cost grows with them, or null. */
  readonly lists: string | null;
  /** The document whose whole query language it speaks, or null. */
  readonly queries: string | null;
  /** The document that it adds rows to, as far as the registry says; null for none. */
  readonly adds: string | null;
  /** The signals that it sends, as far as the registry says: handlers may send others. */
  readonly emits: readonly string[];
  /** Codes of the error table that this operation may answer with, beyond those of every request. */
  readonly errors: readonly string[];
  readonly extensions: Readonly<Record<string, unknown>>;
}

/**
 * What families add to the model besides operations: each declares its own parts (`model.ts`).
 * Who asks and what is stored are everybody's.
 */
export interface FamilyModels {
  readonly identity: IdentityModel | null;
  readonly documents: Readonly<Record<string, DocumentModel>>;
}

/** Everything that emitters know. Maps are sorted by key; all defaults are filled in. */
export interface RegistryModel extends FamilyModels {
  readonly format: 3;
  readonly service: ServiceModel;
  readonly types: Readonly<Record<string, JsonSchema>>;
  /** The namespace that declares a type, where it is one namespace's own. */
  readonly homes: Readonly<Record<string, string>>;
  /** Descriptions of namespaces, for published documents. */
  readonly namespaces: Readonly<Record<string, string>>;
  readonly operations: Readonly<Record<string, OperationModel>>;
}
