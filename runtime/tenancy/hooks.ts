// Guards about whose data and which permission (service.md "Authorization per operation").
import { fail } from "../contract/errors.js";
import type { PhaseHook } from "../operations/hooks.js";
import { callerOf } from "../operations/identity.js";

/** Without a tenant bound by the credential the answer is 401 `tenant_required`. */
export const tenant: PhaseHook<"before", unknown, never> = {
  phase: "before",
  run: (_input, context) => {
    if (context.identity?.tenant == null) throw fail("tenant_required");
  },
};

/**
 * Whether the caller may perform `action` (`tasks.read`): it has that permission, `tasks.admin` or `admin`, in its
 * tenant or everywhere; actions of `platform` reach across tenants, and only grants that hold everywhere count for
 * them. Otherwise 403. Runs after `principal`.
 */
export function authorize(action: string): PhaseHook<"before", unknown, never> {
  const [resource = ""] = action.split(".");
  const sufficient = [action, `${resource}.admin`, "admin"];
  return {
    phase: "before",
    run: async (_input, context) => {
      const caller = callerOf(context);
      const within = resource === "platform" ? null : caller.tenant;
      const { tenants } = context.transaction;
      if (!(await tenants.hasGrant(within, caller.principalId, sufficient)))
        throw fail("core.authorization");
    },
  };
}
