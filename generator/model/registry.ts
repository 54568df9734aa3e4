// The frozen registry: the one serializable model between the families and every emitter (architecture.md "Build").
import type { ErrorKind } from "../../runtime/contract/errors.js";
import type { StemmedLanguage } from "../../runtime/contract/search-languages.js";
import type { DeprecationModel } from "./deprecation.js";
import type { HookPhaseName, RouteStyle, SigningAlgorithm } from "./vocabulary.js";
import type { Code, FunctionReference } from "./code.js";
import type { DocumentModel } from "./document-model.js";
import type { JsonSchema } from "./json-schema.js";

export interface ContactModel {
  readonly name?: string;
  readonly url?: string;
  readonly email?: string;
}

/** The terms of the API: by an SPDX identifier, or where they can be read. */
export interface LicenseModel {
  readonly name: string;
  readonly identifier?: string;
  readonly url?: string;
}

export interface ServiceModel {
  readonly name: string;
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
  /** Who makes the bodies of errors, and of which type; null where that is opwright's envelope. */
  readonly errors: { readonly envelope: FunctionReference; readonly typeName: string } | null;
  readonly app: FunctionReference | null;
  readonly extensions: Readonly<Record<string, unknown>>;
}

/** One hook of a chain, resolved. */
export interface HookUse {
  /** What tells it from the others of a chain: its declared name, file#export, or what a hook of the runtime asks. */
  readonly id: string;
  readonly phase: HookPhaseName;
  readonly run: Code;
  /** Whether the author wrote it; the runtime's own are made with what policies say. */
  readonly isAuthored: boolean;
  readonly requires: readonly string[];
  readonly provides: readonly string[];
  /** The permission that it asks for, or null. */
  readonly permission: string | null;
  /** Codes of the error table that a hook of the runtime refuses with. */
  readonly errors: readonly string[];
}

export type ParameterTypeName = "string" | "uuid" | "integer" | "number" | "boolean" | "list";

export interface ParameterModel {
  readonly name: string;
  /** `revision` travels as `?rev=` or in `If-Match`. */
  readonly in: "path" | "query" | "revision";
  readonly type: ParameterTypeName;
  readonly required: boolean;
  readonly schema: JsonSchema;
}

export interface BodyModel {
  /** The body is the input, or all members that are no parameters, or one member. */
  readonly as: "input" | "members" | { readonly member: string };
  readonly schema: JsonSchema;
  /** Whether it may be left out altogether. */
  readonly isOptional: boolean;
  /** Whether it is a form with a file, and no JSON. */
  readonly isForm: boolean;
  /** Name of the TypeScript type and the OpenAPI component. */
  readonly typeName: string;
}

export interface InputModel {
  /** The input as one object: for tools and commands. */
  readonly schema: JsonSchema;
  readonly typeName: string;
  readonly parameters: readonly ParameterModel[];
  readonly body: BodyModel | null;
  /**
   * What checks it: one validator over the whole of it, one over the body beside parameters that are read one by one, or
   * code of the runtime that reads it by itself.
   */
  readonly read: "whole" | "parts" | Code;
}

/** An input that is the body as a whole. */
export function bodyInput(
  schema: JsonSchema,
  typeName: string,
  read: InputModel["read"],
): InputModel {
  const body: BodyModel = { as: "input", isOptional: false, isForm: false, schema, typeName };
  return { schema, typeName, parameters: [], body, read };
}

export interface OutputModel {
  /** Null where the operation answers without a body. */
  readonly schema: JsonSchema | null;
  readonly hasEntityTag: boolean;
  /** Whether it answers with bytes of any type. */
  readonly isBytes: boolean;
}

/** Names of headers are in lower case. */
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
  /** Whether it is the root of a mount, which answers with a trailing slash as well. */
  readonly isPrefixRoot: boolean;
  readonly status: number;
  /** What its handler reads of the request and says of the answer besides input and body; null for nothing. */
  readonly reply: ReplyDeclaration | null;
}

export type DocumentVerb =
  | "create"
  | "get"
  | "update"
  | "kill"
  | "delete"
  | "restore"
  | "upsert"
  | "create_many"
  | "update_many"
  | "delete_many"
  | "update_where"
  | "delete_where"
  | "list"
  | "raw_list"
  | "list_cursor"
  | "raw_list_cursor"
  | "agg_list"
  | HistoryVerb;

