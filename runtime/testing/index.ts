// opwright/testing: the contract suites of the ports, for engines of ours and of others.
export {
  databaseContract,
  prepareContractTables,
  type ContractHarness,
  type TestApi,
} from "./database-contract.js";
export { objectStoreContract, type ObjectStoreHarness } from "./object-store-contract.js";
export { mailboxContract, prepareMailboxTables, type MailboxHarness } from "./mailbox-contract.js";
export {
  prepareRateTables,
  rateLimiterContract,
  type RateLimiterHarness,
} from "./rate-limiter-contract.js";
