// client/: the typed client of the service, one function per operation, over a core that is the
// same for every service.
import { families } from "../../families/index.js";
import { own } from "../../model/records.js";
import type { IdentityModel, IngressModel } from "../../model/identity-model.js";
import type { RegistryModel } from "../../model/registry.js";
import { header, type EmittedFile } from "../../print/file.js";
import { docComment, listLayout, literal } from "../../print/layout.js";
import { publishedTypes } from "../published-types.js";
import { print } from "../../print/templates.js";
import { typeDeclaration } from "../../print/type-text.js";
import { typeModules, typesByModule } from "../../print/type-modules.js";
import { commonCodes } from "./codes.js";
import { emitMocks } from "./mocks.js";
import { namespaceName } from "./functions.js";
import { printNamespace } from "./namespace.js";
import { attachedNamespaces } from "../../print/client-operation.js";
import { ownFile } from "./own-file.js";
import { emitPackage } from "./package.js";
import { emitQueries } from "./queries.js";
import type { ClientSettings } from "./settings.js";

/** What every client has. */
const coreFiles = ["caller", "core", "error", "options", "refresh", "request", "signals"];

/** All files of the client. It has the operations with a route, and the types that these need. */
export function emitClient(model: RegistryModel, settings: ClientSettings): readonly EmittedFile[] {
  const published = publishedTypes(model);
  const modules = new Map(
    [...typeModules(model)].filter(([name]) => Object.hasOwn(published, name)),
  );
  const owned = typesByModule(modules);
  const shared = owned.get("models") ?? [];
  const common = commonCodes(model);
  const namespaces = attachedNamespaces(model).filter(
    ({ name, operations }) => operations.length > 0 || owned.has(name),
  );
  const parts = families.map((family) => family.client(model, modules));
  return [
    ...[...coreFiles, ...parts.flatMap(({ copied }) => copied)].map((part) =>
      ownFile(`${part}.ts`),
    ),
    {
      path: "client/models.ts",
      text: print("types.ts", {
        header: header("registry"),
        imports: [],
        declarations: [
          ...shared.map((name) => typeDeclaration(name, model.types[name] ?? true)),
          ...common.map(({ type, schema }) => typeDeclaration(type, schema)),
        ],
      }),
    },
    ...namespaces.map((namespace) => ({
      path: `client/api/${namespace.name}.ts`,
      text: printNamespace(namespace, {
        model,
        modules,
        common,
        types: owned.get(namespace.name) ?? [],
      }),
    })),
    {
      path: "client/index.ts",
      text: print("client/index.ts", {
        header: header("registry"),
        comment: docComment("", `A client of ${model.service.title}.`),
        parts: parts.flatMap(({ exported }) => exported),
        creation: creationOf(model),
        namespaces: namespaces
          .filter(({ operations }) => operations.length > 0)
          .map(({ name }) => ({ name: namespaceName(name), file: name })),
      }),
    },
    ...parts.flatMap(({ printed }) => printed),
    ...(settings.queries ? emitQueries(model, modules) : []),
    ...(settings.mocks ? emitMocks(model, modules) : []),
    ...emitPackage(model, settings, parts),
  ];
}

/**
 * The bearer ingress of the service's own tokens, which a client gets by signing in; otherwise the
 * first one.
 */
function ownIngress({ ingress, routes }: IdentityModel): BearerIngress | undefined {
  const bearers = ingress.filter((one) => one.kind === "bearer");
  return bearers.find(({ route }) => own(routes, route)?.resolver === null) ?? bearers[0];
}

type BearerIngress = Extract<IngressModel, { kind: "bearer" }>;

/** Makes a client with the options that one of this service has by default. */
function creationOf({ identity, operations, service }: RegistryModel): string {
  const bearer = identity === null ? undefined : ownIngress(identity);
  const header = bearer?.header.toLowerCase() ?? "";
  const refresh = Object.values(operations).find(({ tokens }) => tokens === "refresh");
  const known = {
    service: service.name,
    refreshPath: refresh?.route?.path ?? "",
    ...(["", "authorization"].includes(header) ? {} : { tokenHeader: header }),
    ...(["", "bearer"].includes(bearer?.scheme.toLowerCase() ?? "")
      ? {}
      : { tokenScheme: bearer?.scheme }),
  };
  const members = Object.entries(known).map(([name, value]) => `${name}: ${literal(value)}`);
  const options = [...members, "...options"];
  return listLayout("  ", "return $.createClient(", options, ["{", "}"], ");");
}
