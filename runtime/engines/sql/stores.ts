// Every store over SQL: what a transaction of a SQL engine offers besides attempts. Each is made when it is asked for.
import type { Transaction } from "../../ports/database.js";
import { sqlApiKeyStore } from "./api-key-store.js";
import { sqlDocumentStore } from "./document-store.js";
import { sqlIdempotencyStore } from "./idempotency-store.js";
import { sqlIdentityStore } from "./identity-store.js";
import { sqlLeaseStore } from "./lease-store.js";
import { sqlMailboxStore } from "./mailbox-store.js";
import { sqlOutboxStore } from "./outbox-store.js";
import { sqlRateStore } from "./rate-store.js";
import { sqlSearchStore } from "./search-store.js";
import type { SqlSession } from "./session.js";
import { sqlTenantStore } from "./tenant-store.js";

/** A transaction over a session. */
export class SqlTransaction implements Transaction {
  readonly #session: SqlSession;
  readonly attempt: Transaction["attempt"];
  #apiKeys: Transaction["apiKeys"] | undefined;
  #documents: Transaction["documents"] | undefined;
  #idempotency: Transaction["idempotency"] | undefined;
  #identity: Transaction["identity"] | undefined;
  #leases: Transaction["leases"] | undefined;
  #mailbox: Transaction["mailbox"] | undefined;
  #outbox: Transaction["outbox"] | undefined;
  #rates: Transaction["rates"] | undefined;
  #search: Transaction["search"] | undefined;
  #tenants: Transaction["tenants"] | undefined;

  constructor(session: SqlSession, attempt: Transaction["attempt"] = (work) => work()) {
    this.#session = session;
    this.attempt = attempt;
  }

  get apiKeys(): Transaction["apiKeys"] {
    return (this.#apiKeys ??= sqlApiKeyStore(this.#session));
  }

  get documents(): Transaction["documents"] {
    return (this.#documents ??= sqlDocumentStore(this.#session));
  }

  get idempotency(): Transaction["idempotency"] {
    return (this.#idempotency ??= sqlIdempotencyStore(this.#session));
  }

  get identity(): Transaction["identity"] {
    return (this.#identity ??= sqlIdentityStore(this.#session));
  }

  get leases(): Transaction["leases"] {
    return (this.#leases ??= sqlLeaseStore(this.#session));
  }

  get mailbox(): Transaction["mailbox"] {
    return (this.#mailbox ??= sqlMailboxStore(this.#session));
  }

  get outbox(): Transaction["outbox"] {
    return (this.#outbox ??= sqlOutboxStore(this.#session));
  }

  get rates(): Transaction["rates"] {
    return (this.#rates ??= sqlRateStore(this.#session));
  }

  get search(): Transaction["search"] {
    return (this.#search ??= sqlSearchStore(this.#session));
  }

  get tenants(): Transaction["tenants"] {
    return (this.#tenants ??= sqlTenantStore(this.#session));
  }
}
