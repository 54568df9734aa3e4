// `identity:` and what belongs to it, with defaults filled in (service.md "Boundary middleware",
// "Keys and secrets").
import type { IdentityDeclaration, IdentityMethod } from "./format.js";
import { didYouMean } from "../../diagnostics/did-you-mean.js";
import { durationSeconds } from "../../load/quantities.js";
import { referenceOrNull } from "../../model/code.js";
import { sortedRecord } from "../../model/records.js";
import type { IdentityModel } from "../../model/identity-model.js";
import type { OperationModel } from "../../model/registry.js";
import type { FamilyContext } from "../../kernel/family.js";
import { isLeftOut } from "../../kernel/left-out.js";
import {
  formerPermissions,
  formerPermissionsAreOwn,
  formerResources,
} from "../../kernel/permissions.js";
import { requiresAuthn } from "../../kernel/guards.js";
import { authenticationRoutes, resolvesTokens } from "./routes.js";
import { rolePermissionsAreAsked, roleModels } from "./roles.js";
import { signUpModel } from "./sign-up.js";

/** How callers may be identified. */
export function methodsOf({ methods }: IdentityDeclaration): readonly IdentityMethod[] {
  return methods ?? ["token", "password"];
}

/**
 * The settings of identity; null if it is not declared. Reports parts without what they need.
 */
export function identityModel(context: FamilyContext): IdentityModel | null {
  const { identity, tenancy, authorization } = context.declarations;
  if (identity === undefined) {
    checkAlone(context);
    return null;
  }
  checkParts(context, identity);
  const { jwks, signing } = identity;
  return {
    ...authenticationRoutes(context, identity),
    algorithm: signing?.algorithm ?? "HS256",
    accessTtlSeconds: durationSeconds(identity.access_ttl ?? "15m"),
    refreshTtlSeconds: durationSeconds(identity.refresh_ttl ?? "7d"),
    refreshGraceSeconds: durationSeconds(identity.refresh_grace ?? "10s"),
    resetTtlSeconds: durationSeconds(identity.reset?.ttl ?? "1h"),
    signUp: signUpModel(context),
    jwks:
      jwks === undefined
        ? null
        : {
            path: jwks.path ?? "/.well-known/jwks.json",
            maxAgeSeconds: jwks.cache_max_age ?? 300,
          },
    hasTenancy: tenancy !== undefined,
    tenantHints: { header: tenancy?.trust_tenant_header ?? false, host: tenancy?.host ?? null },
    trustForwardedHost: tenancy?.trust_forwarded_host ?? false,
    signer: referenceOrNull(signing?.signer),
    undocumented: identity.openapi_exclude ?? [],
    override: authorization?.override ?? ["admin", "{resource}.admin"],
    // What policies ask for is known once everything is expanded.
    former: { resources: formerResources(context.declarations), permissions: {} },
    decide: referenceOrNull(authorization?.decide),
    roles: roleModels(context),
    erasesAlso: referenceOrNull(identity.erase?.also),
    exportsAlso: referenceOrNull(identity.export?.also),
    founders: tenancy?.selector?.create?.roles ?? null,
    members:
      tenancy?.members === undefined
        ? null
        : {
            invitationTtlSeconds: durationSeconds(tenancy.members.invitation_ttl ?? "7d"),
            shows: tenancy.members.shows ?? [],
          },
  };
}

/**
 * The model with the former names of permissions that are asked for. Reports those that would be
 * confused.
 */
export function withFormerPermissions(
  context: FamilyContext,
  model: IdentityModel | null,
): IdentityModel | null {
  if (model === null) return null;
  const { asked, declarations } = context;
  formerPermissionsAreOwn(context, model.override);
  rolePermissionsAreAsked(context, model.override);
  const renamed = [...asked].flatMap(([permission, { stored }]) =>
    formerPermissions(declarations, permission).length === 0 ? [] : [[permission, stored] as const],
  );
  const permissions = sortedRecord(new Map(renamed));
  return { ...model, former: { ...model.former, permissions } };
}

