// The list of families: what each brings to a running service, the SQL stores in which it keeps its
// data, and what it answers besides operations. The server iterates over it, and knows none.
import { sqlAuditStore } from "./engines/sql/audit-store.js";
import { sqlApiKeyStore } from "./engines/sql/api-key-store.js";
import { sqlCounterStore } from "./engines/sql/counter-store.js";
import { sqlDeletionStore } from "./engines/sql/deletion-store.js";
import { sqlDocumentStore } from "./engines/sql/document-store.js";
import { sqlHistoryStore } from "./engines/sql/history-store.js";
import { sqlIdentityStore } from "./engines/sql/identity-store.js";
import { sqlInvitationStore } from "./engines/sql/invitation-store.js";
import { sqlJobStore } from "./engines/sql/job-store.js";
import { sqlMailboxStore } from "./engines/sql/mailbox-store.js";
import { sqlObjectIndex } from "./engines/sql/object-index.js";
import { sqlQuarantineStore } from "./engines/sql/quarantine-store.js";
import { sqlOutboxStore } from "./engines/sql/outbox-store.js";
import { sqlSearchStore } from "./engines/sql/search-store.js";
import { sqlStore, type SqlStores } from "./engines/sql/stores.js";
import { sqlTenantStore } from "./engines/sql/tenant-store.js";
import { sqlWebhookStore } from "./engines/sql/webhook-store.js";
import { auditFamily } from "./families/audit/index.js";
import { documentsFamily } from "./families/documents/index.js";
import { identityFamily } from "./families/identity/index.js";
import { jobsFamily } from "./families/jobs/index.js";
import { outboxFamily } from "./families/outbox/index.js";
import { realtimeFamily } from "./families/realtime/index.js";
import { searchFamily } from "./families/search/index.js";
import { storageFamily } from "./families/storage/index.js";
import { webhooksFamily } from "./families/webhooks/index.js";
import {
  boundary,
  credentialPlaces,
  credentialStyle,
  type Bind,
  type BoundaryOptions,
} from "./http/boundary.js";
import { storageEndpoints } from "./http/direct-endpoint.js";
import { factsOfIdentity, factsOfRealtime, type PageFacts } from "./http/docs/page-facts.js";
import { identityEndpoints } from "./http/identity-endpoints.js";
import { realtimeEndpoints } from "./http/realtime/endpoints.js";
import type { ServiceEndpoint, Surroundings } from "./http/service-endpoint.js";
import type { AnyFamily, Family, SettingsSource } from "./operations/family.js";
import { apiKeyStore } from "./ports/api-keys.js";
import { auditStore } from "./ports/audit.js";
import { counterStore } from "./ports/counters.js";
import { deletionStore } from "./ports/deletions.js";
import { historyStore } from "./ports/document-history.js";
import { documentStore } from "./ports/documents.js";
import { sqlOwnQueries } from "./engines/sql/own-queries.js";
import { ownQueryStore } from "./ports/own-queries.js";
import { identityStore } from "./ports/identity.js";
import { invitationStore } from "./ports/invitations.js";
import { jobStore } from "./ports/jobs.js";
import { mailboxStore } from "./ports/mailbox.js";
import { objectIndex } from "./ports/object-index.js";
import { quarantineStore } from "./ports/quarantine.js";
import { outboxStore } from "./ports/outbox.js";
import { searchStore } from "./ports/search.js";
import { tenantStore } from "./ports/tenants.js";
import { webhookStore } from "./ports/webhooks.js";

const identityStores = [
  sqlStore(identityStore, sqlIdentityStore),
  sqlStore(apiKeyStore, sqlApiKeyStore),
];

const tenantStores = [
  sqlStore(tenantStore, sqlTenantStore),
  sqlStore(invitationStore, sqlInvitationStore),
];

const documentStores = [
  sqlStore(documentStore, sqlDocumentStore),
  sqlStore(ownQueryStore, sqlOwnQueries),
  sqlStore(historyStore, sqlHistoryStore),
  sqlStore(counterStore, sqlCounterStore),
  sqlStore(deletionStore, sqlDeletionStore),
];

