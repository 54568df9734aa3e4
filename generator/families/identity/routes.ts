// Authentication routes and where credentials stand: each ingress for tokens belongs to one route
// (service.md "Boundary middleware").
import { handshakeParameters } from "../../../runtime/contract/realtime.js";
import type {
  AuthenticationRouteDeclaration,
  IdentityDeclaration,
  IngressDeclaration,
} from "./format.js";
import { referenceOrNull } from "../../model/code.js";
import type { IdentityModel, IngressModel } from "../../model/identity-model.js";
import type { FamilyContext } from "../../kernel/family.js";

const usualRoute = "api";

/**
 * The routes by name, and the ingress with the route of each. Reports what does not fit together.
 */
export function authenticationRoutes(
  context: FamilyContext,
  identity: IdentityDeclaration,
): Pick<IdentityModel, "routes" | "ingress"> {
  const routes = routesOf(context, identity);
  const names = Object.keys(routes);
  const usual = names.length === 1 ? names[0] : names.find((name) => name === usualRoute);
  const declared = identity.ingress ?? [{ bearer: "Authorization" }];
  const ingress = declared.map((one, index) => {
    checkBeside(context, one, index);
    return ingressModel(one, usual ?? "");
  });
  checkRoutes(context, names, ingress);
  checkPlaces(context, ingress);
  checkHandshake(context, ingress);
  return {
    routes: Object.fromEntries(
      Object.entries(routes).map(([name, { verifier, resolver }]) => [
        name,
        { verifier: referenceOrNull(verifier), resolver: referenceOrNull(resolver) },
      ]),
    ),
    ingress,
  };
}

/** What is declared by name; without names there is one. */
function routesOf(
  { tree, report }: FamilyContext,
  identity: IdentityDeclaration,
): Readonly<Record<string, AuthenticationRouteDeclaration>> {
  const { route = usualRoute, routes, verifier, resolver } = identity;
  const declared = routes ?? {
    [route]: {
      ...(verifier === undefined ? {} : { verifier }),
      ...(resolver === undefined ? {} : { resolver }),
    },
  };
  const path = routes === undefined ? ["identity"] : ["identity", "routes"];
  for (const [name, one] of Object.entries(declared)) {
    if (one.verifier === undefined || one.resolver !== undefined) continue;
    report({
      code: "OPW057",
      message: `the route ${name} has a verifier without a resolver`,
      at: tree.at(...path, ...(routes === undefined ? [] : [name]), "verifier"),
    });
  }
  for (const key of ["route", "verifier", "resolver"] as const) {
    if (routes === undefined || identity[key] === undefined) continue;
    const message = `${key} is said by each of \`routes\``;
    report({ code: "OPW077", message, at: tree.keyAt("identity", key) });
  }
  return declared;
}

function ingressModel(declared: IngressDeclaration, usual: string): IngressModel {
  const { bearer, api_key: apiKey, cookie = "", query } = declared;
  const { route = usual, scheme = "Bearer" } = declared;
  if (bearer !== undefined) return { kind: "bearer", header: bearer, scheme, route };
  if (apiKey !== undefined) return { kind: "api_key", header: apiKey };
  if (query !== undefined) return { kind: "query", query, route };
  return { kind: "cookie", cookie, route };
}

/** A scheme stands before bearer tokens alone, and API keys are the service's own. */
function checkBeside(
  { tree, report }: FamilyContext,
  { bearer, api_key: apiKey, scheme, route }: IngressDeclaration,
  index: number,
): void {
  const refuse = (key: string, message: string): void =>
    report({ code: "OPW076", message, at: tree.at("identity", "ingress", index, key) });
  if (scheme !== undefined && bearer === undefined)
    refuse("scheme", "a scheme stands before bearer tokens alone");
  if (route !== undefined && apiKey !== undefined)
    refuse("route", "API keys are the service's own: they have no route");
}

/** Every ingress for tokens names a route that is there, and every route has an ingress. */
function checkRoutes(
  { tree, report }: FamilyContext,
  names: readonly string[],
  ingress: readonly IngressModel[],
): void {
  const used = new Set<string>();
  for (const [index, one] of ingress.entries()) {
    if (one.kind === "api_key") continue;
    used.add(one.route);
    if (names.includes(one.route)) continue;
    const listed = names.join(", ");
    const message =
      one.route === ""
        ? `this ingress names none of the routes ${listed}`
        : `no authentication route is called ${one.route}; there is ${listed}`;
    report({ code: "OPW077", message, at: tree.at("identity", "ingress", index) });
  }
  if (names.length < 2) return;
  for (const name of names.filter((one) => !used.has(one))) {
    const at = tree.keyAt("identity", "routes", name);
    report({ code: "OPW077", message: `no ingress names the route ${name}`, at });
  }
}

/** No two look at the same place: of one header, bearer tokens may have several schemes. */
function checkPlaces({ tree, report }: FamilyContext, ingress: readonly IngressModel[]): void {
  for (const [index, one] of ingress.entries()) {
    const first = ingress.slice(0, index).findIndex((other) => isSamePlace(one, other));
    if (first < 0) continue;
    report({
      code: "OPW076",
      message: "this ingress looks where another one does",
      at: tree.at("identity", "ingress", index),
      related: [{ message: "first declared here", at: tree.at("identity", "ingress", first) }],
    });
  }
}

/** A token in a query needs WebSockets, and a name that their handshake does not have. */
function checkHandshake(
  { declarations, tree, report }: FamilyContext,
  ingress: readonly IngressModel[],
): void {
  const { realtime } = declarations;
  const hasWebSockets = realtime?.transports?.includes("websocket") ?? realtime !== undefined;
  for (const [index, one] of ingress.entries()) {
    if (one.kind !== "query") continue;
    const refuse = (message: string): void =>
      report({ code: "OPW076", message, at: tree.at("identity", "ingress", index, "query") });
    if (!hasWebSockets)
      refuse("a token in the query is for WebSockets, which `realtime` does not have");
    if ((handshakeParameters as readonly string[]).includes(one.query))
      refuse(`${one.query} is a parameter of every handshake`);
  }
}

function isSamePlace(one: IngressModel, other: IngressModel): boolean {
  if (one.kind === "cookie") return other.kind === "cookie" && one.cookie === other.cookie;
  if (one.kind === "query") return other.kind === "query" && one.query === other.query;
  if (other.kind === "cookie" || other.kind === "query") return false;
  if (one.header.toLowerCase() !== other.header.toLowerCase()) return false;
  if (one.kind === "api_key" || other.kind === "api_key") return true;
  return one.scheme.toLowerCase() === other.scheme.toLowerCase();
}

/** Whether a resolver of the author's says whom tokens speak of. */
export function resolvesTokens(identity: IdentityDeclaration | undefined): boolean {
  const routes = [identity ?? {}, ...Object.values(identity?.routes ?? {})];
  return routes.some(({ resolver }) => resolver !== undefined);
}
