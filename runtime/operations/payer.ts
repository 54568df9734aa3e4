// Who pays for the work of an invocation.
import type { Payer } from "../ports/work.js";
import type { Identity } from "./identity.js";

/** Who asks, and from where. */
interface Paying {
  readonly identity: Identity | null;
  readonly clientAddress: () => string;
}

/** The principal; without one the address; one name for all whose address is not known. */
export function payerOf({ identity, clientAddress }: Paying): Payer {
  if (identity !== null) return { key: identity.principalId, isAnonymous: false };
  return { key: `@${clientAddress()}`, isAnonymous: true };
}
