// New operations: whether one is guarded as those beside it, or somebody has to agree.
import type { Note } from "../compare/change.js";
import { mayRefuse, permissionsOf } from "../compare/hooks.js";
import type { OperationModel, RegistryModel } from "../model/registry.js";

/** Reports an operation that clients may call from now on, as part of a cause if it has one. */
export function compareNew(
  operation: OperationModel,
  before: RegistryModel,
  note: Note,
  cause: string | undefined,
): void {
  const { key } = operation;
  const lack = lackOf(operation, before);
  note({
    text: `${key} is new${lack ?? ""}`,
    level: lack === null ? "additive" : "opens",
    area: "http",
    subject: { kind: "operation", name: key },
    affects: [key],
    ...(cause === undefined ? {} : { cause: `${cause}${lack ?? ""}` }),
  });
}

/**
 * What a new operation doesn't ask for: nobody has to be signed in, or it has none of the rules
 * that each operation of its namespace had. Null if it is guarded as those are, or if its namespace
 * is new and people have to be signed in.
 */
function lackOf(operation: OperationModel, before: RegistryModel): string | null {
  if (!operation.requiresAuthn) return " and requires no authentication";
  const siblings = Object.values(before.operations)
    .filter(({ namespace, route }) => namespace === operation.namespace && route !== null)
    .map(rulesOf);
  const common = new Set(["permission", "scope", ...siblings.flat()]);
  const hasSome = rulesOf(operation).some((rule) => common.has(rule));
  return !hasSome && siblings.length > 0 && siblings.every((rules) => rules.length > 0)
    ? ` and asks only who is calling, unlike all others of ${operation.namespace}`
    : null;
}

/**
 * What is asked besides who is calling and how often, by its kind; of the author's hooks, each by
 * its name.
 */
function rulesOf({ hooks }: OperationModel): readonly string[] {
  return [
    ...(permissionsOf(hooks).length > 0 ? ["permission"] : []),
    ...(hooks.some(({ provides }) => provides.includes("authz.scope")) ? ["scope"] : []),
    ...hooks.filter((hook) => hook.isAuthored && mayRefuse(hook)).map(({ id }) => id),
  ];
}
