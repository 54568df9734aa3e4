// What is kept of somebody, for whoever asks for it (decisions.md "Export of a person").

/** Somebody who asks what is kept of them. */
export interface ExportedPerson {
  readonly principalId: string;
  /** How they sign in, in the one canonical form. */
  readonly login: string;
  /** The tenants in which they are a member. */
  readonly tenants: readonly string[];
  /** These, and the one in which whoever belongs to none works. */
  readonly places: readonly string[];
}

/** One thing that is kept of somebody. */
export interface ExportedLine {
  /** What it is: a document's name, or `account`, `session`, `webhook` and so on. */
  readonly kind: string;
  /** The tenant that it is in; left out for what is in none. */
  readonly tenant_id?: string;
  readonly data: unknown;
}
