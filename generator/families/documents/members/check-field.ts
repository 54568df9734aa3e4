// A field that a rule of a document names: whether it is there, and has an order.
import type { Fields } from "../../../../runtime/contract/fields.js";
import { didYouMean } from "../../../diagnostics/did-you-mean.js";
import type { FamilyContext } from "../../../kernel/family.js";
import { own } from "../../../model/records.js";

/** Reports a field that is none of these, or has no order; `purpose` is what it was named for. */
export function checkField(
  { tree, report }: FamilyContext,
  known: Fields,
  field: string,
  path: readonly (string | number)[],
  purpose = "",
): void {
  const at = tree.at(...path);
  const type = own(known, field);
  if (type === undefined) {
    const suggestion = didYouMean(field, Object.keys(known));
    const message = `there is no field ${field}${purpose}`;
    report({ code: "OPW030", message, at, suggestion });
  } else if (type === "object" || type.endsWith("[]")) {
    report({ code: "OPW034", message: `${field} is ${type}, not a scalar`, at });
  }
}
