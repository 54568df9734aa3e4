// What a client accepts, with how welcome each is (RFC 9110 §12.4.2).

/** Weights by names in lower case, of a header such as `Accept`; none of one that is too long. */
export function weightsOf(
  header: string | readonly string[] | undefined,
): ReadonlyMap<string, number> {
  if (typeof header !== "string" || header.length > 1_000) return new Map();
  return new Map(
    header.split(",").map((entry): readonly [string, number] => {
      const [name = "", ...parameters] = entry.split(";").map((part) => part.trim().toLowerCase());
      const weight = parameters.find((parameter) => parameter.startsWith("q="))?.slice(2);
      return [name, weight === undefined ? 1 : Number(weight)];
    }),
  );
}
