// Diagnostics of searches.
import { entry } from "../../diagnostics/catalogue-entry.js";

export const diagnostics = {
  OPW037: entry(
    "Invalid search",
    "A search names a document, a field or another search that does not exist or that it cannot use.",
    "Name a declared document in `of`, one to four of its texts with weights above 0 in `text`, and fields of single values or lists of them in `facets`. A search over others names searches of different documents in `over`, and has none of these.",
  ),
};

declare module "../../diagnostics/catalogue.js" {
  interface DiagnosticCodes extends Record<keyof typeof diagnostics, true> {}
}
