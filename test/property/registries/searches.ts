// Searches of one document each, and searches over these.
import { isMap } from "../../../generator/load/shape.js";
import { mapRecord } from "../../../generator/model/records.js";
import { verbs } from "./samples.js";
import type { Json } from "./world.js";

/** A search that an entry of the section `search` becomes. */
type Mend = (one: Json, registered: readonly string[]) => Json;

/** The section with what each search needs: a document and texts, or others that it is over. */
export function mendSearches(searches: Json, mend: Mend): Json {
  const single = (one: unknown): one is Json =>
    isMap(one) && one["of"] !== undefined && one["text"] !== undefined;
  const singles = Object.fromEntries(
    Object.entries(searches).filter(([, one]) => single(one)),
  ) as Readonly<Record<string, Json>>;
  const joint = Object.entries(searches).flatMap(([name, one]) => {
    const over = isMap(one) && !single(one) ? ofDifferent(one["over"], singles) : [];
    if (!isMap(one) || over.length === 0) return [];
    const { of: _of, text: _text, language: _language, facets: _facets, was: _was, ...rest } = one;
    return [[name, mend({ ...rest, over }, verbs.joint)] as const];
  });
  return {
    ...mapRecord(singles, ({ over: _over, ...one }) => mend(one, verbs.search)),
    ...Object.fromEntries(joint),
  };
}

/** Those that there are, the first of each document. */
function ofDifferent(over: unknown, singles: Readonly<Record<string, Json>>): readonly string[] {
  const firsts = new Map<unknown, string>();
  for (const name of Array.isArray(over) ? (over as string[]) : []) {
    const of = Object.hasOwn(singles, name) ? singles[name]?.["of"] : undefined;
    if (of !== undefined && !firsts.has(of)) firsts.set(of, name);
  }
  return [...firsts.values()];
}
