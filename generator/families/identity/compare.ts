// What changes of identity mean for clients.
import { own } from "../../model/records.js";
import { compareRoles } from "./compare-roles.js";
import type { IdentityModel, IngressModel } from "../../model/identity-model.js";
import type { RegistryModel } from "../../model/registry.js";
import type { Comparison } from "../../compare/comparison.js";
import {
  admissions,
  compareMembers,
  compareDecision,
  tellExchange,
  limit,
  compareOrdered,
  tellOf,
  value,
  type Rules,
} from "../../compare/rules.js";

function ingressText(way: IngressModel): string {
  if (way.kind === "api_key") return `takes an api_key in ${way.header}`;
  if (way.kind === "cookie") return `takes a cookie in ${way.cookie} for ${way.route}`;
  if (way.kind === "query") return `takes a token in the query ${way.query} for ${way.route}`;
  const scheme = way.scheme === "Bearer" ? "bearer" : way.scheme;
  return `takes a ${scheme} in ${way.header} for ${way.route}`;
}

const identity: Rules<IdentityModel> = {
  routes: (before, after) =>
    Object.entries(after).flatMap(([name, { verifier, resolver }]) => {
      // A route that is new or gone is told of its ingress.
      const was = own(before, name);
      if (was === undefined) return [];
      return [
        ...compareDecision(`verifies tokens of the route ${name} otherwise`)(
          was.verifier,
          verifier,
        ),
        ...compareDecision(`resolves callers of the route ${name} otherwise`)(
          was.resolver,
          resolver,
        ),
      ];
    }),
  ingress: compareOrdered(ingressText),
  algorithm: value("breaking", (algorithm) => `signs with ${algorithm}`),
  accessTtlSeconds: limit((text) => `access tokens last ${text}`, " s"),
  refreshTtlSeconds: limit((text) => `refresh tokens last ${text}`, " s"),
  refreshGraceSeconds: limit((text) => `a refresh token may be used again for ${text}`, " s"),
  resetTtlSeconds: limit((text) => `reset tokens last ${text}`, " s"),
  signUp: (before, after) => {
    // Its operations are told where they stand.
    if (before === null || after === null) return [];
    const { profile, ttlSeconds, verify } = after;
    const isUnverified = verify === "none";
    return [
      ...(before.verify === verify
        ? []
        : isUnverified
          ? tellExchange("registers people without a token from their mail")
          : [["breaking", "asks people who register for a token from their mail"] as const]),
      ...(before.profile === profile
        ? []
        : [["breaking", `makes ${profile ?? "nothing"} with each principal`] as const]),
      ...(before.ttlSeconds === ttlSeconds
        ? []
        : limit((text) => `a registration waits ${text} for its token`, " s")(
            before.ttlSeconds,
            ttlSeconds,
          )),
    ];
  },
  jwks: (before, after) => {
    if (after === null) return [["breaking", "has no key set"]];
    if (before === null) return [["additive", `has its key set at ${after.path}`]];
    return before.path === after.path
      ? [["documentation", `lets its key set be kept for ${after.maxAgeSeconds} s`]]
      : [["breaking", `has its key set at ${after.path}`]];
  },
  hasTenancy: null,
  tenantHints: (before, after) => {
    const hints = ({ header, host }: IdentityModel["tenantHints"]): readonly string[] => [
      ...(header ? ["a header"] : []),
      ...(host === null ? [] : [host]),
    ];
    return admissions<string>(
      (hint) => `takes a tenant from ${hint}`,
      (hint) => `takes no tenant from ${hint}`,
    )(hints(before), hints(after));
  },
  trustForwardedHost: (_before, after) => [
    after
      ? ["opens", "believes the host that trusted proxies forward"]
      : ["breaking", "no longer believes the host that proxies forward"],
  ],
  signer: null,
  undocumented: null,
  override: admissions(
    (permission) => `lets ${permission} do everything`,
    (permission) => `no longer lets ${permission} do everything`,
  ),
  decide: compareDecision("decides permissions otherwise"),
  // Reported of the operations that ask for them.
  former: null,
  // What it does is not to be seen here, and no client meets it.
  erasesAlso: null,
  exportsAlso: null,
  founders: (before, after) =>
    // Its operation is told where it stands.
    before === null || after === null
      ? []
      : admissions<string>(
          (role) => `gives whoever creates a tenant the role ${role}`,
          (role) => `no longer gives whoever creates a tenant the role ${role}`,
        )(before, after),
  members: (before, after) => {
    // Its operations are told where they stand.
    if (before === null || after === null) return [];
    return [
      ...(before.invitationTtlSeconds === after.invitationTtlSeconds
        ? []
        : limit((text) => `an invitation can be accepted for ${text}`, " s")(
            before.invitationTtlSeconds,
            after.invitationTtlSeconds,
          )),
      ...admissions<string>(
        (field) => `shows members ${field} of each other`,
        (field) => `no longer shows members ${field} of each other`,
      )(before.shows, after.shows),
    ];
  },
  // Compared with what permissions were called.
  roles: null,
};

export function compare(before: RegistryModel, after: RegistryModel, { note }: Comparison): void {
  if (before.identity === null || after.identity === null) return;
  const tell = tellOf(
    note,
    { kind: "service", name: "identity", declared: ["identity"] },
    "permission",
  );
  compareMembers(before.identity, after.identity, identity, tell);
  for (const told of compareRoles(before.identity, after.identity)) tell(...told);
}
