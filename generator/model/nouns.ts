// How summaries name documents: one of them with its article, one without, and many.
import addArticle from "indefinite";
import pluralize from "pluralize";

export interface Noun {
  /** `task` */
  readonly one: string;
  /** `a task` */
  readonly a: string;
  /** `tasks` */
  readonly many: string;
}

/**
 * The noun of a name such as `access_logs`. One of them is `singular`, or else follows by the usual
 * rules of English, which know `people` and `indices` but no proper names.
 */
export function nounOf(name: string, singular?: string): Noun {
  const many = name.replaceAll("_", " ");
  const one = singular ?? pluralize.singular(many);
  return { one, a: addArticle(one), many };
}
