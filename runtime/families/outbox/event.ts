// An integration event on its way.

/** An event as a destination gets it. */
export interface IntegrationEvent {
  /** The same at every attempt: a consumer drops what it has seen. */
  readonly id: string;
  readonly name: string;
  readonly data: unknown;
  readonly tenant: string;
  /** RFC 3339. */
  readonly created_at: string;
  /** Counted from 1. */
  readonly attempt: number;
}
