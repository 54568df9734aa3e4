// Which rows somebody sees who is no agent.
import type { OpenScopePort, ScopePort } from "opwright/runtime";

/** Customers see what they have asked. */
export const asked: ScopePort = ({ identity }) => ({
  $values: { owner_id: identity.principalId, hidden: false },
});

export const unlocked: ScopePort = () => ({ $values: { locked: false } });

/** Customers see what they have said, and what was said to them. */
export const told: ScopePort = ({ identity }) => ({
  $or: [
    { $values: { owner_id: identity.principalId } },
    { $values: { public: true, "ticket.owner_id": identity.principalId, "ticket.hidden": false } },
  ],
});

export const said: ScopePort = () => ({ $values: { public: true } });

export const filed: ScopePort = ({ identity }) => ({
  $values: { "ticket.owner_id": identity.principalId, "ticket.hidden": false },
});

export const notified: ScopePort = ({ identity }) => ({
  $values: { recipient: identity.principalId },
});

export const published: OpenScopePort = () => ({ $values: { public: true } });
