// The tenancy family: the caller's tenants, and their administration.
import { expansion, family } from "../../kernel/family.js";
import { documents } from "../documents/index.js";
import { identity } from "../identity/index.js";
import { expandTenancy } from "./expand.js";
import { format } from "./format.js";
import { tables } from "./tables.js";

export const tenancy = family({
  name: "tenancy",
  format,
  // Its handlers take the spec of identity.
  after: [identity, documents],
  expand: (context) => expansion(null, { namespaces: expandTenancy(context) }),
  compare: null,
  rollout: null,
  tables: [{ areNeeded: (model) => (model.identity?.members ?? null) !== null, steps: tables }],
});
