// The family of identity: who calls.
import { familyOf, hourly } from "../../operations/family.js";
import { apiKeyStore } from "../../ports/api-keys.js";
import { identityStore } from "../../ports/identity.js";
import { createPrincipalCommand } from "./create-principal.js";
import { openIdentity } from "./resources.js";
import { readIdentitySettings } from "./settings.js";
import type { IdentitySpec } from "./spec.js";

/**
 * Ended sessions are kept for a day, so that their use can be distinguished from that of unknown
 * ones.
 */
const endedFor = 24 * 60 * 60 * 1_000;
/** Rows that one batch removes. */
const batchSize = 1_000;

export const identityFamily = familyOf<IdentitySpec>()({
  member: "identity",
  settings: readIdentitySettings,
  open: openIdentity,
  jobs: (_spec, { clock }) => [
    hourly("identity.expired", async (transaction) => {
      const before = clock.now() - endedFor;
      const hasMore = await transaction.of(identityStore).prune(before, batchSize);
      return (await transaction.of(apiKeyStore).prune(before, batchSize)) === batchSize || hasMore;
    }),
  ],
  commands: (spec) => [createPrincipalCommand(spec)],
});
