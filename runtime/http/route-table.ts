// Finds the route of a method and a path. It also handles HEAD, 405 and the roots of prefixes
// (decisions.md §1).
import FindMyWay from "find-my-way";
import { fail, type ServiceError } from "../contract/errors.js";
import type { AnyRoute } from "../operations/operation.js";

/** A route that matches, with its decoded path values and the undecoded query string. */
export interface RouteMatch {
  readonly route: AnyRoute;
  readonly path: Readonly<Record<string, string | undefined>>;
  readonly query: string;
}

export interface RouteTable {
  /**
   * The route of a request, or null if no route has the path.
   * Throws `method_not_allowed` with `Allow`, and `path_malformed` for bad percent-encoding.
   */
  match(method: string, url: string): RouteMatch | null;
  /** Whether a path has a route, by whatever method. */
  knows(url: string): boolean;
}

/** A route, and the name of the placeholder that takes the rest of its path. */
interface Entry {
  readonly route: AnyRoute;
  readonly rest: string | undefined;
}

/** Builds the table once, at start. */
export function routeTable(routes: readonly AnyRoute[]): RouteTable {
  const router = FindMyWay<FindMyWay.HTTPVersion.V1>({
    querystringParser: (query: string) => query as unknown as Record<string, string>,
    onBadUrl: () => undefined,
    maxParamLength: 2048,
  });
  const methods = new Set<string>();
  const add = (method: string, path: string, entry: Entry): void => {
    methods.add(method);
    router.on(method as FindMyWay.HTTPMethod, path, () => undefined, entry);
  };
  const heads = new Set(routes.flatMap(({ method, path }) => (method === "HEAD" ? path : [])));
  for (const route of routes) {
    // `{+key}` (RFC 6570 §3.2.3) takes the rest of the path, slashes included.
    const entry: Entry = { route, rest: /\{\+(\w+)\}$/.exec(route.path)?.[1] };
    const path = route.path.replaceAll(/\{(\w+)\}/g, ":$1").replace(/\{\+\w+\}$/, "*");
    const spellings = route.prefixRoot === true && path !== "/" ? [path, `${path}/`] : [path];
    for (const spelling of spellings) {
      add(route.method, spelling, entry);
      if (route.method === "GET" && !heads.has(route.path)) add("HEAD", spelling, entry);
    }
  }

  const find = (method: string, url: string): RouteMatch | null => {
    const found = router.find(method as FindMyWay.HTTPMethod, url);
    if (found === null) return null;
    const entry = found.store as Entry | null;
    // find-my-way answers a path that it cannot decode with a handler that has no store.
    if (entry === null) throw fail("path_malformed");
    const { route, rest } = entry;
    const query = found.searchParams as unknown as string;
    if (rest === undefined) return { route, path: found.params, query };
    const { "*": value, ...named } = found.params;
    return { route, path: { ...named, [rest]: value }, query };
  };

  const methodsOf = (url: string): readonly string[] =>
    [...methods].filter((method) => find(method, url) !== null);

  return {
    knows: (url) => methodsOf(url).length > 0,

    match(method, url) {
      const found = methods.has(method) ? find(method, url) : null;
      if (found !== null) return found;
      const allowed = methodsOf(url);
      if (allowed.length === 0) return null;
      throw methodNotAllowed(allowed.toSorted());
    },
  };
}

/** The error of a path that answers other methods only (RFC 9110 §15.5.6). */
export function methodNotAllowed(allowed: readonly string[]): ServiceError {
  return fail("method_not_allowed", { allowed }, { headers: { Allow: allowed.join(", ") } });
}