/**
 * Codes that the boundary answers with before an operation that looks at credentials: on open
 * operations too.
 */
export function boundaryErrors(
  { declarations }: FamilyContext,
  { hooks, ignoresCredentials }: OperationModel,
): readonly string[] {
  const { identity, tenancy } = declarations;
  if (identity === undefined || ignoresCredentials) return [];
  const hasCookie = identity.ingress?.some(({ cookie }) => cookie !== undefined) ?? false;
  const hasHints = tenancy?.trust_tenant_header === true || tenancy?.host !== undefined;
  const hasScopes = identity.api_keys !== undefined || resolvesTokens(identity);
  return [
    "core.authentication",
    // Of credentials with scopes, where no permission is asked for.
    ...(hasScopes && requiresAuthn(hooks) ? ["core.authorization"] : []),
    "tenant_mismatch",
    "tenant_inactive",
    ...(hasHints ? ["tenant_conflict"] : []),
    ...(hasCookie ? ["origin_forbidden"] : []),
  ];
}

/** Reports operations that the OpenAPI document is to leave out and that do not exist. */
export function excludedOperationsExist(
  context: FamilyContext,
  model: IdentityModel | null,
  operations: ReadonlyMap<string, OperationModel>,
): void {
  const { tree, report } = context;
  for (const [index, key] of (model?.undocumented ?? []).entries()) {
    if (operations.has(key) || isLeftOut(context, key)) continue;
    if (isLeftOut(context, key.split(".")[0] ?? "")) continue;
    report({
      code: "OPW062",
      message: `nothing registers the operation ${key}`,
      at: tree.at("identity", "openapi_exclude", index),
      suggestion: didYouMean(key, [...operations.keys()]),
    });
  }
}

function checkAlone({ declarations, tree, report }: FamilyContext): void {
  const { authorization, roles } = declarations;
  const lacks = (section: string): void =>
    report({
      code: "OPW012",
      message: `${section} needs \`identity:\`, which is missing`,
      at: tree.keyAt(section),
    });
  if (authorization !== undefined) lacks("authorization");
  if (Object.keys(roles).length > 0) lacks("roles");
}

function checkParts(context: FamilyContext, identity: IdentityDeclaration): void {
  const { tree, report, declarations } = context;
  const lacks = (message: string, ...path: readonly (string | number)[]): void =>
    report({ code: "OPW057", message, at: tree.at("identity", ...path) });
  const methods = methodsOf(identity);
  for (const [index, { api_key: apiKey }] of (identity.ingress ?? []).entries()) {
    const method = apiKey === undefined ? "token" : "api_key";
    if (!methods.includes(method))
      lacks(`this ingress needs the method ${method}`, "ingress", index);
  }
  if (identity.api_keys !== undefined) {
    const hasIngress = identity.ingress?.some(({ api_key: apiKey }) => apiKey !== undefined);
    if (hasIngress !== true) lacks("API keys have no ingress to come in by", "api_keys");
  }
  const { reset, sign_up: signUp } = identity;
  const isMailed = (event: string): boolean =>
    Object.hasOwn(declarations.outbox?.events ?? {}, event);
  const unheard = (event: string): string =>
    `the outbox has no event ${event}, so nobody would get the token`;
  if (reset !== undefined) {
    if (!methods.includes("password")) lacks("a reset needs the method password", "reset");
    const event = "authn.password_reset_requested";
    if (!isMailed(event)) lacks(unheard(event), "reset", "events");
  }
  if (signUp !== undefined) {
    if (!methods.includes("password")) lacks("sign-up needs the method password", "sign_up");
    const event = "authn.sign_up_requested";
    if (signUp.verify === "email" && !isMailed(event)) lacks(unheard(event), "sign_up", "verify");
  }
}
