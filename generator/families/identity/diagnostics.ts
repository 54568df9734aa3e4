// Diagnostics of identity.
import { entry } from "../../diagnostics/catalogue-entry.js";

export const diagnostics = {
  OPW014: entry(
    "Unsuitable profile",
    "`identity.sign_up.profile` names a document that isn't one per principal, or that isn't declared.",
    "Name a document with `unique: [[owner_id]]` and without `read_only`, and with `tenant: false` where there is `tenancy`.",
  ),
  OPW076: entry(
    "Invalid ingress",
    "Two entries of `identity.ingress` read the same place, one has a key that does not belong to it, or a token in the query has no WebSocket transport.",
    "Give each a place of its own. `scheme` belongs to `bearer`, and `route` to tokens; `query` needs the transport websocket, and a name that handshakes do not use themselves.",
  ),
  OPW077: entry(
    "Authentication routes",
    "An ingress names an authentication route that is not declared, a route has no ingress, or `identity.routes` is combined with the keys that it replaces.",
    "Name one of `identity.routes` at each ingress, and write `verifier` and `resolver` in the route.",
  ),
  OPW108: entry(
    "Unknown role",
    "A role is named that `roles` doesn't declare, or nobody could give one to members.",
    "Declare the role under `roles`, or name one that is there. Members need a role with `gives`.",
  ),
  OPW109: entry(
    "Permission that nothing asks for",
    "A role has a permission that no policy asks for, so it is either misspelled or only handlers ask for it.",
    "Correct the name, or take it out. If a handler asks for it with `may`, leave it. This is a warning.",
    "warning",
  ),
};

declare module "../../diagnostics/catalogue.js" {
  interface DiagnosticCodes extends Record<keyof typeof diagnostics, true> {}
}