/** What is asked of, and done with, what documents were. */
export type HistoryVerb =
  | "revisions"
  | "revision"
  | "revision_diff"
  | "revert"
  | "get_deleted"
  | "list_deleted";

export type SearchVerb = "typed" | "raw" | "typed_cursor" | "raw_cursor";

/** A search over a document. */
export interface SearchModel {
  readonly name: string;
  readonly source: string;
  /** The document that is searched. */
  readonly document: string;
  /** Weights by field. */
  readonly text: Readonly<Record<string, number>>;
  /** The language whose forms of a word count as one; null where words are taken as they are spelt. */
  readonly language: StemmedLanguage | null;
  readonly facets: readonly string[];
}

/** Objects under one set of rules. */
export interface StorageModel {
  readonly name: string;
  readonly source: string;
  /** Null for any number. */
  readonly maxUploadBytes: number | null;
  readonly maxRangeBytes: number;
  /** Content types, or null for all. */
  readonly accept: readonly string[] | null;
  readonly encryption: "none" | "client";
  /** Whether downloads are streamed; otherwise each is read into memory first. */
  readonly isStreamed: boolean;
}

/** A signal of the realtime plane. */
export interface SignalModel {
  readonly typeName: string;
  readonly audience: readonly ("principal" | "topic")[];
  readonly delivery: "durable" | "ephemeral";
  /** To whom documents send it: a principal that a field names, or a topic; null where nothing says. */
  readonly to: SignalTargetModel | null;
  readonly deprecated: DeprecationModel | null;
}

/** The field that names a principal, or a topic with fields in braces. */
export type SignalTargetModel = { readonly principal: string } | { readonly topic: string };

export interface RealtimeModel {
  readonly path: string;
  readonly transports: readonly ("socketio" | "sse" | "websocket")[];
  readonly events: Readonly<Record<string, SignalModel>>;
  /** Operations by the name of their event. */
  readonly commands: Readonly<Record<string, string>>;
  readonly authorizer: FunctionReference | null;
  readonly presence: boolean;
  readonly retentionSeconds: number;
  readonly retentionEntries: number;
}

/**
 * What calling an operation does: it changes nothing; done twice it does what it does once; it adds something and changes
 * nothing that is there; or it changes what is there.
 */
export type Effect = "reads" | "repeats" | "adds" | "changes";

export interface OperationModel {
  readonly key: string;
  readonly namespace: string;
  readonly name: string;
  /** What made it; of what is part of the runtime, the name there. */
  readonly family: string;
  /** The registry file that declares it. */
  readonly source: string;
  readonly summary: string;
  readonly description: string | null;
  readonly input: InputModel;
  readonly output: OutputModel;
  /** The policy that guards it. */
  readonly guard: string;
  readonly hooks: readonly HookUse[];
  /** Null where there is none: an upload has as long as its bytes keep coming. */
  readonly deadlineSeconds: number | null;
  readonly transaction: "write" | "read";
  readonly idempotencyKey: boolean;
  /** Whether it evaluates preconditions (RFC 9110 §13) of the version that it is about. */
  readonly isConditional: boolean;
  /** Whether the chain has a hook that provides `authn.principal`. */
  readonly requiresAuthn: boolean;
  /** Whether credentials are not looked at, because the body authenticates. */
  readonly ignoresCredentials: boolean;
  /** Operations of its namespace that go on with what it answers. */
  readonly leadsTo: readonly string[];
  /** Whether only code of the service may call it: it has no route, and no list names it. */
  readonly isSensitive: boolean;
  /** Null where it is to stay. */
  readonly deprecated: DeprecationModel | null;
  /** Null where it is registered without HTTP. */
  readonly route: RouteModel | null;
  /** Members of the input that the audit log names; null where the operation is not in it. */
  readonly audit: readonly string[] | null;
  /** What runs it. */
  readonly run: Code;
  readonly effect: Effect;
  /** Whether tool callers are offered it. */
  readonly isTool: boolean;
  /** The types that are declared for it beside those of the table. */
  readonly declares: "nothing" | "input" | "handler";
  /** The document whose rows it goes through; null where its cost does not grow with them. */
  readonly lists: string | null;
  /** The document whose whole query language it speaks, or null. */
  readonly queries: string | null;
  /** Codes of the error table that this operation may answer with, beyond those of every request. */
  readonly errors: readonly string[];
  readonly extensions: Readonly<Record<string, unknown>>;
}

