// The tenancy family: the caller's tenants, and their administration.
import { expansion, family } from "../../kernel/family.js";
import { expandTenancy } from "./expand.js";
import { format } from "./format.js";

export const tenancy = family({
  name: "tenancy",
  format,
  expand: (context) => expansion(null, { namespaces: expandTenancy(context) }),
  compare: null,
});
