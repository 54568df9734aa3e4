// Which route answers a method and a path. Knows of HEAD, of 405 and of prefix roots (decisions.md §1).
import { fail, type ServiceError } from "../contract/errors.js";
import type { AnyRoute } from "../operations/operation.js";
import { PathTree, type PathMatch } from "./path-tree.js";

/** A route that matches, with its decoded path values and the undecoded query string. */
export interface RouteMatch {
  readonly route: AnyRoute;
  readonly path: Readonly<Record<string, string | undefined>>;
  readonly query: string;
}

export interface RouteTable {
  /**
   * The route of a request, or null where no route has the path.
   * Throws `method_not_allowed` with `Allow`, and `path_malformed` for bad percent-encoding.
   */
  match(method: string, url: string): RouteMatch | null;
}

/** Builds the table once, at start. */
export function routeTable(routes: readonly AnyRoute[]): RouteTable {
  const trees = new Map<string, PathTree<AnyRoute>>();
  const add = (method: string, path: string, route: AnyRoute): void => {
    const tree = trees.get(method) ?? new PathTree();
    trees.set(method, tree);
    tree.add(path, route);
  };
  const heads = new Set(routes.flatMap(({ method, path }) => (method === "HEAD" ? path : [])));
  for (const route of routes) {
    const { method, path } = route;
    const spellings = route.prefixRoot === true && path !== "/" ? [path, `${path}/`] : [path];
    for (const spelling of spellings) {
      add(method, spelling, route);
      if (method === "GET" && !heads.has(path)) add("HEAD", spelling, route);
    }
  }

  const find = (method: string, path: string): PathMatch<AnyRoute> | null => {
    try {
      return trees.get(method)?.find(path) ?? null;
    } catch (cause) {
      throw fail("path_malformed", {}, { cause });
    }
  };

  return {
    match(method, url) {
      // A fragment is never sent (RFC 9112 §3.2): in absolute form it could pass for a part of the host.
      if (!url.startsWith("/") && url.includes("#")) throw fail("path_malformed");
      const end = endOfPath(url);
      const path = pathOf(end < 0 ? url : url.slice(0, end));
      if (path === null) return null;
      const found = find(method, path);
      if (found !== null)
        return { route: found.value, path: found.path, query: end < 0 ? "" : url.slice(end + 1) };
      const allowed = [...trees.keys()].filter((other) => find(other, path) !== null);
      if (allowed.length === 0) return null;
      throw methodNotAllowed(allowed.sort());
    },
  };
}

/** Where the path of a request's target ends; -1 at its end. A fragment has no place there, and is no part of the path. */
function endOfPath(url: string): number {
  const query = url.indexOf("?");
  const fragment = url.indexOf("#");
  return fragment < 0 || (query >= 0 && query < fragment) ? query : fragment;
}

/** The path of a target, also of one in absolute form (RFC 9112 §3.2.2); null for `*` and whatever else has none. */
function pathOf(target: string): string | null {
  if (target.startsWith("/")) return target;
  const absolute = /^https?:\/\/[^/]*(.*)$/is.exec(target);
  return absolute === null ? null : absolute[1] || "/";
}

/** The error of a path that answers other methods only (RFC 9110 §15.5.6). */
export function methodNotAllowed(allowed: readonly string[]): ServiceError {
  return fail("method_not_allowed", { allowed }, { headers: { Allow: allowed.join(", ") } });
}
