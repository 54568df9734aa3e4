// What changes of identity mean for clients.
import type { IdentityModel, RegistryModel } from "../../model/registry.js";
import type { Comparison } from "../../kernel/family.js";
import {
  amount,
  authored,
  choices,
  compareMembers,
  ordered,
  tellOf,
  value,
  type Rules,
} from "../../compare/rules.js";

const identity: Rules<IdentityModel> = {
  route: null,
  ingress: ordered((way) => `takes a ${way.kind} in ${"cookie" in way ? way.cookie : way.header}`),
  algorithm: value("breaking", (algorithm) => `signs with ${algorithm}`),
  accessTtlSeconds: amount((text) => `access tokens last ${text}`, " s"),
  refreshTtlSeconds: amount((text) => `refresh tokens last ${text}`, " s"),
  refreshGraceSeconds: amount((text) => `a refresh token may be used again for ${text}`, " s"),
  resetTtlSeconds: amount((text) => `reset tokens last ${text}`, " s"),
  jwks: (before, after) => {
    if (after === null) return [["breaking", "has no key set"]];
    if (before === null) return [["additive", `has its key set at ${after.path}`]];
    return before.path === after.path
      ? [["documentation", `lets its key set be kept for ${after.maxAgeSeconds} s`]]
      : [["breaking", `has its key set at ${after.path}`]];
  },
  tenantHints: (before, after) => {
    const hints = ({ header, host }: IdentityModel["tenantHints"]): readonly string[] => [
      ...(header ? ["a header"] : []),
      ...(host === null ? [] : [host]),
    ];
    return choices<string>(
      (hint) => `takes a tenant from ${hint}`,
      (hint) => `takes no tenant from ${hint}`,
    )(hints(before), hints(after));
  },
  trustForwardedHost: null,
  signer: null,
  verifier: authored("verifies tokens otherwise"),
  resolver: authored("resolves callers otherwise"),
  undocumented: null,
  override: choices(
    (permission) => `lets ${permission} do everything`,
    (permission) => `no longer lets ${permission} do everything`,
  ),
  decide: authored("decides permissions otherwise"),
};

export function compare(before: RegistryModel, after: RegistryModel, { note }: Comparison): void {
  if (before.identity === null || after.identity === null) return;
  const tell = tellOf(note, { kind: "service", name: "identity" }, "permission");
  compareMembers(before.identity, after.identity, identity, tell);
}
