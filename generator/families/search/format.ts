// `search:`: what a search says.
import { searchLanguages } from "../../../runtime/contract/search-languages.js";
import {
  duration,
  extensions,
  formerlyCalled,
  guard,
  hooksByPhase,
  listOf,
  mapOf,
  mount,
  optional,
  required,
  text,
  requiredGuard,
} from "../../load/format-parts.js";
import { guardWords, mountWords, wordsFor } from "../../load/other-words.js";
import type { Declared, Member, FormatShape } from "../../load/shape.js";

/** What a search says of its own. */
export const searchMembers = {
  was: optional(
    formerlyCalled,
    "What the search was called when its index was made, which it keeps.",
  ),
  text: required(
    {
      kind: "either",
      of: [
        listOf({ kind: "string", what: "a field", example: "title" }, 1),
        {
          kind: "map",
          of: { kind: "any", what: "a weight", example: 2 },
          key: /^/,
          keyIs: "a field",
          keyExample: "title",
        },
      ],
    },
    "Fields whose texts are searched, four at most; a map gives their weights.",
  ),
  language: optional(
    { kind: "oneOf", values: searchLanguages },
    "The language of the texts: other forms of a word are found as well. Without it, words are found as they are spelt.",
  ),
  facets: optional(
    listOf({ kind: "string", what: "a field", example: "title" }),
    "Fields whose values can be counted.",
  ),
  description: optional(text, "What is searched for.", "Tasks by their titles."),
} satisfies Readonly<Record<string, Member>>;

const search = {
  kind: "object",
  ...extensions,
  otherWords: {
    ...guardWords,
    ...mountWords,
    ...wordsFor("text", "fields columns weights"),
    ...wordsFor("of", "document collection index"),
    ...wordsFor("over", "searches all"),
    ...wordsFor("facets", "filters aggregations"),
  },
  members: {
    of: optional(text, "The document that is searched.", "tasks"),
    over: optional(
      listOf({ kind: "string", what: "a search", example: "task_search" }, 1),
      "In place of `of` and `text`: searches of different documents, whose hits this one ranks together.",
    ),
    ...searchMembers,
    text: optional(searchMembers.text.shape, searchMembers.text.description),
    guard: requiredGuard(guard, "The policy of all operations, or of single ones."),
    hooks: optional(
      mapOf(hooksByPhase, undefined, undefined, "typed"),
      "Hooks of single operations.",
    ),
    deadline: optional(duration, "The time budget of each operation."),
    mount: optional(mount, "Where the routes are; /search/<name> where left out."),
  },
} as const satisfies FormatShape;

/** What every search declares, of one document or over others. */
type AnySearch = Declared<typeof search>;

/** A search of one document. */
export type SearchDeclaration = AnySearch &
  Required<Pick<AnySearch, "of" | "text">> & {
    /**
     * What it was called if there was one: never written, made by a composite that is called
     * otherwise.
     */
    readonly former?: string;
  };

/** A search over other searches. */
export type JointSearchDeclaration = AnySearch & Required<Pick<AnySearch, "over">>;

/** Whether a search is over others. */
export function isJoint(
  declaration: SearchDeclaration | JointSearchDeclaration,
): declaration is JointSearchDeclaration {
  return declaration.over !== undefined;
}

declare module "../../load/declarations.js" {
  interface Declarations {
    readonly search: Readonly<Record<string, SearchDeclaration | JointSearchDeclaration>>;
  }
}

/** Its sections. */
export const format: Readonly<Record<string, Member>> = {
  search: optional(
    mapOf(search, undefined, undefined, "task_search"),
    "Searches by name; the name is the namespace of their operations.",
  ),
};
