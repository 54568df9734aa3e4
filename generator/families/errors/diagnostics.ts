// Diagnostics of errors of the author's own.
import { entry } from "../../diagnostics/catalogue-entry.js";

export const diagnostics = {
  OPW028: entry(
    "Unknown error",
    "An operation or a hook names an error that `errors` does not have.",
    "Declare it there, or correct the spelling.",
  ),
};

declare module "../../diagnostics/catalogue.js" {
  interface DiagnosticCodes extends Record<keyof typeof diagnostics, true> {}
}
