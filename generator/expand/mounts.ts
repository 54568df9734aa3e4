// Mounts: which operation gets which route (decisions.md §1 "Attach rules", service.md "Options
// common to every route generator").
import type { RouteStyle } from "../model/vocabulary.js";
import { didYouMean } from "../diagnostics/did-you-mean.js";
import type { Origin } from "../diagnostics/diagnostics.js";
import type { MountDeclaration } from "../load/declarations.js";
import type { OperationModel, RouteModel } from "../model/registry.js";
import { isLeftOut } from "../kernel/left-out.js";
import { checkOperationName } from "../kernel/guard-by-operation.js";
import { placeholdersOf } from "../kernel/placeholders.js";
import type { ExpansionContext, NamespaceExpansion, UnmountedOperation } from "../kernel/family.js";

/** One attachment: a namespace at a path, and where the registry says so. */
interface Mount {
  readonly namespace: NamespaceExpansion;
  readonly declaration: MountDeclaration;
  readonly path: readonly (string | number)[];
  /** Whether the registry says it, or it is the usual one. */
  readonly isDeclared: boolean;
}

/** What mounts attach, by operation key. */
export interface Attached {
  readonly routes: ReadonlyMap<string, RouteModel>;
  /** The mounts that the registry declares; usual ones are nowhere. */
  readonly mounts: ReadonlyMap<string, Origin>;
}

/** Gives everything that a mount attaches its route. Reports every broken attach rule. */
export function attach(
  context: ExpansionContext,
  namespaces: readonly NamespaceExpansion[],
  style: RouteStyle,
): Attached {
  const mounts = new Map<string, Origin>();
  const routes = new Map<string, RouteModel>();
  const attachedAt = new Map<string, Origin>();
  for (const mount of [...ownMounts(namespaces), ...furtherMounts(context, namespaces)]) {
    const at = context.tree.at(...mount.path);
    const { name, isSensitive, operations: registered } = mount.namespace;
    if (isSensitive) {
      const message = `${name} is sensitive and cannot be mounted`;
      context.report({ code: "OPW066", message, at });
      continue;
    }
    const operations = selectIncluded(context, mount, registered);
    checkPaths(context, mount, operations);
    if (operations.length === 0) {
      context.report({ code: "OPW067", message: "this mount attaches no operation", at });
    }
    for (const { operation, route } of operations.flatMap(
      (unmounted) => routeOperation(context, mount, unmounted, style) ?? [],
    )) {
      const earlier = attachedAt.get(operation.key);
      if (earlier !== undefined) {
        context.report({
          code: "OPW069",
          message: `${operation.key} is attached already`,
          at,
          related: [{ message: "first attached here", at: earlier }],
        });
        continue;
      }
      attachedAt.set(operation.key, at);
      routes.set(operation.key, route);
      if (mount.isDeclared) mounts.set(operation.key, at);
    }
  }
  return { routes, mounts };
}

/** The mount that each namespace has of its own, unless it has none. */
function ownMounts(namespaces: readonly NamespaceExpansion[]): readonly Mount[] {
  return namespaces.flatMap((namespace): readonly Mount[] => {
    const { declared, usual, path } = namespace.mount;
    // Sensitive declarations are never mounted, so they need no `mount: false`; a written mount is
    // an error.
    const isOff = declared === false || (declared === undefined && namespace.isSensitive);
    return isOff
      ? []
      : [
          {
            namespace,
            declaration: declared ?? { at: usual },
            path,
            isDeclared: declared !== undefined,
          },
        ];
  });
}

/** What a namespace was registered under, by which further mounts may call it. */
function prefixOf({ mount: { declared, usual } }: NamespaceExpansion): string {
  return typeof declared === "object" ? declared.at : usual;
}

