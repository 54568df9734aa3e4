// identity.ts: who is calling, and the hooks of authorization bound to the service.
import type { FunctionReference } from "../../model/code.js";
import type { IdentityModel, RegistryModel } from "../../model/registry.js";
import { header, type EmittedFile } from "../../print/file.js";
import { importOf, importStatements, listLayout, literal, mapMember } from "../../print/layout.js";
import { importPath, moduleNames, type ModulePaths } from "../../print/module-path.js";
import { print } from "../../print/templates.js";

export function emitIdentity(model: RegistryModel, paths: ModulePaths): readonly EmittedFile[] {
  const { identity, service } = model;
  if (identity === null) return [];
  const { signer, verifier, resolver, decide } = identity;
  const functions = [signer, verifier, resolver, decide].flatMap((one) => one ?? []);
  const modules = moduleNames(
    paths,
    functions.map(({ file }) => file),
    () => false,
  );
  const member = (name: string, reference: FunctionReference | null): readonly string[] =>
    reference === null
      ? []
      : [`  ${name}: ${modules.get(reference.file) ?? ""}.${reference.name},`];
  return [
    {
      path: "identity.ts",
      text: print("identity.ts", {
        header: header("registry"),
        imports: importStatements([
          importOf("authorization", "opwright/runtime", false),
          importOf("identity", "opwright/runtime", false),
          ...[...modules].map(([file, name]) =>
            importOf(`* as ${name}`, importPath(paths, "identity.ts", file), false),
          ),
        ]),
        identity: [
          ...specMembers(identity, service.name),
          ...member("signer", signer),
          ...member("verifier", verifier),
          ...member("resolver", resolver),
        ],
        authorization: [
          listLayout("  ", "override: ", identity.override.map(literal), ["[", "]"], ","),
          ...member("decide", decide),
        ],
      }),
    },
  ];
}

function specMembers(identity: IdentityModel, issuer: string): readonly string[] {
  const { ingress, jwks, tenantHints } = identity;
  return [
    `  route: ${literal(identity.route)},`,
    `  issuer: ${literal(issuer)},`,
    listLayout("  ", "ingress: ", ingress.map(literal), ["[", "]"], ","),
    `  algorithm: ${literal(identity.algorithm)},`,
    `  accessTtlSeconds: ${identity.accessTtlSeconds},`,
    `  refreshTtlSeconds: ${identity.refreshTtlSeconds},`,
    `  refreshGraceSeconds: ${identity.refreshGraceSeconds},`,
    `  resetTtlSeconds: ${identity.resetTtlSeconds},`,
    jwks === null ? "  jwks: null," : mapMember("  ", "jwks", jwks),
    mapMember("  ", "tenantHints", tenantHints),
    `  trustForwardedHost: ${identity.trustForwardedHost},`,
  ];
}
