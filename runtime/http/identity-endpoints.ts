// The public keys of access tokens (RFC 7517), which other services verify tokens with.
import { identityResources } from "../families/identity/resources.js";
import type { IdentitySpec } from "../families/identity/spec.js";
import { textEndpoint, type ServiceEndpoint, type Surroundings } from "./service-endpoint.js";

/** The endpoint of the keys, if the registry gives it a path. */
export function identityEndpoints(
  { jwks }: IdentitySpec,
  { service }: Surroundings,
): readonly ServiceEndpoint[] {
  if (jwks === null) return [];
  const { tokens } = service.of(identityResources);
  const keys = JSON.stringify({ keys: tokens.publicKeys });
  return [textEndpoint(jwks.path, `public, max-age=${jwks.maxAgeSeconds}`, async () => keys)];
}