/** The mounts of the section `mounts`. */
function furtherMounts(
  context: ExpansionContext,
  namespaces: readonly NamespaceExpansion[],
): readonly Mount[] {
  const { declarations, tree, report } = context;
  const byName = new Map(namespaces.map((one) => [one.name, one]));
  const byPrefix = new Map<string, NamespaceExpansion[]>();
  for (const one of namespaces)
    byPrefix.set(prefixOf(one), [...(byPrefix.get(prefixOf(one)) ?? []), one]);
  return Object.entries(declarations.mounts).flatMap(([name, declaration]): readonly Mount[] => {
    const { namespace: named, prefix } = declaration;
    if ((named === undefined) === (prefix === undefined)) {
      const message =
        named === undefined
          ? "neither namespace nor prefix is given"
          : "both namespace and prefix are given";
      report({ code: "OPW060", message, at: tree.keyAt("mounts", name) });
      return [];
    }
    const found = byPrefix.get(prefix ?? "") ?? [];
    const [namespace, second] = prefix === undefined ? [byName.get(named ?? "")] : found;
    if (namespace !== undefined && second === undefined)
      return [{ namespace, declaration, path: ["mounts", name], isDeclared: true }];
    if (named !== undefined && isLeftOut(context, named)) return [];
    if (prefix === undefined)
      report({
        code: "OPW070",
        message: `nothing registers the namespace ${named ?? ""}`,
        at: tree.at("mounts", name, "namespace"),
        suggestion: didYouMean(named ?? "", byName.keys()),
      });
    else
      report({
        code: "OPW061",
        message:
          second === undefined
            ? `nothing is registered under the prefix ${prefix}`
            : `${found.map((one) => one.name).join(" and ")} are registered under the prefix ${prefix}: say which by \`namespace\``,
        at: tree.at("mounts", name, "prefix"),
        suggestion: didYouMean(prefix, byPrefix.keys()),
      });
    return [];
  });
}

function selectIncluded(
  context: ExpansionContext,
  mount: Mount,
  registered: readonly UnmountedOperation[],
): readonly UnmountedOperation[] {
  const { include } = mount.declaration;
  if (include === undefined) return registered;
  const names = registered.map(({ operation }) => operation.name);
  for (const [index, name] of include.entries()) {
    const at = context.tree.at(...mount.path, "include", index);
    checkOperationName(context, mount.namespace.name, name, { names, groups: [], at });
  }
  return registered.filter(({ operation }) => include.includes(operation.name));
}

function checkPaths(
  context: ExpansionContext,
  mount: Mount,
  attached: readonly UnmountedOperation[],
): void {
  const names = attached.map(({ operation }) => operation.name);
  for (const name of Object.keys(mount.declaration.paths ?? {})) {
    if (names.includes(name)) continue;
    context.report({
      code: "OPW063",
      message: `${name} is not attached by this mount`,
      at: context.tree.keyAt(...mount.path, "paths", name),
      suggestion: didYouMean(name, names),
    });
  }
}

function routeOperation(
  context: ExpansionContext,
  mount: Mount,
  unmounted: UnmountedOperation,
  usual: RouteStyle,
): { readonly operation: OperationModel; readonly route: RouteModel } | undefined {
  const { operation, status } = unmounted;
  const style = mount.declaration.style ?? usual;
  const route = unmounted.routes?.[style];
  // It has no route of its own; other operations call it.
  if (route === undefined) return undefined;
  const override = mount.declaration.paths?.[operation.name];
  if (override !== undefined) checkOverride(context, mount, operation.name, route.path, override);
  const root = mount.declaration.at.replace(/\/+$/, "");
  const relative = override === undefined ? route.path : withRest(route.path, override);
  const isPrefixRoot = relative === "/" || relative === "";
  const path = isPrefixRoot ? root || "/" : `${root}${relative}`;
  return { operation, route: { method: route.method, path, isPrefixRoot, status, reply: null } };
}

/** An override whose last placeholder takes the rest of the path where the usual one does. */
function withRest(usual: string, override: string): string {
  const rest = /\{\+(\w+)\}$/.exec(usual)?.[1];
  return rest === undefined ? override : override.replace(`{${rest}}`, `{+${rest}}`);
}

function checkOverride(
  context: ExpansionContext,
  mount: Mount,
  name: string,
  usual: string,
  override: string,
): void {
  const at = context.tree.at(...mount.path, "paths", name);
  const [bound, given] = [placeholdersOf(usual), placeholdersOf(override)];
  for (const placeholder of bound) {
    if (given.includes(placeholder)) continue;
    context.report({ code: "OPW064", message: `the path drops {${placeholder}}`, at });
  }
  if (
    usual.endsWith("+key}") &&
    bound.every((name) => given.includes(name)) &&
    !override.endsWith("}")
  )
    context.report({ code: "OPW064", message: "{key} takes the rest of the path: it ends it", at });
  for (const placeholder of given) {
    if (bound.includes(placeholder)) continue;
    context.report({ code: "OPW065", message: `the path adds {${placeholder}}`, at });
  }
}
