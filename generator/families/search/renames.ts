// Rules for the former names of searches: without its index, a search begins empty.
import { indexOf } from "../../model/search-indexes.js";
import { didYouMean } from "../../diagnostics/did-you-mean.js";
import type { RuleContext } from "../../kernel/rule.js";
import { own } from "../../model/records.js";

/** `was` of a search names one that there was, and that is no search any more. */
export function formerSearchesExist({ loaded, expanded, database, report }: RuleContext): void {
  const { search: searches, documents } = expanded.model;
  for (const { name, document } of Object.values(searches)) {
    const { was } = loaded.declarations.search[name] ?? {};
    if (was === undefined) continue;
    const at = loaded.tree.at("search", name, "was");
    const table = own(database.tables, own(documents, document)?.table ?? document);
    if (Object.hasOwn(searches, was)) {
      const message = `${was} is still a search, so ${name} cannot have been called that`;
      report({ code: "OPW039", message, at });
    } else if (
      table !== undefined &&
      indexOf(table, name) === undefined &&
      indexOf(table, was) === undefined
    ) {
      const known = Object.keys(table.searchesOf ?? {});
      const suggestion = didYouMean(was, known);
      report({
        code: "OPW039",
        message: `no search of ${document} was called ${was}`,
        at,
        suggestion,
      });
    }
  }
}
