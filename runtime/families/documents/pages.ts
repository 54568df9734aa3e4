// Pages of documents, as lists answer them.
export interface Page<Hit> {
  readonly hits: readonly Hit[];
  readonly page: number;
  readonly size: number;
  readonly count: number;
}

export interface CursorPage<Hit> {
  readonly hits: readonly Hit[];
  readonly next_cursor: string | null;
  readonly prev_cursor: string | null;
  readonly has_more: boolean;
}
