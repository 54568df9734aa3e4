// The files of one namespace share its operations and types; this groups them once.
import type { OperationModel, RegistryModel } from "./registry.js";

export interface Namespace {
  readonly name: string;
  readonly operations: readonly OperationModel[];
  /** The registry files that declare it, in order, joined for a header. */
  readonly source: string;
}

const grouped = new WeakMap<RegistryModel, readonly Namespace[]>();

/** Namespaces in code-unit order, each with its operations by key. */
export function namespacesOf(model: RegistryModel): readonly Namespace[] {
  const namespaces = grouped.get(model) ?? groupOperations(model);
  grouped.set(model, namespaces);
  return namespaces;
}

function groupOperations(model: RegistryModel): readonly Namespace[] {
  const groups = new Map<string, OperationModel[]>();
  for (const operation of Object.values(model.operations)) {
    const group = groups.get(operation.namespace);
    if (group === undefined) groups.set(operation.namespace, [operation]);
    else group.push(operation);
  }
  return [...groups]
    .sort(([left], [right]) => (left < right ? -1 : 1))
    .map(([name, operations]) => ({
      name,
      operations,
      source: [...new Set(operations.map(({ source }) => source))].sort().join(", "),
    }));
}
