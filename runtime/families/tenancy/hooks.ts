// The guard about whose data (service.md "Authorization per operation").
import { fail } from "../../contract/errors.js";
import type { PhaseHook } from "../../operations/hooks.js";

/** Without a tenant bound by the credential the answer is 401 `tenant_required`. */
export const tenant: PhaseHook<"before", unknown, never> = {
  phase: "before",
  asks: "tenant",
  run: (_input, context) => {
    if (context.identity?.tenant == null) throw fail("tenant_required");
  },
};
