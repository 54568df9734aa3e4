// The identity spec: what the generator settles about who is calling.
import type { FormerPermissions } from "./former-permissions.js";
import type { Roles } from "./roles.js";
import type { Transaction } from "../../ports/database.js";
import type { DocumentSpec, DocumentTypes } from "../../ports/document-spec.js";
import type { ExecutionContext } from "../../operations/context.js";
import type { Identity } from "../../operations/identity.js";
import type { ExportedLine, ExportedPerson } from "../../operations/exported.js";
import type { ExternalSigner, TokenAlgorithm } from "../../ports/tokens.js";

/** Where a request carries a credential (service.md "Boundary middleware"). */
export type Ingress = TokenIngress | { readonly kind: "api_key"; readonly header: string };

/** Where a request carries a token, and the authentication route that checks it. */
export type TokenIngress =
  | {
      readonly kind: "bearer";
      readonly header: string;
      readonly scheme: string;
      readonly route: string;
    }
  | { readonly kind: "cookie"; readonly cookie: string; readonly route: string }
  /** A parameter of a WebSocket's handshake; no other request is looked at for it. */
  | { readonly kind: "query"; readonly query: string; readonly route: string };

/**
 * How the tokens of a route are verified and resolved; without both, they are the service's own.
 */
export interface AuthenticationRoute {
  // oxlint-disable-next-line typescript/no-explicit-any -- what the one returns is what the other takes
  readonly verifier?: TokenVerifier<any>;
  // oxlint-disable-next-line typescript/no-explicit-any -- see above
  readonly resolver?: TokenResolver<any>;
}

/** Proves a token in a way of the author's own: what it says, or null if it is not valid. */
export type TokenVerifier<Claims = unknown> = (
  token: string,
) => Promise<Claims | null> | Claims | null;

/**
 * Somebody whom another issuer knows by a name of its own. It is mapped to a principal of the
 * service, which is made when it is first seen.
 */
export interface ForeignCaller {
  readonly issuer: string;
  /** Unique at the issuer, and never given to somebody else. */
  readonly subject: string;
  /** A tenant's id; null if the token is not scoped. */
  readonly tenant: string | null;
  /** Epoch milliseconds at which the token ends, or null. */
  readonly expiresAt: number | null;
  /** The permissions that the token is for; all of the principal's where null or left out. */
  readonly scopes?: readonly string[] | null;
}

/**
 * The caller of a verified token, or null to refuse it: a principal of the service by its id, or
 * somebody to be mapped to one. `stores` read committed state.
 */
export type TokenResolver<Claims = unknown> = (
  claims: Claims,
  stores: Transaction,
) => Promise<Identity | ForeignCaller | null> | Identity | ForeignCaller | null;

/** How people register by themselves. */
export interface SignUpSpec {
  /** `email` makes the principal once a token that was mailed to its login comes back. */
  readonly verify: "email" | "none";
  readonly ttlSeconds: number;
  /** The document that is created with each principal, and belongs to it. */
  // oxlint-disable-next-line typescript/no-explicit-any -- payloads are held to the document's own validator
  readonly profile: (() => DocumentSpec<Record<keyof DocumentTypes, any>>) | null;
}

/** How members of a tenant look after each other: invitations and roles. */
export interface MembersSpec {
  readonly invitationTtlSeconds: number;
  /** Permissions whose holders give every role. */
  readonly givesAll: readonly string[];
  /** Members of the profile that other members of the tenant see; may be empty. */
  readonly shows: readonly string[];
}

/**
 * Removes what the author keeps of somebody who is erased, such as files or what is at another
 * service. It may be called again for one who is erased already.
 */
export type EraseAlso = (
  who: {
    readonly principalId: string;
    readonly login: string;
    /** The active tenants that they are a member of, and those in which they have documents. */
    readonly tenants: readonly string[];
  },
  context: ExecutionContext,
) => Promise<void> | void;

/**
 * What else is kept of somebody who asks for it, such as files: a line each. It may be asked by the
 * person and by administrators.
 */
export type ExportAlso = (
  who: Pick<ExportedPerson, "principalId" | "login" | "tenants">,
  context: ExecutionContext,
) => Promise<readonly ExportedLine[]> | readonly ExportedLine[];

export interface IdentitySpec {
  /** By their names. */
  readonly routes: Readonly<Record<string, AuthenticationRoute>>;
  /** `iss` and `aud` of the tokens, and what API keys begin with: the service's first name. */
  readonly issuer: string;
  /** Further names of the service, whose tokens and API keys are accepted as well. */
  readonly alsoIssuers?: readonly string[];
  /** Where credentials stand; the first that is present is taken, valid or not. */
  readonly ingress: readonly Ingress[];
  readonly algorithm: TokenAlgorithm;
  readonly accessTtlSeconds: number;
  readonly refreshTtlSeconds: number;
  /** How long a used refresh token still leads to the same successor; 0 is strict. */
  readonly refreshGraceSeconds: number;
  readonly resetTtlSeconds: number;
  /** Null without sign-up. */
  readonly signUp: SignUpSpec | null;
  /** Path of the public keys and how long they may be cached in seconds, or null. */
  readonly jwks: { readonly path: string; readonly maxAgeSeconds: number } | null;
  /** Whether there are tenants of the service's own; otherwise a resolver may name any. */
  readonly hasTenancy: boolean;
  /** Which hints at a tenant are believed besides the credential. */
  readonly tenantHints: { readonly header: boolean; readonly host: string | null };
  /** Whether `X-Forwarded-Host` is believed where a trusted proxy sent it. */
  readonly trustForwardedHost: boolean;
  /** What permissions were called; absent if they have always had their names. */
  readonly former?: FormerPermissions | undefined;
  /** What people may do by what they are; absent without roles. */
  readonly roles?: Roles | undefined;
  /** What else is removed of somebody who is erased; absent if nothing is. */
  readonly erasesAlso?: EraseAlso | undefined;
  /** What else is kept of somebody who asks for it; absent if nothing is. */
  readonly exportsAlso?: ExportAlso | undefined;
  /** How members of tenants look after each other; absent if only administrators do. */
  readonly members?: MembersSpec | undefined;
  /** Signs access tokens elsewhere. */
  readonly signer?: ExternalSigner;
}

/**
 * Declares how a service identifies its callers. Throws if a verifier of the author's comes
 * without a resolver: what it proves would be looked up as if it were a token of this service; and
 * where an ingress names no route.
 */
export function identity(spec: IdentitySpec): IdentitySpec {
  for (const [name, { verifier, resolver }] of Object.entries(spec.routes))
    if (verifier !== undefined && resolver === undefined)
      throw new Error(`identity of the route ${name}: a verifier needs a resolver beside it`);
  for (const one of spec.ingress)
    if (one.kind !== "api_key" && !Object.hasOwn(spec.routes, one.route))
      throw new Error(`identity: an ingress names the route ${one.route}, which is not there`);
  return spec;
}
