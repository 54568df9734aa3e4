// Mounts: which operation gets which route (decisions.md §1 "Attach rules", service.md "Options common to every route generator").
import { didYouMean } from "../did-you-mean.js";
import type { Origin, Report } from "../diagnostics.js";
import type { MountDeclaration, RouteStyle } from "../load/declarations.js";
import type { SourceTree } from "../load/source-tree.js";
import type {
  DocumentModel,
  OperationModel,
  RouteModel,
  SearchModel,
  StorageModel,
} from "../model/registry.js";
import type { BuiltInNamespace } from "./built-in.js";
import { placeholdersOf } from "../families/custom/expand.js";
import type { FamilyContext, UnmountedOperation } from "./family.js";

/** One attachment: a namespace at a path, and where the registry says so. */
interface Mount {
  readonly namespace: string;
  readonly declaration: MountDeclaration;
  readonly path: readonly (string | number)[];
}

/** What can be mounted. */
export interface Mountable {
  readonly documents: ReadonlyMap<string, DocumentModel>;
  readonly searches: ReadonlyMap<string, SearchModel>;
  readonly storages: ReadonlyMap<string, StorageModel>;
  /** Operations by namespace that have default routes. */
  readonly operations: ReadonlyMap<string, readonly UnmountedOperation[]>;
  /** Namespaces of the runtime, which say themselves where they are mounted. */
  readonly builtIn: readonly BuiltInNamespace[];
  readonly defaultStyle: RouteStyle;
}

