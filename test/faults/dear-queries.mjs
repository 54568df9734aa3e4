// Queries that cost as much as they may: what an anonymous caller sends to stop everybody else (attack 73).

const letters = "abcdefghijklmnopqrstuvwxyz";

/** A pattern that matches nothing and says so late: every letter of a name is a beginning. */
function pattern(index, length = 240) {
  const part = `%${letters[index % 26] ?? "a"}%`;
  return `${part.repeat(Math.floor(length / part.length) - 1)}~${index}%`;
}

const list = (of, node) => ({
  $or: Array.from({ length: of }, (_none, index) => node(index)),
});

export const dearQueries = [
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
    what: "16 medians",
    path: "/places/agg_list",
    most: 16,
    body: (size) => ({
      aggregates: {
        $computed: Object.fromEntries(
          Array.from({ length: size }, (_none, index) => [`m${index}`, { $median: "lat" }]),
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

/** The body of a dear query that is as dear as the service admits. Throws where it is refused for more than its price. */
export async function dearestBody(query, answerTo) {
  for (let size = query.most; ; size = Math.ceil(size / 2)) {
    const body = query.body(size);
    const { status, code } = await answerTo(body);
    if (status !== 422) return body;
    if (size > 1) continue;
    if (code !== "query_too_complex") throw new Error(`${query.what}: ${code}`);
    return body;
  }
}
