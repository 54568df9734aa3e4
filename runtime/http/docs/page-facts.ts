// What the pages of the documentation need to know of families.
import type { IdentitySpec } from "../../families/identity/spec.js";
import type { RealtimeSpec } from "../../families/realtime/spec.js";
import type { DocsOptions } from "./docs-endpoint.js";

export type PageFacts = Pick<DocsOptions, "realtime" | "tokenHeader" | "tokenScheme">;

/** Where realtime is, and over what. */
export function factsOfRealtime({ path, transports }: RealtimeSpec): Partial<PageFacts> {
  return { realtime: { path, transports } };
}

/**
 * How a token is sent. The pages sign in at the service, so they need a header that takes its own
 * tokens.
 */
export function factsOfIdentity({ ingress, routes }: IdentitySpec): Partial<PageFacts> {
  const bearers = ingress.filter((one) => one.kind === "bearer");
  const isOwn = (route: string): boolean => routes[route]?.resolver === undefined;
  const bearer = bearers.find(({ route }) => isOwn(route)) ?? bearers[0];
  return bearer === undefined ? {} : { tokenHeader: bearer.header, tokenScheme: bearer.scheme };
}
