// Deprecations: since when something is deprecated, from which day on it may be gone, and what to
// use instead.

export interface DeprecationModel {
  /** A day in UTC, such as 2026-07-01. */
  readonly since: string;
  /** The first day on which it may be gone; null if no day is set yet. */
  readonly sunset: string | null;
  readonly use: string | null;
}

/** A deprecation as registries declare it. */
export interface DeprecationDeclaration {
  readonly since: string;
  readonly sunset?: string;
  readonly use?: string;
}

/** Whether the text is a day that exists: `2026-07-01`, but not `2026-02-30`. */
function isDay(text: string): boolean {
  const time = Date.parse(`${text}T00:00:00Z`);
  return !Number.isNaN(time) && new Date(time).toISOString().slice(0, 10) === text;
}

/**
 * What is wrong with the days of a deprecation, or undefined. A sunset can't be before the
 * deprecation (RFC 9745 §4).
 */
export function faultOfDays({ since, sunset }: DeprecationDeclaration): string | undefined {
  const wrong = [since, sunset ?? since].find((day) => !isDay(day));
  if (wrong !== undefined) return `${JSON.stringify(wrong)} is no day such as 2026-07-01`;
  return sunset !== undefined && sunset < since ? "the sunset is before since" : undefined;
}

/** The declaration with null for what it leaves out. */
export function deprecationModel({ since, sunset, use }: DeprecationDeclaration): DeprecationModel {
  return { since, sunset: sunset ?? null, use: use ?? null };
}

/** A deprecation in one or two sentences, for documents and editors. */
export function deprecationText({ since, sunset, use }: DeprecationModel): string {
  const end = sunset === null ? "" : `, gone from ${sunset} on`;
  return `Deprecated since ${since}${end}.${use === null ? "" : ` Use ${use}.`}`;
}

/** A deprecation for machines, as in `x-deprecated`: what is null is left out. */
export function deprecationFacts({ since, sunset, use }: DeprecationModel): DeprecationDeclaration {
  return { since, ...(sunset === null ? {} : { sunset }), ...(use === null ? {} : { use }) };
}

/** A deprecation as a JSDoc tag, for which editors strike the name through. */
export function deprecationTag({ since, sunset, use }: DeprecationModel): string {
  const end = sunset === null ? "" : `, gone from ${sunset} on`;
  return `@deprecated since ${since}${end}.${use === null ? "" : ` Use ${use}.`}`;
}
