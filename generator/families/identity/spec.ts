// The name of what generated code passes to the runtime about identity; handlers of tenancy take it
// as well.
import { ofGenerated } from "../../model/code.js";

export const identitySpec = ofGenerated("identity", "identitySpec");

/** The question whether a caller has a permission. */
export const may = ofGenerated("identity", "may");

/** The maker of the hook that asks for a permission. */
export const authorize = ofGenerated("identity", "authorize");
