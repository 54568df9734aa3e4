// The composites family: documents, their search and their files in one declaration, said as those
// three before anything is expanded.
import { didYouMean } from "../../diagnostics/did-you-mean.js";
import { expansion, family, type FamilyContext } from "../../kernel/family.js";
import type { Declarations } from "../../load/declarations.js";
import { documents } from "../documents/index.js";
import { search } from "../search/index.js";
import { storage } from "../storage/index.js";
import { diagnostics } from "./diagnostics.js";
import { format } from "./format.js";
import { withComposites } from "./rewrite.js";

export const composites = family({
  name: "composites",
  format,
  diagnostics,
  after: [documents, search, storage],
  rewrite: (tree, soundIn, report) =>
    withComposites(tree, soundIn("composites") as Declarations["composites"], report),
  expand(context) {
    checkTransactions(context);
    return expansion(null);
  },
  compare: null,
  rollout: null,
});

/** A service has one transaction route; a composite that names one names that one. */
function checkTransactions({ declarations, tree, report }: FamilyContext): void {
  const deployed = declarations.service?.transaction ?? "default";
  for (const [name, { transaction }] of Object.entries(declarations.composites)) {
    if (transaction === undefined || transaction === deployed) continue;
    const message = `the transaction route of this service is ${deployed}, not ${transaction}`;
    const at = tree.at("composites", name, "transaction");
    report({ code: "OPW038", message, at, suggestion: didYouMean(transaction, [deployed]) });
  }
}
