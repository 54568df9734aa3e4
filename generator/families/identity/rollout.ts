// What changes of identity take of a rollout: tokens and sessions that either version has given
// out.
import {
  need,
  needsOfMembers,
  type Need,
  type RolloutRules,
  type RolloutSide,
} from "../../compare/rollout.js";
import { grantedAs } from "../../compare/hooks.js";
import type { IdentityModel } from "../../model/identity-model.js";

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
  // Grants are compared by the permissions that operations ask for.
  former: null,
  decide: null,
  // Operations are told where they stand, and invitations end as they say when they are made.
  // Whichever version erases somebody calls its own.
  erasesAlso: null,
  // Whichever version exports somebody calls its own.
  exportsAlso: null,
  founders: null,
  members: null,
  roles: (was, is) => {
    const gone = Object.keys(was.roles).filter((name) => !(name in is.roles));
    return gone.flatMap((name) =>
      need(
        "leaves stored things behind",
        `whoever was given the role ${name} keeps it, and it permits nothing: give them another one`,
      ),
    );
  },
};

/** What operations ask for: by the names of grants, the names of permissions. */
function askedIn({ model }: RolloutSide): ReadonlyMap<string, string> {
  const uses = Object.values(model.operations).flatMap(({ hooks }) => hooks);
  return new Map(
    uses.flatMap((use): readonly (readonly [string, string])[] => {
      const granted = grantedAs(use);
      return granted === null || use.permission === null ? [] : [[granted, use.permission]];
    }),
  );
}

/** Grants that nothing asks for any more, although something like it does. */
function grantsLeft(before: RolloutSide, after: RolloutSide): readonly Need[] {
  const [old, next] = [askedIn(before), askedIn(after)];
  const added = [...next].filter(([granted]) => !old.has(granted)).map(([, name]) => name);
  return [...old].flatMap(([granted, name]) => {
    if (next.has(granted)) return [];
    const [resource, action] = name.split(".");
    const like = added.find((one) =>
      one.split(".").some((part, at) => part === [resource, action][at]),
    );
    if (like === undefined) return [];
    return need(
      "leaves stored things behind",
      `grants of ${name} stay stored, and nothing asks for them: if ${like} is the same, say what it was called (\`was\`)`,
    );
  });
}

/** Identity is one section. */
export function rollout(before: RolloutSide, after: RolloutSide): readonly Need[] {
  const [was, is] = [before.model.identity, after.model.identity];
  if (was === null || is === null) return [];
  return [
    ...needsOfMembers(was, is, identity, { name: "identity", before, after }),
    ...grantsLeft(before, after),
  ];
}
