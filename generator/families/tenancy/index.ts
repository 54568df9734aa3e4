// The tenancy family: the caller's tenants, and their administration.
import { expansion, family } from "../../kernel/family.js";
import { identity } from "../identity/index.js";
import { expandTenancy } from "./expand.js";
import { format } from "./format.js";

export const tenancy = family({
  name: "tenancy",
  format,
  // Its handlers take the spec of identity.
  after: [identity],
  expand: (context) => expansion(null, { namespaces: expandTenancy(context) }),
  compare: null,
  rollout: null,
});
