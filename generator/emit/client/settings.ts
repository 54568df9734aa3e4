// The settings of the client.

/** What the tool's configuration says of the client. */
export interface ClientSettings {
  /** The name of its npm package; one that follows from the service's where null. */
  readonly package: string | null;
  /** Whether it has options for TanStack Query. */
  readonly queries: boolean;
  /** Whether it has a service of mocks. */
  readonly mocks: boolean;
}
