// Who is calling, once a credential has been verified and resolved (service.md "Boundary middleware").

/** A verified caller. `tenant` is null where the credential is not scoped to one. */
export interface Identity {
  readonly principalId: string;
  readonly sessionId: string;
  readonly tenant: string | null;
  /** Epoch milliseconds at which the credential ends. */
  readonly expiresAt: number;
}
