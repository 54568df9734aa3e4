// opwright/testing: services under test; and contract suites that test engines of the ports, ours
// and those of others.
export { databaseContract } from "./database-contract.js";
export { prepareContractTables, type ContractHarness } from "./database/things.js";
export type { TestApi } from "./test-api.js";
export { objectStoreContract, type ObjectStoreHarness } from "./object-store-contract.js";
export { mailboxContract, prepareMailboxTables, type MailboxHarness } from "./mailbox-contract.js";
export {
  prepareRateTables,
  rateLimiterContract,
  type RateLimiterHarness,
} from "./rate-limiter-contract.js";
export type { TestClock } from "./clock.js";
export type { Duration } from "./duration.js";
export type { TestedJobs, TestedRun } from "./jobs.js";
export type { Person } from "./people.js";
export type { LogLine, RecordedEvent, RecordedMail, RecordedSignal } from "./recorder.js";
export {
  prepareTestService,
  type SignedInClient,
  type TestClientOptions,
  type TestedService,
  type TestService,
  type TestServiceOptions,
} from "./service.js";
