// service.ts and server.ts: the whole service as one value, and the entry of its process.
import { isDeepStrictEqual } from "node:util";
import { limits } from "../../runtime/contract/limits.js";
import { families } from "../families/index.js";
import { authoredIn, callOf, ofAuthor, ofGenerated, ofRuntime, type Code } from "../model/code.js";
import { camelCase } from "../model/names.js";
import { mergeRecords } from "../model/records.js";
import type { ObjectivesModel, RegistryModel } from "../model/registry.js";
import { header, type EmittedFile } from "../print/file.js";
import { importStatements, listLayout, literal, width } from "../print/layout.js";
import type { ModulePaths } from "../print/module-path.js";
import { ModuleScope } from "../print/module-scope.js";
import { envelopeModule } from "./answers.js";
import { isAnyKept, keptModule } from "./kept.js";
import { namespacesOf } from "../model/namespaces.js";
import { print } from "../print/templates.js";

const usualProbes = { livez: "/livez", readyz: "/readyz" };

/** Both files. Operations without a route are not in the service. */
export function emitService(model: RegistryModel, paths: ModulePaths): readonly EmittedFile[] {
  const { service } = model;
  const namespaces = namespacesOf(model).filter(({ operations }) =>
    operations.some(({ route }) => route !== null),
  );
  const parts: Readonly<Record<string, Code | readonly Code[]>> = {
    ...mergeRecords(families.map((family) => family.service(model))),
    ...(service.errors === null
      ? {}
      : {
          errorEnvelope: callOf(
            ofRuntime("errorEnvelope"),
            ofGenerated(`validators/${envelopeModule}`, "body"),
            ofAuthor(service.errors.envelope),
          ),
        }),
    ...(isAnyKept(model) ? { kept: ofGenerated(keptModule, keptModule) } : {}),
    ...(service.app === null ? {} : { app: ofAuthor(service.app) }),
  };
  const scope = new ModuleScope({
    paths,
    path: "service.ts",
    declares: ["service"],
    authored: Object.values(parts)
      .flat()
      .flatMap(authoredIn)
      .map(({ file }) => file),
  });
  const maker = scope.runtime("defineService");
  const members = Object.entries(parts).flatMap(([member, code]) =>
    memberText(member, code, scope),
  );
  const routes = namespaces.flatMap(({ name, operations }) => {
    const module = scope.module(`routes/${name}`, `${camelCase(name)}Routes`);
    return operations
      .filter(({ route }) => route !== null)
      .map(({ key }) => `${module}.${camelCase(key)}`);
  });
  const lister = routes.length === 0 ? "" : scope.runtime("routes");
  const view = {
    header: header("registry"),
    imports: importStatements(scope.imports),
    maker,
    name: literal(service.name),
    was: service.was === null ? "" : `  was: ${literal(service.was)},`,
    title: literal(service.title),
    version: literal(service.version),
    deadline:
      service.deadlineSeconds === limits.defaultDeadlineSeconds
        ? ""
        : `  deadlineSeconds: ${service.deadlineSeconds},`,
    probes: isDeepStrictEqual(service.probes, usualProbes)
      ? ""
      : `  probes: ${literal(service.probes)},`,
    slo: service.slo === null ? "" : objectivesText(model, service.slo),
    members,
    lister,
    routes,
  };
  return [
    { path: "service.ts", text: print("service.ts", view) },
    { path: "server.ts", text: print("server.ts", view) },
  ];
}

/** What the service counts for its objectives. What is streamed takes as long as its reader. */
function objectivesText({ operations }: RegistryModel, { latency }: ObjectivesModel): string {
  if (latency === null) return "  slo: {},";
  const named = new Set(latency.except);
  const streamed = Object.values(operations)
    .filter(({ output, key, namespace }) => {
      const isStreamed = output.isStream || output.isBytes;
      return isStreamed && !named.has(key) && !named.has(`${namespace}.*`);
    })
    .map(({ key }) => key);
  const except = [...latency.except, ...streamed].sort().map((key) => literal(key));
  const seconds = `latencySeconds: ${latency.seconds}`;
  if (except.length === 0) return `  slo: { ${seconds} },`;
  const line = `  slo: { ${seconds}, except: [${except.join(", ")}] },`;
  if (line.length <= width) return line;
  const list = listLayout("    ", "except: ", except, ["[", "]"], ",");
  return ["  slo: {", `    ${seconds},`, list, "  },"].join("\n");
}

/**
 * `identity: identitySpec,`, `searches: [placeSearchSpec],`, or nothing for a list that is empty.
 */
function memberText(
  member: string,
  code: Code | readonly Code[],
  scope: ModuleScope,
): readonly string[] {
  if (!isList(code)) return [`  ${member}: ${scope.code(code)},`];
  if (code.length === 0) return [];
  const items = code.map((one) => scope.code(one));
  return [listLayout("  ", `${member}: `, items, ["[", "]"], ",")];
}

function isList(code: Code | readonly Code[]): code is readonly Code[] {
  return Array.isArray(code);
}
