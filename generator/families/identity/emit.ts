// identity.ts: who is calling, and the hooks of authorization bound to the service.
import { permissionFor } from "../../kernel/permissions.js";
import { openScope } from "../../kernel/runtime-hooks.js";
import type { FunctionReference } from "../../model/code.js";
import { specName } from "../../model/names.js";
import type { FormerPermissionsModel } from "../../model/former-permissions.js";
import type { IdentityModel, SignUpModel } from "../../model/identity-model.js";
import type { RegistryModel, ServiceModel } from "../../model/registry.js";
import { header, type EmittedFile } from "../../print/file.js";
import {
  importOf,
  importStatements,
  listLayout,
  literal,
  mapMember,
  propertyKey,
} from "../../print/layout.js";
import { importPath, moduleNames, type ModulePaths } from "../../print/module-path.js";
import { importedModule, importedName, printAround } from "../../print/printed-names.js";

/** The namespace of what members do for each other. */
const membersNamespace = "members";

export function emitIdentity(model: RegistryModel, paths: ModulePaths): readonly EmittedFile[] {
  const { identity, service } = model;
  if (identity === null) return [];
  const { signer, decide, signUp, erasesAlso, exportsAlso } = identity;
  const profile = signUp?.profile ?? null;
  const isRenamed = hasFormer(identity.former);
  const hasRoles = Object.keys(identity.roles).length > 0;
  const shared = [...(isRenamed ? ["  former,"] : []), ...(hasRoles ? ["  roles,"] : [])];
  const profileSpec = profile === null ? null : specName(profile);
  const ofRoutes = Object.values(identity.routes).flatMap((one) => [one.verifier, one.resolver]);
  const functions = [signer, ...ofRoutes, decide, erasesAlso, exportsAlso].flatMap(
    (one) => one ?? [],
  );
  const modules = moduleNames(
    paths,
    functions.map(({ file }) => file),
    (name) => name === profileSpec,
  );
  const member = (
    name: string,
    reference: FunctionReference | null,
    local: ReadonlyMap<string, string>,
    indent = "  ",
  ): readonly string[] =>
    reference === null
      ? []
      : [`${indent}${name}: ${local.get(modules.get(reference.file) ?? "")}.${reference.name},`];
  const routes = (local: ReadonlyMap<string, string>): readonly string[] => [
    "  routes: {",
    ...Object.entries(identity.routes).flatMap(([name, { verifier, resolver }]) => {
      const members = [
        ...member("verifier", verifier, local, "      "),
        ...member("resolver", resolver, local, "      "),
      ];
      const key = `    ${propertyKey(name)}: {`;
      return members.length === 0 ? [`${key}},`] : [key, ...members, "    },"];
    }),
    "  },",
  ];
  return [
    {
      path: "identity.ts",
      text: printAround(
        "identity.ts",
        [...(profileSpec === null ? [] : [profileSpec]), ...modules.values()],
        (local) => ({
          header: header("registry"),
          imports: importStatements([
            importOf("authorization", "opwright/runtime", false),
            importOf("identity", "opwright/runtime", false),
            ...(hasRoles ? [importOf("Roles", "opwright/runtime", true)] : []),
            ...(profileSpec === null
              ? []
              : importedName(profileSpec, local, `./documents/${profile}.js`, false)),
            ...[...modules].flatMap(([file, name]) =>
              importedModule(local.get(name), importPath(paths, "identity.ts", file)),
            ),
          ]),
          former: isRenamed ? formerMembers(identity.former) : null,
          roles: hasRoles ? rolesMembers(identity.roles) : null,
          identity: [
            ...routes(local),
            ...specMembers(identity, service),
            ...signUpMember(signUp, local.get(profileSpec ?? "") ?? "null"),
            ...shared,
            ...membersMember(identity),
            ...member("signer", signer, local),
            ...member("erasesAlso", erasesAlso, local),
            ...member("exportsAlso", exportsAlso, local),
          ],
          hooks: namesOfHooks(model),
          authorization: [overrides(identity), ...shared, ...member("decide", decide, local)],
        }),
      ),
    },
  ];
}

/** What routes ask of callers: scopes of strangers only where a policy has one. */
function namesOfHooks({ operations }: RegistryModel): string {
  const isOpen = Object.values(operations).some(({ hooks }) =>
    hooks.some(({ run }) => "call" in run && run.call.name === openScope),
  );
  return ["authorize", "may", ...(isOpen ? [openScope] : []), "scope"].join(", ");
}

function overrides({ override }: IdentityModel): string {
  return listLayout("  ", "override: ", override.map(literal), ["[", "]"], ",");
}

function specMembers(identity: IdentityModel, { name, was }: ServiceModel): readonly string[] {
  const { ingress, jwks, tenantHints } = identity;
  return [
    `  issuer: ${literal(was ?? name)},`,
    ...(was === null ? [] : [`  alsoIssuers: [${literal(name)}],`]),
    listLayout("  ", "ingress: ", ingress.map(literal), ["[", "]"], ","),
    `  algorithm: ${literal(identity.algorithm)},`,
    `  accessTtlSeconds: ${identity.accessTtlSeconds},`,
    `  refreshTtlSeconds: ${identity.refreshTtlSeconds},`,
    `  refreshGraceSeconds: ${identity.refreshGraceSeconds},`,
    `  resetTtlSeconds: ${identity.resetTtlSeconds},`,
    jwks === null ? "  jwks: null," : mapMember("  ", "jwks", jwks),
    `  hasTenancy: ${identity.hasTenancy},`,
    mapMember("  ", "tenantHints", tenantHints),
    `  trustForwardedHost: ${identity.trustForwardedHost},`,
  ];
}

function formerMembers({ resources, permissions }: FormerPermissionsModel): readonly string[] {
  return [mapMember("  ", "resources", resources), mapMember("  ", "permissions", permissions)];
}

function membersMember({ members, override }: IdentityModel): readonly string[] {
  if (members === null) return [];
  const givesAll = override.map((one) => permissionFor(one, membersNamespace));
  return [mapMember("  ", "members", { ...members, givesAll })];
}

function rolesMembers(roles: IdentityModel["roles"]): readonly string[] {
  return Object.entries(roles).map(([name, { permissions, gives }]) => {
    const members = { permissions, ...(gives.length === 0 ? {} : { gives }) };
    return mapMember("  ", name, members);
  });
}

function hasFormer({ resources, permissions }: FormerPermissionsModel): boolean {
  return Object.keys({ ...resources, ...permissions }).length > 0;
}

function signUpMember(signUp: SignUpModel | null, profile: string): readonly string[] {
  if (signUp === null) return ["  signUp: null,"];
  const { verify, ttlSeconds } = signUp;
  return [
    "  signUp: {",
    `    verify: ${literal(verify)},`,
    `    ttlSeconds: ${ttlSeconds},`,
    `    profile: ${profile === "null" ? "null" : `() => ${profile}`},`,
    "  },",
  ];
}