/** Where a credential stands; tokens belong to an authentication route, API keys are the service's own. */
export type IngressModel =
  | {
      readonly kind: "bearer";
      readonly header: string;
      readonly scheme: string;
      readonly route: string;
    }
  | { readonly kind: "api_key"; readonly header: string }
  | { readonly kind: "cookie"; readonly cookie: string; readonly route: string }
  /** A parameter of a WebSocket's handshake. */
  | { readonly kind: "query"; readonly query: string; readonly route: string };

/** How the tokens of a route are known; those of the service itself where both are null. */
export interface AuthenticationRouteModel {
  readonly verifier: FunctionReference | null;
  readonly resolver: FunctionReference | null;
}

/** How people register by themselves. */
export interface SignUpModel {
  readonly verify: "email" | "none";
  /** The document that is made with each principal. */
  readonly profile: string | null;
  readonly ttlSeconds: number;
}

export interface IdentityModel {
  /** By their names. */
  readonly routes: Readonly<Record<string, AuthenticationRouteModel>>;
  readonly ingress: readonly IngressModel[];
  readonly algorithm: SigningAlgorithm;
  readonly accessTtlSeconds: number;
  readonly refreshTtlSeconds: number;
  readonly refreshGraceSeconds: number;
  readonly resetTtlSeconds: number;
  /** Null where nobody registers by oneself. */
  readonly signUp: SignUpModel | null;
  readonly jwks: { readonly path: string; readonly maxAgeSeconds: number } | null;
  /** Whether there are tenants of the service's own. */
  readonly hasTenancy: boolean;
  readonly tenantHints: { readonly header: boolean; readonly host: string | null };
  readonly trustForwardedHost: boolean;
  readonly signer: FunctionReference | null;
  /** Operations whose need of a credential is not documented. */
  readonly undocumented: readonly string[];
  /** Permissions that stand above every other. */
  readonly override: readonly string[];
  readonly decide: FunctionReference | null;
}

/** An integration event: what it carries, and where it goes. */
export interface OutboxEventModel {
  /** The type's name; null for an event of the runtime, which has its own. */
  readonly typeName: string | null;
  /** The name of a destination, or a function. */
  readonly destination: string | FunctionReference;
  readonly deprecated: DeprecationModel | null;
}

/** An error of the author's own. */
export interface OwnErrorModel {
  readonly kind: ErrorKind;
  readonly detail: string;
  readonly retryable: boolean;
  /** The type of what it tells besides; null where that is nothing. */
  readonly contextType: string | null;
}

/** What families say beside their operations. */
export interface FamilyModels {
  /** By their codes. */
  readonly errors: Readonly<Record<string, OwnErrorModel>>;
  readonly identity: IdentityModel | null;
  /** Null where the service stages nothing. */
  readonly outbox: Readonly<Record<string, OutboxEventModel>> | null;
  /** Makes mails of integration events; null where nothing does. */
  readonly mail: FunctionReference | null;
  readonly realtime: RealtimeModel | null;
  readonly documents: Readonly<Record<string, DocumentModel>>;
  readonly searches: Readonly<Record<string, SearchModel>>;
  readonly storages: Readonly<Record<string, StorageModel>>;
}

/** What a registry says in which no family has anything to say. */
export const emptyModels: FamilyModels = {
  errors: {},
  identity: null,
  outbox: null,
  mail: null,
  realtime: null,
  documents: {},
  searches: {},
  storages: {},
};

/** Everything that emitters know. Maps are sorted by key; all defaults are filled in. */
export interface RegistryModel extends FamilyModels {
  readonly format: 3;
  readonly service: ServiceModel;
  readonly types: Readonly<Record<string, JsonSchema>>;
  /** The namespace that declares a type, where it is one namespace's own. */
  readonly homes: Readonly<Record<string, string>>;
  /** What the operations of a namespace are about, for documents. */
  readonly namespaces: Readonly<Record<string, string>>;
  readonly operations: Readonly<Record<string, OperationModel>>;
}
