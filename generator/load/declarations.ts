// Declarations as they stand in a registry whose shape has been checked. Field types stay raw: types.ts reads them. Families
// whose declarations follow from their formats add them in their own format.ts.
import type { SearchLanguage } from "../../runtime/contract/search-languages.js";
import type { DeprecationDeclaration } from "../model/deprecation.js";
import type { ContactModel, LicenseModel } from "../model/registry.js";
import type { HookPhaseName, RouteStyle, SigningAlgorithm } from "../model/vocabulary.js";
import type { administration, mountMembers } from "./format-parts.js";
import type { Declared } from "./shape.js";

export type HooksByPhase = Partial<Record<HookPhaseName, readonly string[]>>;

export interface ServiceDeclaration {
  readonly name: string;
  readonly title: string;
  readonly version: string;
  readonly description?: string;
  readonly contact?: ContactModel;
  readonly license?: LicenseModel;
  readonly style?: RouteStyle;
  readonly transaction?: string;
  readonly deadline?: string;
  readonly probes?: { readonly livez?: string; readonly readyz?: string };
  readonly errors?: { readonly envelope: string; readonly out: unknown };
  readonly app?: string;
}

export interface HookDeclaration {
  readonly run: string;
  readonly phase: HookPhaseName;
  readonly requires?: readonly string[];
  readonly provides?: readonly string[];
  readonly errors?: readonly string[];
}

export type MountDeclaration = Declared<{ kind: "object"; members: typeof mountMembers }>;

/** Fields alone, or with what else is said of them. */
export type UniqueDeclaration =
  | readonly string[]
  | {
      readonly fields: readonly string[];
      readonly global?: boolean;
      readonly where?: "not_deleted";
    };

/** What a field is set from: `$caller`, `$now`, `$handler`, a function as file#export, or what is computed of the document. */
export type SetDeclaration =
  | string
  | {
      readonly from?: string;
      readonly $sum?: string | readonly string[];
      readonly $count?: string;
      readonly on?: "create" | "write";
    };

export interface DocumentDeclaration {
  readonly type: unknown;
  readonly description?: string;
  readonly create?: readonly string[];
  readonly update?: readonly string[];
  readonly defaults?: Readonly<Record<string, unknown>>;
  readonly set?: Readonly<Record<string, SetDeclaration>>;
  readonly indexes?: readonly (readonly string[])[];
  readonly unique?: readonly UniqueDeclaration[];
  readonly was?: string;
  readonly soft_delete?: boolean | { readonly list_deleted?: boolean; readonly read?: string };
  readonly history?: boolean | { readonly keep?: number; readonly revisions?: boolean };
  readonly retention?: { readonly deleted?: string; readonly history?: number };
  readonly bulk?: { readonly max: number };
  readonly upsert?: boolean;
  readonly read_only?: boolean;
  readonly tenant?: boolean;
  readonly sensitive?: boolean;
  readonly guard: string | Readonly<Record<string, string>>;
  readonly deadline?: string;
  readonly idempotency?: readonly string[];
  readonly hooks?: Readonly<Record<string, HooksByPhase>>;
  readonly deprecated?: Readonly<Record<string, DeprecationDeclaration>>;
  readonly emits?: Readonly<Record<string, EmittedEvent | readonly EmittedEvent[]>>;
  readonly mount?: false | MountDeclaration;
}

/** An event, and perhaps the fields of which one must have changed. */
export type EmittedEvent =
  | string
  | { readonly event: string; readonly if_changed: string | readonly string[] };

export interface SearchDeclaration {
  readonly of: string;
  readonly text: readonly string[] | Readonly<Record<string, unknown>>;
  readonly language?: SearchLanguage;
  readonly facets?: readonly string[];
  readonly description?: string;
  readonly guard: string | Readonly<Record<string, string>>;
  readonly deadline?: string;
  readonly mount?: false | MountDeclaration;
}

export interface StorageDeclaration {
  readonly description?: string;
  readonly guard: string | Readonly<Record<string, string>>;
  readonly max_upload?: string | false;
  readonly max_range?: string;
  readonly accept?: readonly string[];
  readonly presign?: boolean;
  readonly multipart?: boolean;
  readonly encryption?: "client";
  readonly stream?: boolean;
  readonly sensitive?: boolean;
  readonly deadline?: string;
  readonly mount?: false | MountDeclaration;
  /** What `{resource}` is in guards, where it is not the storage: never written, made by a composite. */
  readonly resource?: string;
}

/** Documents and their search at once: what a document says, and of the search what is its own. */
export interface CompositeDeclaration extends Omit<
  DocumentDeclaration,
  "soft_delete" | "read_only" | "mount"