/** Routes by operation key, for everything that a mount attaches. Reports every broken attach rule. */
export function attach(
  context: FamilyContext,
  mountable: Mountable,
): ReadonlyMap<string, RouteModel> {
  const routes = new Map<string, RouteModel>();
  const attachedAt = new Map<string, Origin>();
  for (const mount of mountsOf(context, mountable)) {
    const at = context.tree.at(...mount.path);
    const searched = mountable.searches.get(mount.namespace)?.document;
    if (mountable.documents.get(searched ?? mount.namespace)?.sensitive === true) {
      context.report({
        code: "OPW066",
        message: `${mount.namespace} is sensitive and cannot be mounted`,
        at,
      });
      continue;
    }
    const operations = included(context, mount, mountable.operations.get(mount.namespace) ?? []);
    checkPaths(context, mount, operations);
    if (operations.length === 0) {
      context.report({ code: "OPW067", message: "this mount attaches no operation", at });
    }
    for (const { operation, route } of operations.flatMap(
      (unmounted) => routed(context, mount, unmounted, mountable) ?? [],
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
    }
  }
  return routes;
}

function mountsOf(context: FamilyContext, mountable: Mountable): readonly Mount[] {
  const { declarations, tree, report } = context;
  const own = [...mountable.documents.keys()].flatMap((namespace): readonly Mount[] => {
    const declaration = declarations.documents[namespace];
    if (declaration === undefined || declaration.mount === false) return [];
    // A sensitive document is off every mount, so it needs no `mount: false`; one that is written out is an error.
    if (declaration.mount === undefined && declaration.sensitive === true) return [];
    const mount = declaration.mount ?? { at: `/${namespace}` };
    return [{ namespace, declaration: mount, path: ["documents", namespace, "mount"] }];
  });
  const prefixes = new Map(
    [...mountable.documents.keys()].map((namespace) => {
      const mount = declarations.documents[namespace]?.mount;
      return [mount === undefined || mount === false ? `/${namespace}` : mount.at, namespace];
    }),
  );
  const further = Object.entries(declarations.mounts).flatMap(
    ([name, declaration]): readonly Mount[] => {
      const namespace = namespaceOf(name, declaration, prefixes, mountable, tree, report);
      return namespace === undefined ? [] : [{ namespace, declaration, path: ["mounts", name] }];
    },
  );
  const ofRuntime = mountable.builtIn.flatMap(({ namespace, mount }): readonly Mount[] => {
    const { declared, usual, path } = mount;
    return declared === false ? [] : [{ namespace, declaration: declared ?? { at: usual }, path }];
  });
  const searches = [...mountable.searches.keys()].flatMap((namespace): readonly Mount[] => {
    const mount = declarations.search[namespace]?.mount;
    if (mount === false) return [];
    const path = ["search", namespace, "mount"];
    return [{ namespace, declaration: mount ?? { at: `/search/${namespace}` }, path }];
  });
  const storages = [...mountable.storages.keys()].flatMap((namespace): readonly Mount[] => {
    const mount = declarations.storage[namespace]?.mount;
    if (mount === false) return [];
    const path = ["storage", namespace, "mount"];
    return [{ namespace, declaration: mount ?? { at: `/${namespace}` }, path }];
  });
  return [...own, ...searches, ...storages, ...ofRuntime, ...further];
}

function namespaceOf(
  name: string,
  declaration: FamilyContext["declarations"]["mounts"][string],
  prefixes: ReadonlyMap<string, string>,
  mountable: Mountable,
  tree: SourceTree,
  report: Report,
): string | undefined {
  const { namespace, prefix } = declaration;
  if ((namespace === undefined) === (prefix === undefined)) {
    const message =
      namespace === undefined
        ? "neither namespace nor prefix is given"
        : "both namespace and prefix are given";
    report({ code: "OPW060", message, at: tree.keyAt("mounts", name) });
    return undefined;
  }
  if (prefix !== undefined) {
    const found = prefixes.get(prefix);
    if (found !== undefined) return found;
    report({
      code: "OPW061",
      message: `nothing is registered under the prefix ${prefix}`,
      at: tree.at("mounts", name, "prefix"),
      suggestion: didYouMean(prefix, prefixes.keys()),
    });
    return undefined;
  }
  if (namespace !== undefined && mountable.operations.has(namespace)) return namespace;
  report({
    code: "OPW070",
    message: `nothing registers the namespace ${namespace ?? ""}`,
    at: tree.at("mounts", name, "namespace"),
    suggestion: didYouMean(namespace ?? "", mountable.operations.keys()),
  });
  return undefined;
}

function included(
  context: FamilyContext,
  mount: Mount,
  registered: readonly UnmountedOperation[],
): readonly UnmountedOperation[] {
  const { include } = mount.declaration;
  if (include === undefined) return registered;
  const names = registered.map(({ operation }) => operation.name);
  for (const [index, name] of include.entries()) {
    if (names.includes(name)) continue;
    context.report({
      code: "OPW062",
      message: `${mount.namespace} registers no operation ${name}`,
      at: context.tree.at(...mount.path, "include", index),
      suggestion: didYouMean(name, names),
    });
  }
  return registered.filter(({ operation }) => include.includes(operation.name));
}

function checkPaths(
  context: FamilyContext,
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

function routed(
  context: FamilyContext,
  mount: Mount,
  unmounted: UnmountedOperation,
  mountable: Mountable,
): { readonly operation: OperationModel; readonly route: RouteModel } | undefined {
  const { operation, status } = unmounted;
  const style = mount.declaration.style ?? mountable.defaultStyle;
  const route = unmounted.routes?.[style];
  // It has no route of its own, and is called by others.
  if (route === undefined) return undefined;
  const override = mount.declaration.paths?.[operation.name];
  if (override !== undefined) checkOverride(context, mount, operation.name, route.path, override);
  const root = mount.declaration.at.replace(/\/+$/, "");
  const relative = override === undefined ? route.path : withRest(route.path, override);
  const isPrefixRoot = relative === "/" || relative === "";
  const path = isPrefixRoot ? root || "/" : `${root}${relative}`;
  return { operation, route: { method: route.method, path, isPrefixRoot, status } };
}

/** An override whose last placeholder takes the rest of the path where the usual one does. */
function withRest(usual: string, override: string): string {
  const rest = /\{\+(\w+)\}$/.exec(usual)?.[1];
  return rest === undefined ? override : override.replace(`{${rest}}`, `{+${rest}}`);
}

function checkOverride(
  context: FamilyContext,
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
