// Who is calling, once a credential has been verified and resolved (service.md "Boundary middleware").
import { fail } from "../contract/errors.js";

/** A verified caller. `tenant` is null where the credential is not scoped to one. */
export interface Identity {
  readonly principalId: string;
  readonly sessionId: string;
  readonly tenant: string | null;
  /** Epoch milliseconds at which the credential ends. */
  readonly expiresAt: number;
}

/** The caller. Throws `core.authentication` where there is none. */
export function callerOf({ identity }: { readonly identity: Identity | null }): Identity {
  if (identity === null) throw fail("core.authentication");
  return identity;
}
