// Security schemes of OpenAPI: one for each ingress (service.md "Documenting authentication in
// OpenAPI").
import type { IdentityModel, IngressModel } from "../model/identity-model.js";

/** The schemes of HTTP, where tokens aren't accepted in queries. */
export function securitySchemes(identity: IdentityModel): Record<string, object> {
  return schemesOf({
    ...identity,
    ingress: identity.ingress.filter(({ kind }) => kind !== "query"),
  });
}

/** The names of those schemes that carry a session, as API keys don't. */
export function sessionSchemes(identity: IdentityModel): readonly string[] {
  const taken = identity.ingress.filter(({ kind }) => kind !== "query");
  return Object.keys(securitySchemes(identity)).filter(
    (_name, at) => taken[at]?.kind !== "api_key",
  );
}

/** A scheme for each ingress, named after its kind; further ones of a kind have longer names. */
export function schemesOf({
  ingress,
  routes,
}: Pick<IdentityModel, "ingress" | "routes">): Record<string, object> {
  const schemes: Record<string, object> = {};
  const hasSeveral = Object.keys(routes).length > 1;
  for (const one of ingress) {
    const isOwn = one.kind !== "api_key" && routes[one.route]?.verifier === null;
    schemes[nameOf(one, schemes, ingress)] = {
      ...schemeOf(one, isOwn),
      ...describeScheme(one, hasSeveral),
    };
  }
  return schemes;
}

/** `bearer`, `bearer_x_partner_token`, `bearer_authorization_token`: the first that is free. */
function nameOf(
  one: IngressModel,
  taken: Readonly<Record<string, object>>,
  ingress: readonly IngressModel[],
): string {
  const place = `${one.kind}_${placeOf(one)}`;
  const scheme = one.kind === "bearer" ? `_${one.scheme}` : "";
  const names = [one.kind, place, `${place}${scheme}`].map((name) =>
    name.toLowerCase().replaceAll(/[^a-z0-9]+/g, "_"),
  );
  const isFree = (name: string): boolean => taken[name] === undefined;
  // Names that differ only in characters other than letters and digits are numbered.
  const numbered = ingress.map((_one, index) => `${names[2] ?? ""}_${index + 1}`);
  return [...names, ...numbered].find(isFree) ?? place;
}

function placeOf(one: IngressModel): string {
  if (one.kind === "query") return one.query;
  return one.kind === "cookie" ? one.cookie : one.header;
}

function schemeOf(one: IngressModel, isOwn: boolean): object {
  if (one.kind === "cookie" || one.kind === "query")
    return { type: "apiKey", in: one.kind, name: placeOf(one) };
  const inHeader = { type: "apiKey", in: "header", name: one.header };
  if (one.kind === "api_key" || one.header.toLowerCase() !== "authorization") return inHeader;
  const scheme = one.scheme.toLowerCase();
  return { type: "http", scheme, ...(isOwn ? { bearerFormat: "JWT" } : {}) };
}

/**
 * What OpenAPI's kinds can't express: the word before a token, and the route that knows the token.
 */
function describeScheme(one: IngressModel, hasSeveral: boolean): object {
  if (one.kind === "api_key") return {};
  const isUsual = one.kind !== "bearer" || one.header.toLowerCase() === "authorization";
  const told = [
    ...(isUsual ? [] : [`\`${one.scheme} <token>\`.`]),
    ...(hasSeveral ? [`Tokens of the route ${one.route}.`] : []),
  ].join(" ");
  return told === "" ? {} : { description: told };
}
