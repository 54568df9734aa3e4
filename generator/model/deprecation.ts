// What goes one day: since when that is said, the day from which on it may be gone, and what to use instead.

export interface DeprecationModel {
  /** Days such as 2026-07-01, in UTC. */
  readonly since: string;
  /** Null where nobody has said it yet. */
  readonly sunset: string | null;
  readonly use: string | null;
}

/** A deprecation as it stands in a registry. */
export interface DeprecationDeclaration {
  readonly since: string;
  readonly sunset?: string;
  readonly use?: string;
}

/** `2026-07-01`, but no day that there is not. */
export function isDay(text: string): boolean {
  const time = Date.parse(`${text}T00:00:00Z`);
  return !Number.isNaN(time) && new Date(time).toISOString().slice(0, 10) === text;
}

/** What is wrong with the days of a deprecation, or undefined. RFC 8594 has it that nothing ends before it is deprecated. */
export function faultOfDays({ since, sunset }: DeprecationDeclaration): string | undefined {
  const wrong = [since, sunset ?? since].find((day) => !isDay(day));
  if (wrong !== undefined) return `${JSON.stringify(wrong)} is no day such as 2026-07-01`;
  return sunset !== undefined && sunset < since ? "the sunset is before since" : undefined;
}

export function deprecationModel({ since, sunset, use }: DeprecationDeclaration): DeprecationModel {
  return { since, sunset: sunset ?? null, use: use ?? null };
}

/** A sentence or two for documents and editors. */
export function deprecationText({ since, sunset, use }: DeprecationModel): string {
  const end = sunset === null ? "" : `, gone from ${sunset} on`;
  return `Deprecated since ${since}${end}.${use === null ? "" : ` Use ${use}.`}`;
}

/** The same for machines, without what is not said. */
export function deprecationFacts({ since, sunset, use }: DeprecationModel): DeprecationDeclaration {
  return { since, ...(sunset === null ? {} : { sunset }), ...(use === null ? {} : { use }) };
}

/** The tag of a comment, which editors strike the name through for. */
export function deprecationTag({ since, sunset, use }: DeprecationModel): string {
  const end = sunset === null ? "" : `, gone from ${sunset} on`;
  return `@deprecated since ${since}${end}.${use === null ? "" : ` Use ${use}.`}`;
}
