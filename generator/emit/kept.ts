// kept.ts: how values are kept that another version of the service may read.
import { families } from "../families/index.js";
import { keptAnswers, type KeptValue } from "../model/kept-values.js";
import { specName } from "../model/names.js";
import type { RegistryModel } from "../model/registry.js";
import { documentOf } from "../model/views.js";
import { header, type EmittedFile } from "../print/file.js";
import { importStatements, mapMember, propertyKey } from "../print/layout.js";
import type { ModulePaths } from "../print/module-path.js";
import { ModuleScope } from "../print/module-scope.js";
import { print } from "../print/templates.js";
import { KeptParts, type ObjectPart } from "./kept-parts.js";

/** The module, and the name of its value. */
export const keptModule = "kept";

/** All that a service keeps, of every family. */
export function keptValues(model: RegistryModel): readonly KeptValue[] {
  return [...keptAnswers(model), ...families.flatMap((family) => family.keeps(model))];
}

/** What is kept and has declared members, with what it consists of. */
function declaredParts(model: RegistryModel, parts: KeptParts) {
  return keptValues(model).flatMap(({ kind, name, schema }) => {
    const part = parts.partOf(schema);
    return part === undefined ? [] : [{ kind, name, part }];
  });
}

/** Whether anything is kept whose members are declared: only then there is the module. */
export function isAnyKept(model: RegistryModel): boolean {
  const parts = new KeptParts(model);
  return keptValues(model).some(({ schema }) => parts.partOf(schema) !== undefined);
}

/** The module; none if nothing is kept whose members are declared. */
export function emitKept(model: RegistryModel, paths: ModulePaths): readonly EmittedFile[] {
  const parts = new KeptParts(model);
  const kept = declaredParts(model, parts);
  if (kept.length === 0) return [];
  const path = `${keptModule}.ts`;
  const scope = new ModuleScope({ paths, path, declares: [keptModule], authored: [] });
  const kinds = (["answers", "events", "signals", "inputs"] as const).flatMap((kind) => {
    const entries = kept.filter((one) => one.kind === kind).map(({ name, part }) => [name, part]);
    return entries.length === 0 ? [] : [mapMember("  ", kind, Object.fromEntries(entries))];
  });
  const types = Object.entries(parts.types).map(([name, part]) => typeText(name, part, scope));
  const view = {
    header: header("registry"),
    maker: scope.runtime("keptForms"),
    lines: [
      ...kinds,
      ...(types.length === 0 ? ["  types: {},"] : ["  types: {", ...types, "  },"]),
    ],
  };
  return [{ path, text: print("kept.ts", { ...view, imports: importStatements(scope.imports) }) }];
}

/** A type, with the spec of its documents where it has any, looked up when it is needed. */
function typeText(name: string, { document, ...part }: ObjectPart, scope: ModuleScope): string {
  const text = mapMember("    ", propertyKey(name), { ...part });
  if (document === undefined) return text;
  const spec = scope.generated(`documents/${documentOf(document)}`, specName(document));
  const [first = "", ...rest] = text.split("\n");
  return [first, `      document: () => ${spec},`, ...rest].join("\n");
}
