// What may be wrong with the audit trail.
import { entry } from "../../diagnostics/catalogue-entry.js";

export const diagnostics = {
  OPW112: entry(
    "Exception that is not there",
    "`audit.except` names neither a document nor a storage.",
    "Write the name as it is under `documents` or `storage`.",
  ),
};

declare module "../../diagnostics/catalogue.js" {
  interface DiagnosticCodes extends Record<keyof typeof diagnostics, true> {}
}
