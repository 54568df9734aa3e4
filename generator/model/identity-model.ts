// Identity in the frozen registry: everybody's, because every contract says who asks.
import type { FunctionReference } from "./code.js";
import type { FormerPermissionsModel } from "./former-permissions.js";
import type { SigningAlgorithm } from "./vocabulary.js";

/**
 * Where requests carry a credential. Tokens belong to an authentication route; API keys are the
 * service's own.
 */
export type IngressModel =
  | {
      readonly kind: "bearer";
      readonly header: string;
      readonly scheme: string;
      readonly route: string;
    }
  | { readonly kind: "api_key"; readonly header: string }
  | { readonly kind: "cookie"; readonly cookie: string; readonly route: string }
  /** A query parameter of the WebSocket handshake. */
  | { readonly kind: "query"; readonly query: string; readonly route: string };

/**
 * How tokens of a route are verified and resolved to a caller; both null for the service's own
 * tokens.
 */
export interface AuthenticationRouteModel {
  readonly verifier: FunctionReference | null;
  readonly resolver: FunctionReference | null;
}

/** How people sign up by themselves. */
export interface SignUpModel {
  readonly verify: "email" | "none";
  /** The document that is created with each principal. */
  readonly profile: string | null;
  readonly ttlSeconds: number;
}

/** What people may do by what they are. */
export interface RoleModel {
  readonly permissions: readonly string[];
  /** The roles that whoever has it may give. */
  readonly gives: readonly string[];
}

/** How members of a tenant look after each other. */
export interface MembersModel {
  readonly invitationTtlSeconds: number;
  /** Fields of the profile that they see of each other. */
  readonly shows: readonly string[];
}

export interface IdentityModel {
  /** Authentication routes by name. */
  readonly routes: Readonly<Record<string, AuthenticationRouteModel>>;
  readonly ingress: readonly IngressModel[];
  readonly algorithm: SigningAlgorithm;
  readonly accessTtlSeconds: number;
  readonly refreshTtlSeconds: number;
  readonly refreshGraceSeconds: number;
  readonly resetTtlSeconds: number;
  /** Null if nobody can sign up. */
  readonly signUp: SignUpModel | null;
  readonly jwks: { readonly path: string; readonly maxAgeSeconds: number } | null;
  /** Whether the registry declares `tenancy:`. */
  readonly hasTenancy: boolean;
  readonly tenantHints: { readonly header: boolean; readonly host: string | null };
  readonly trustForwardedHost: boolean;
  readonly signer: FunctionReference | null;
  /** Operations whose authentication openapi.json doesn't mention. */
  readonly undocumented: readonly string[];
  /** Permissions that include every other one. */
  readonly override: readonly string[];
  /** Under which names permissions are stored. */
  readonly former: FormerPermissionsModel;
  readonly decide: FunctionReference | null;
  /** Roles by name. */
  readonly roles: Readonly<Record<string, RoleModel>>;
  /** What else is removed of somebody who is erased. */
  readonly erasesAlso: FunctionReference | null;
  /** What else is kept of somebody who asks for it. */
  readonly exportsAlso: FunctionReference | null;
  /** The roles of callers who create a tenant; null if none may. */
  readonly founders: readonly string[] | null;
  /** Null if only administrators look after members. */
  readonly members: MembersModel | null;
}