/** One entry per family, in the order in which they open and start. They stop all at once. */
const list = [
  {
    family: identityFamily,
    stores: identityStores,
    endpoints: identityEndpoints,
  },
  { family: null, stores: tenantStores },
  { family: documentsFamily, stores: documentStores },
  { family: searchFamily, stores: [sqlStore(searchStore, sqlSearchStore)] },
  {
    family: storageFamily,
    stores: [sqlStore(objectIndex, sqlObjectIndex), sqlStore(quarantineStore, sqlQuarantineStore)],
    endpoints: storageEndpoints,
  },
  { family: outboxFamily, stores: [sqlStore(outboxStore, sqlOutboxStore)] },
  { family: webhooksFamily, stores: [sqlStore(webhookStore, sqlWebhookStore)] },
  { family: jobsFamily, stores: [sqlStore(jobStore, sqlJobStore)] },
  {
    family: realtimeFamily,
    stores: [sqlStore(mailboxStore, sqlMailboxStore)],
    endpoints: realtimeEndpoints,
  },
  // It goes last: what others change of somebody who is erased has entries.
  { family: auditFamily, stores: [sqlStore(auditStore, sqlAuditStore)] },
] as const;

type Listed = Exclude<(typeof list)[number]["family"], null>;

/** The members of a service definition that belong to families. */
export type FamilyParts = {
  readonly [Each in Listed as Each["member"]]?: Each extends Family<string, infer Part, infer _>
    ? Part
    : never;
};

/** All SQL stores, by their keys. */
export const sqlStores: SqlStores = new Map(list.flatMap(({ stores }) => [...stores]));

/** The families that a service uses, each with its part of the definition. */
export function familiesOf(
  parts: FamilyParts,
): readonly { readonly family: AnyFamily; readonly part: unknown }[] {
  return list.flatMap(({ family }) => {
    const part = family === null ? undefined : parts[family.member];
    return family === null || part === undefined ? [] : [{ family, part }];
  });
}

/** Has every family read its variables, whether or not the service uses it. */
export function settingsOfFamilies(
  parts: FamilyParts,
  source: SettingsSource,
): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    list.flatMap(({ family }) => {
      if (family === null) return [];
      const { member, settings }: AnyFamily = family;
      return [[member, settings(parts[family.member], source)]];
    }),
  );
}

/** What the service answers besides its operations. */
export async function endpointsOf(
  parts: FamilyParts,
  surroundings: Surroundings,
): Promise<readonly ServiceEndpoint[]> {
  const endpoints: ServiceEndpoint[] = [];
  for (const entry of list) {
    if (!("endpoints" in entry)) continue;
    const make: EndpointsOf = entry.endpoints;
    const part = parts[entry.family.member];
    if (part !== undefined) endpoints.push(...(await make(part, surroundings)));
  }
  return endpoints;
}

/** Makes the endpoints of a family; each is only ever called with its own part. */
type EndpointsOf = (
  // oxlint-disable-next-line typescript/no-explicit-any -- part and endpoints are tied together in the list
  part: any,
  surroundings: Surroundings,
) => readonly ServiceEndpoint[] | Promise<readonly ServiceEndpoint[]>;

/** What the pages of the documentation need to know of the families that a service uses. */
export function pageFactsOf(parts: FamilyParts): PageFacts {
  const { identity, realtime } = parts;
  return {
    realtime: null,
    tokenHeader: "Authorization",
    tokenScheme: "Bearer",
    ...(identity === undefined ? {} : factsOfIdentity(identity)),
    ...(realtime === undefined ? {} : factsOfRealtime(realtime)),
  };
}

/** How a service learns who is calling; without identity, every request is anonymous. */
export function callersOf({ identity }: FamilyParts) {
  return {
    bind: (options: Omit<BoundaryOptions, "identity">): Bind => boundary({ identity, ...options }),
    style: credentialStyle(identity),
    /** Whether there is anybody to be told apart. */
    hasCallers: identity !== undefined,
    credentials: credentialPlaces(identity),
  };
}
