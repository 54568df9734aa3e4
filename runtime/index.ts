// opwright/runtime: what generated code and authors' handlers import.
export {
  errors,
  errorKinds,
  fail,
  ServiceError,
  toEnvelope,
  type ErrorCode,
  type ErrorEnvelope,
  type ErrorKind,
} from "./contract/errors.js";
export {
  codePointLength,
  formats,
  isMultipleOf,
  joinErrors,
  jsonEqual,
  validator,
  type ValidationFault,
  type Validator,
} from "./contract/validation.js";
export { repeatedItems } from "./contract/repeated-items.js";
export type { AccountChange } from "./families/identity/account.js";
export {
  account,
  createPrincipal,
  erasePrincipal,
  issueSession,
  signIn,
} from "./families/identity/held.js";
export { principals } from "./families/identity/administration.js";
export { personExport } from "./families/identity/exported.js";
export type { ExportedLine, ExportedPerson } from "./operations/exported.js";
export { erasure, type ErasureReport } from "./families/identity/erase.js";
export { apiKeys, type ApiKeyEntry, type IssuedApiKey } from "./families/identity/api-keys.js";
export { anyCredential, anySession, principal, session } from "./families/identity/hooks.js";
export {
  authn,
  type Credentials,
  type NewSession,
  type SessionEntry,
  type SignedIn,
  type TokenResponse,
} from "./families/identity/operations.js";
export { passwordReset, type PasswordResetRequested } from "./families/identity/password-reset.js";
export { signUp, type SignUp, type SignUpRequested } from "./families/identity/sign-up.js";
export {
  identity,
  type AuthenticationRoute,
  type EraseAlso,
  type ExportAlso,
  type ForeignCaller,
  type IdentitySpec,
  type Ingress,
  type TokenResolver,
  type TokenVerifier,
} from "./families/identity/spec.js";
export type { AccessClaims, ExternalSigner, TokenSigner } from "./ports/tokens.js";
export type { Role, Roles } from "./families/identity/roles.js";
export {
  authorization,
  ownRows,
  type Authorization,
  type AuthorizationSpec,
} from "./families/identity/authorization.js";
export {
  decideByPermissions,
  type DecisionPort,
  type Question,
  type OpenScopePort,
  type ScopePort,
} from "./families/identity/decisions.js";
export { defineAudit, type AuditSpec } from "./families/audit/index.js";
export { auditTrail, type AuditQuestion } from "./families/audit/operations.js";
export type { AuditTrailEntry } from "./families/audit/entries.js";
export { ownErrors } from "./contract/own-errors.js";
export { each } from "./families/documents/hooked.js";
export { byKey } from "./families/documents/keys.js";
export { unscoped } from "./families/documents/access.js";
export {
  collection,
  type AggregateQuery,
  type Collection,
  type FindQuery,
} from "./families/documents/collection.js";
export { bulk, bulkInput, type BulkAnswer, type MatchedAnswer } from "./families/documents/bulk.js";
export { column, sql, type Column, type RowOf } from "./families/documents/sql.js";
export { numberedBy } from "./ports/number-rules.js";
export { setting, type SetMoment } from "./ports/set-rules.js";
export { documents, listing } from "./families/documents/operations.js";
export { type Updated } from "./families/documents/render.js";
export {
  history,
  type RevisionDiff,
  type RevisionEntry,
  type RevisionOf,
  type RevisionPage,
} from "./families/documents/history.js";
export type { CursorPage, Page } from "./families/documents/pages.js";
export { aggInput, aggList, type AggregatePage } from "./families/documents/aggregate.js";
export type { AggregateRequest } from "./query/parse-aggregate.js";
export { document, view, type DocumentOf, type DocumentSpec } from "./ports/document-spec.js";
export type { ExecutionContext } from "./operations/context.js";
export type { InvocationMetadata } from "./operations/invocation-facts.js";
export type { Identity } from "./operations/identity.js";
export type { Database, Transaction } from "./ports/database.js";
export { tenantStore, type TenantStore } from "./ports/tenants.js";
export {
  afterCommit,
  before,
  onFailure,
  onFinally,
  onSuccess,
  txAfter,
  txBefore,
  wrap,
  type Hook,
  type HookFunctions,
} from "./operations/hooks.js";
export {
  field,
  formBody,
  json,
  nothing,
  optionalJson,
  parameters,
  params,
  paramsWith,
  path,
  query,
  rawBody,
  request,
  revision,
  type BoundInput,
  type ExpectedRevision,
  type InputBinding,
} from "./operations/input.js";
export type { ByteReply } from "./operations/byte-reply.js";
export {
  answer,
  byteAnswer,
  errorContext,
  eventData,
  jobInput,
  noAnswer,
  UndeclaredAnswer,
  type Answer,
} from "./operations/answer.js";
export { csvText } from "./operations/csv.js";
export { readLater } from "./operations/held-calls.js";
export { mediaAnswer, type MediaAnswer } from "./operations/media.js";
export { streamItems, streamRows, type ItemStream } from "./operations/item-stream.js";
export { errorEnvelope, type ErrorShape, type ToldError } from "./operations/error-envelope.js";
export {
  withReply,
  type Reply,
  type ReplyingContext,
  type ReplyingHandler,
} from "./operations/reply.js";
export { checkAnswers, checkAnswersAround } from "./operations/check-answers.js";
export { cut } from "./operations/plain-json.js";
export { callerOf } from "./operations/identity.js";
export { JsonText, outputValue, type Output } from "./operations/json-text.js";
export { Lifetime } from "./ports/lifetime.js";
export { silentLog, type Log } from "./ports/log.js";
export {
  operation,
  route,
  routes,
  type AnyRoute,
  type Handler,
  type Operation,
  type Route,
} from "./operations/operation.js";
export {
  search,
  searchInput,
  type SearchCursorPage,
  type SearchPage,
} from "./families/search/operations.js";
export type { SearchCursorRequest, SearchPageRequest } from "./families/search/request.js";
export { defineSearch, joinSearches, type SearchSpec } from "./ports/search-spec.js";
export { jointInput, jointSearch, type JointPage } from "./families/search/joint.js";
export type { JointRequest } from "./families/search/joint-request.js";
export { outbox, type Destination, type OutboxSpec } from "./families/outbox/spec.js";
export type { IntegrationEvent } from "./families/outbox/event.js";
export { frameMail, type MailContent } from "./families/outbox/mail-frame.js";
export type { Mail, MailedEvent, MailRenderer } from "./families/outbox/mail.js";
export { eventStaging, type StageEvent } from "./families/outbox/stage.js";
export {
  webhooks,
  type CreatedWebhook,
  type WebhookDeliveryEntry,
} from "./families/webhooks/operations.js";
export type { WebhookEntry } from "./families/webhooks/entry.js";
export { defineWebhooks, type WebhooksSpec } from "./families/webhooks/spec.js";
export { defaultTenant } from "./contract/default-tenant.js";
export type { Delay } from "./contract/durations.js";
export {
  makeCancelJob,
  makeEnqueue,
  type CancelJob,
  type Enqueue,
  type EnqueueOptions,
} from "./families/jobs/enqueue.js";
export type { JobRun } from "./families/jobs/job-run.js";
export { jobRuns, type JobRunDetails, type JobRunEntry } from "./families/jobs/operations.js";
export { defineJobs, joinHandlers, type JobHandler, type JobsSpec } from "./families/jobs/spec.js";
export { rateLimit } from "./operations/rate-limit.js";
export { tenant } from "./families/tenancy/hooks.js";
export {
  invitations,
  type InvitationEntry,
  type MemberInvited,
} from "./families/tenancy/invitations.js";
export { tenants, type MembershipOf } from "./families/tenancy/held.js";
export { members, type MemberEntry } from "./families/tenancy/members.js";
export { tenancy, type TenantEntry } from "./families/tenancy/operations.js";
export { uuidv7 } from "./ports/uuid.js";
export type { CursorRequest, PageRequest } from "./query/list-request.js";
export { connect, type ServiceConnection, type ConnectOptions } from "./server/connect.js";
export { realtime, type RealtimeSpec, type TopicAuthorizer } from "./families/realtime/spec.js";
export {
  publishingOf,
  stagingOf,
  type PublishSignal,
  type StageSignal,
} from "./families/realtime/stage.js";
export { direct } from "./families/storage/direct.js";
export { storageInput } from "./families/storage/input.js";
export type { ObjectPage, ObjectQuery } from "./families/storage/list.js";
export {
  objects,
  type ObjectAbout,
  type ObjectBody,
  type ObjectCollection,
  type ReadObject,
} from "./families/storage/objects.js";
export { storage } from "./families/storage/operations.js";
export type { QuarantinedObject } from "./families/storage/quarantined.js";
export type { StoredObject } from "./families/storage/stored-object.js";
export { defineStorage, type StorageSpec } from "./ports/storage-spec.js";
export { keptForms } from "./operations/kept-values.js";
export { progressBar } from "./work/progress-bar.js";
export { generatedFolder } from "./server/generated-folder.js";
export { defineService, type AppHandler, type ServiceDefinition } from "./server/service.js";
export { readSettings, SettingsError, type Settings } from "./server/settings.js";
export { serve } from "./server/serve.js";
export { start, type RunningService } from "./server/start.js";
