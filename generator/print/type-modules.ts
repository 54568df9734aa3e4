// Where each named type is declared.
import { own } from "../model/records.js";
import type { RegistryModel } from "../model/registry.js";

/** The module, relative to `types/`, that declares each named type. */
export function typeModules({ types, homes }: RegistryModel): ReadonlyMap<string, string> {
  return new Map(Object.keys(types).map((name) => [name, own(homes, name) ?? "models"]));
}