> {
  readonly search: Pick<SearchDeclaration, "text" | "language" | "facets" | "description">;
  readonly storage?: Omit<StorageDeclaration, "guard" | "mount" | "deadline" | "resource"> & {
    readonly prefix?: string;
  };
  readonly style?: RouteStyle;
  readonly transaction?: string;
  readonly mount?: false | { readonly at: string };
}

export const methods = ["get", "post", "put", "patch", "delete"] as const;
export type MethodKey = (typeof methods)[number];

export interface ReplyDeclaration {
  readonly status?: readonly number[];
  readonly headers?: readonly string[];
  readonly cookies?: Readonly<
    Record<
      string,
      {
        readonly max_age?: string;
        readonly path?: string;
        readonly same_site?: "lax" | "strict" | "none";
        readonly http_only?: boolean;
      }
    >
  >;
  readonly redirect?: readonly number[];
}

export interface OperationDeclaration extends Partial<Record<MethodKey, string>> {
  readonly summary?: string;
  readonly description?: string;
  readonly in?: unknown;
  readonly out?: unknown;
  readonly status?: number;
  readonly headers?: readonly string[];
  readonly reply?: ReplyDeclaration;
  readonly run: string;
  readonly guard: string;
  readonly hooks?: HooksByPhase;
  readonly deadline?: string;
  readonly idempotency?: boolean;
  readonly transaction?: "read" | "write";
  readonly credentials?: "ignore";
  readonly errors?: readonly string[];
  readonly deprecated?: DeprecationDeclaration;
}

export interface TopLevelMountDeclaration extends MountDeclaration {
  readonly namespace?: string;
  readonly prefix?: string;
}

/** Operations for administrators, behind one guard. */
export type AdministrationDeclaration = Declared<typeof administration>;

/** Where a credential stands: exactly one of the first four. */
export interface IngressDeclaration {
  readonly bearer?: string;
  readonly api_key?: string;
  readonly cookie?: string;
  readonly query?: string;
  readonly route?: string;
  readonly scheme?: string;
}

/** How tokens are known; the service's own where both are left out. */
export interface AuthenticationRouteDeclaration {
  readonly verifier?: string;
  readonly resolver?: string;
}

export type IdentityMethod = "token" | "password" | "api_key";

export interface SignUpDeclaration {
  readonly verify: "email" | "none";
  readonly profile?: string;
  readonly ttl?: string;
}

export interface IdentityDeclaration {
  readonly route?: string;
  readonly methods?: readonly IdentityMethod[];
  readonly ingress?: readonly IngressDeclaration[];
  readonly verifier?: string;
  readonly resolver?: string;
  readonly routes?: Readonly<Record<string, AuthenticationRouteDeclaration>>;
  readonly signing?: { readonly algorithm: SigningAlgorithm; readonly signer?: string };
  readonly access_ttl?: string;
  readonly refresh_ttl?: string;
  readonly refresh_grace?: string;
  readonly reset?: { readonly ttl?: string; readonly events: "outbox" };
  readonly sign_up?: SignUpDeclaration;
  readonly deactivate?: { readonly guard: string };
  readonly api_keys?: { readonly mount?: false | MountDeclaration };
  readonly jwks?: { readonly path?: string; readonly cache_max_age?: number };
  readonly openapi_exclude?: readonly string[];
  readonly provisioning?: AdministrationDeclaration;
  readonly mount?: false | MountDeclaration;
}

export interface AuthorizationDeclaration {
  readonly override?: readonly string[];
  readonly decide?: string;
}

/** A step of a policy: a hook's name, or exactly one of the members. */
export type PolicyStep =
  | string
  | { readonly authorize?: string; readonly scope?: string; readonly rate_limit?: string };

/** The declarations of a registry. Entries with a faulty shape are left out; their faults have been reported. */
export interface Declarations {
  readonly service: ServiceDeclaration | undefined;
  readonly identity: IdentityDeclaration | undefined;
  readonly authorization: AuthorizationDeclaration | undefined;
  /** Row filters by name, as file#export. */
  readonly scopes: Readonly<Record<string, string>>;
  readonly policies: Readonly<Record<string, readonly PolicyStep[]>>;
  readonly hooks: Readonly<Record<string, HookDeclaration>>;
  readonly types: Readonly<Record<string, unknown>>;
  readonly documents: Readonly<Record<string, DocumentDeclaration>>;
  readonly search: Readonly<Record<string, SearchDeclaration>>;
  readonly storage: Readonly<Record<string, StorageDeclaration>>;
  /** Written already as documents and searches among the others. */
  readonly composites: Readonly<Record<string, CompositeDeclaration>>;
  readonly operations: Readonly<Record<string, OperationDeclaration>>;
  readonly mounts: Readonly<Record<string, TopLevelMountDeclaration>>;
  /** Reasons by the texts of changes, with the places that they were given for. */
  readonly approved: Readonly<
    Record<string, string | { readonly reason: string; readonly in: readonly string[] }>
  >;
}
