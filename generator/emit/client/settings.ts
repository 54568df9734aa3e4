// The settings of the client.

/** The member `client` of opwright.config. */
export interface ClientSettings {
  /** The name of its npm package; null for the service's name with `-client`. */
  readonly package: string | null;
  /** Whether it has options for TanStack Query. */
  readonly queries: boolean;
  /** Whether it has mocks of the service. */
  readonly mocks: boolean;
}
