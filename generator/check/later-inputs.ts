// Inputs of the author's operations, which would write what this version only reads (`since:
// next`).
import { holdsLater } from "../kernel/written-later.js";
import type { RuleContext } from "../kernel/rule.js";
import { own } from "../model/records.js";

/**
 * Reports inputs with a value or a member that is written later: only documents' own inputs leave
 * it out by themselves.
 */
export function inputsAreWrittenNow({ expanded, loaded, report }: RuleContext): void {
  const { operations, types } = expanded.model;
  for (const { key, declares, input } of Object.values(operations)) {
    if (declares !== "handler" || !holdsLater(input.schema, (type) => own(types, type))) continue;
    report({
      code: "OPW095",
      message: `${key} takes what is written from the next version on`,
      at: loaded.tree.at("operations", key, "in"),
    });
  }
}
