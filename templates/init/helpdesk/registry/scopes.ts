import type { ScopePort } from "opwright/runtime";

/** Customers see their own comments, and those of their tickets that are not internal. */
export const told: ScopePort = ({ identity }) => ({
  $or: [
    { $values: { owner_id: identity.principalId } },
    { $values: { internal: false, "ticket.owner_id": identity.principalId } },
  ],
});

/** Customers write nothing that they could not read. */
export const aloud: ScopePort = () => ({ $values: { internal: false } });
