export interface DearQuery {
  readonly what: string;
  readonly path: string;
  /** The body with so much of what makes it dear: from 1 to `most`. */
  body(size: number): unknown;
  readonly most: number;
}

export const dearQueries: readonly DearQuery[];

/** The body of a dear query that is as dear as the service admits. Throws where it is refused for more than its price. */
export function dearestBody(
  query: DearQuery,
  answerTo: (body: unknown) => Promise<{ readonly status: number; readonly code?: unknown }>,
): Promise<unknown>;
