// The family of identity: who calls.
import { familyOf, hourly } from "../../operations/family.js";
import { apiKeyStore } from "../../ports/api-keys.js";
import { invitationStore } from "../../ports/invitations.js";
import { identityStore } from "../../ports/identity.js";
import { createPrincipalCommand } from "./create-principal.js";
import { dataOfIdentity } from "./data.js";
import { exportAccount } from "./exported.js";
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
  jobs: (spec, { clock }) => [
    hourly("identity.expired", async (transaction) => {
      const before = clock.now() - endedFor;
      const hasMore = await transaction.of(identityStore).prune(before, batchSize);
      const keys = await transaction.of(apiKeyStore).prune(before, batchSize);
      // The table is there where members invite.
      const invitations =
        spec.members === undefined
          ? 0
          : await transaction.of(invitationStore).prune(before, batchSize);
      return keys === batchSize || invitations === batchSize || hasMore;
    }),
  ],
  departed: async ({ members }, context, { principalId, tenant }) => {
    if (members === undefined) return;
    await context.transaction.of(invitationStore).removeOf(principalId, tenant);
  },
  exported: exportAccount,
  data: (_spec, service) => dataOfIdentity(service),
  commands: (spec) => [createPrincipalCommand(spec)],
});
