// Who sees which subscriptions, and who hears what.
import type { ScopePort, TopicAuthorizer } from "opwright/runtime";

export const ownSubscriptions: ScopePort = ({ identity }) => ({
  $values: { "user.owner_id": identity.principalId },
});

/** The catalogue is public, and nothing else is told. */
export const grantTopics: TopicAuthorizer = (asked) =>
  asked.filter((topic) => topic === "catalogue");
