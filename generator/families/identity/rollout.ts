// What changes of identity take of a rollout: tokens and sessions that either version has given out.
import {
  need,
  needsOfMembers,
  type Need,
  type RolloutRules,
  type RolloutSide,
} from "../../compare/rollout.js";
import type { IdentityModel } from "../../model/registry.js";

const identity: RolloutRules<IdentityModel> = {
  routes: null,
  // Where a credential is read says nothing of what is stored.
  ingress: null,
  algorithm: (was, is) =>
    need(
      "clients meet both versions",
      `access tokens are signed with ${is.algorithm} instead of ${was.algorithm}: each version refuses those of the other, and clients refresh them`,
    ),
  // Tokens and sessions end as they say when they are made.
  accessTtlSeconds: null,
  refreshTtlSeconds: null,
  refreshGraceSeconds: null,
  resetTtlSeconds: null,
  signUp: null,
  jwks: null,
  hasTenancy: (_was, is) =>
    need(
      "leaves stored things behind",
      is.hasTenancy
        ? "principals have no tenant yet, and see nothing that belongs to one: make tenants and members of them first"
        : "what belongs to a tenant is not seen any more",
    ),
  tenantHints: null,
  trustForwardedHost: null,
  signer: (_was, is) =>
    need(
      "clients meet both versions",
      `access tokens are signed ${is.signer === null ? "by the service itself" : "by another function"}: each version may refuse those of the other`,
    ),
  undocumented: null,
  override: null,
  decide: null,
};

/** Identity is one section. */
export function rollout(before: RolloutSide, after: RolloutSide): readonly Need[] {
  const [was, is] = [before.model.identity, after.model.identity];
  if (was === null || is === null) return [];
  return needsOfMembers(was, is, identity, { name: "identity", before, after });
}
