// Where each named type is declared.
import { own } from "../model/records.js";
import type { RegistryModel } from "../model/registry.js";

/** The module, relative to `types/`, that declares each named type. */
export function typeModules({ types, homes }: RegistryModel): ReadonlyMap<string, string> {
  return new Map(Object.keys(types).map((name) => [name, own(homes, name) ?? "models"]));
}

/** The types that each module declares. */
export function typesByModule(
  modules: ReadonlyMap<string, string>,
): ReadonlyMap<string, readonly string[]> {
  const owned = new Map<string, string[]>();
  for (const [type, module] of modules) {
    const types = owned.get(module);
    if (types === undefined) owned.set(module, [type]);
    else types.push(type);
  }
  return owned;
}
