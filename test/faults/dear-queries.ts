// Queries that cost as much as they may: what an anonymous caller sends to stop everybody else (attack 73).

export interface DearQuery {
  readonly what: string;
  readonly path: string;
  /** The body with so much of what makes it dear: from 1 to `most`. */
  body(size: number): unknown;
  readonly most: number;
}

const letters = "abcdefghijklmnopqrstuvwxyz";

/** A pattern that matches nothing and says so late: every letter of a name is a beginning. */
function pattern(index: number, length = 240): string {
  const part = `%${letters[index % 26] ?? "a"}%`;
  return `${part.repeat(Math.floor(length / part.length) - 1)}~${index}%`;
}

const list = (of: number, node: (index: number) => unknown): unknown => ({
  $or: Array.from({ length: of }, (_none, index) => node(index)),
});

export const dearQueries: readonly DearQuery[] = [
  {
    what: "32 patterns of 240 characters",
    path: "/places/list",
    most: 32,
    body: (size) => ({
      filters: list(size, (index) => ({ $values: { name: { $like: pattern(index) } } })),
    }),
  },
  {
    what: "a regular expression with 80 alternatives",
    path: "/places/list",
    most: 80,
    body: (size) => ({
      filters: {
        $values: {
          name: {
            $regex: Array.from(
              { length: size },
              (_none, index) => `${letters[index % 26]}q${index}`,
            )
              .join("|")
              .slice(0, 256)
              .replace(/\|[a-z]?$/, ""),
          },
        },
      },
    }),
  },
  {
    what: "16 medians of a text",
    path: "/places/agg_list",
    most: 16,
    body: (size) => ({
      aggregates: {
        $computed: Object.fromEntries(
          Array.from({ length: size }, (_none, index) => [`m${index}`, { $median: "name" }]),
        ),
      },
    }),
  },
  {
    what: "a far page in another order",
    path: "/places/list",
    most: 1_000,
    body: (size) => ({ page: size, size: 100, sorts: { lng: "desc", admin1: "asc" } }),
  },
  {
    what: "16 words in any spelling",
    path: "/search/places/typed",
    most: 16,
    body: (size) => ({
      query: Array.from({ length: size }, (_none, index) => `santt${letters[index]}ago`).join(" "),
      options: { fuzzy: true },
    }),
  },
  {
    what: "256 patterns without case",
    path: "/places/list",
    most: 256,
    body: (size) => ({
      filters: list(Math.ceil(size / 32), (part) => ({
        $values: {
          name: {
            $ilike: Array.from(
              { length: Math.min(32, size - part * 32) },
              (_none, index) => `%${letters[index % 26]}%${part}~%`,
            ),
          },
        },
      })),
    }),
  },
];
