// Diagnostics of composites.
import { entry } from "../../diagnostics/catalogue-entry.js";

export const diagnostics = {
  OPW038: entry(
    "Transaction route",
    "A composite names a transaction route that is not the service's.",
    "Name the one of `service.transaction`, or leave it out.",
  ),
};

declare module "../../diagnostics/catalogue.js" {
  interface DiagnosticCodes extends Record<keyof typeof diagnostics, true> {}
}
