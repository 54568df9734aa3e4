// The tables, documents and contexts that the database's contract works with.
import { ServiceError } from "../../contract/errors.js";
import type { Validator } from "../../contract/validation.js";
import type { DocumentQuery, StoredDocument, Window } from "../../ports/documents.js";
import { document } from "../../ports/document-spec.js";
import type { MigrationTarget } from "../../engines/sql/migrations.js";
import { AnswerBudget } from "../../operations/answer-budget.js";
import { ExecutionContext } from "../../operations/context.js";
import type { Database, Transaction } from "../../ports/database.js";
import { systemClock } from "../../ports/clock.js";
import { silentObserver } from "../../ports/observer.js";
import { Lifetime } from "../../ports/lifetime.js";
import { silentLog } from "../../ports/log.js";
import { memoryRateLimiter } from "../../engines/memory/rate-limiter.js";
import { nothingKept } from "../../operations/kept-values.js";
import { aesSealer } from "../../operations/sealer.js";
import { hmacSigner } from "../../operations/hmac-signer.js";
import { uuidv7 } from "../../ports/uuid.js";
import { everything, type SortKey } from "../../query/ast.js";

export interface ContractHarness {
  /** Opens a database in which `prepareContractTables` has run. It may be shared by all cases. */
  open(): Promise<Database>;
}

export interface Thing {
  readonly name: string | null;
  readonly size: number | null;
  readonly flag: boolean | null;
  readonly at: string | null;
}

export const things = document<{ document: Thing; create: Partial<Thing>; patch: Partial<Thing> }>({
  name: "things",
  table: "contract_things",
  tenant: true,
  softDelete: true,
  listDeleted: true,
  history: 3,
  defaults: { name: null, size: null, flag: null, at: null },
  nullable: ["name", "size", "flag", "at"],
  canonical: { at: "date-time" },
  shape: { members: null, steps: [] },
  validateBody: () => null,
  fields: { name: "string", size: "number", flag: "boolean", at: "date-time" },
});

/** The same table without merging: stale revisions are refused. */
export const strictThings = document<{
  document: Thing;
  create: Partial<Thing>;
  patch: Partial<Thing>;
}>({
  ...things,
  history: 0,
});

/** Creates the tables that the suite works on. */
export async function prepareContractTables(target: MigrationTarget): Promise<void> {
  const isSqlite = target.engine === "sqlite";
  const [uuid, time, flag, body] = isSqlite
    ? ["TEXT", "TEXT", "INTEGER", "TEXT"]
    : ["uuid", "timestamptz(3)", "boolean", "jsonb"];
  await target.migrate(({ transaction }) =>
    transaction(async ({ exec }) => {
      await exec(`
      CREATE TABLE "contract_things" (
        "tenant_id" TEXT NOT NULL, "id" ${uuid} NOT NULL, "rev" INTEGER NOT NULL, "created_at" ${time} NOT NULL,
        "last_update_at" ${time} NOT NULL, "is_deleted" ${flag} NOT NULL, "owner_id" TEXT,
        "shape" INTEGER NOT NULL DEFAULT 1, "body" ${body} NOT NULL,
        PRIMARY KEY ("tenant_id", "id"));
      CREATE TABLE "contract_things_history" (
        "tenant_id" TEXT NOT NULL, "id" ${uuid} NOT NULL, "rev" INTEGER NOT NULL,
        "shape" INTEGER NOT NULL DEFAULT 1, "body" ${body} NOT NULL,
        "changed_at" ${time}, "changed_by" TEXT, "is_deleted" ${flag},
        PRIMARY KEY ("tenant_id", "id", "rev"));
      CREATE TABLE IF NOT EXISTS "opwright_idempotency" (
        "scope" TEXT PRIMARY KEY, "fingerprint" TEXT NOT NULL, "status" INTEGER NOT NULL, "body" TEXT, "shape" TEXT, "etag" TEXT,
        "expires_at" BIGINT NOT NULL);`);
    }),
  );
}

const signer = hmacSigner([Buffer.alloc(32, 7)]);
const limiter = memoryRateLimiter();

export function contextOf(
  database: Database,
  fields: { readonly tenant: string; readonly key?: string; readonly lifetime?: Lifetime },
): ExecutionContext {
  return new ExecutionContext(
    {
      clock: systemClock,
      database,
      log: silentLog,
      tracer: null,
      signer,
      kept: nothingKept,
      sealer: aesSealer([Buffer.alloc(32, 9)], "outbox"),
      limiter,
      publicUrl: () => "http://localhost",
      of: ({ name }) => {
        throw new Error(`no ${name} here`);
      },
      deadlineSeconds: 30,
      queryBudgets: { callers: null, anonymous: null },
      answers: new AnswerBudget(1024 ** 3),
      readLimits: { documents: null, pages: null },
      wake: () => undefined,
      familySettings: {},
      staged: async () => undefined,
      departed: async () => undefined,
      recorded: null,
      async *exported() {},
      erased: async () => ({}),
      observer: silentObserver,
      signals: {
        wake: () => undefined,
        credentialsEnded: () => undefined,
        publish: () => undefined,
      },
    },
    {
      operationId: "things.test",
      metadata: { requestId: "r", correlationId: "r", causationId: "r", traceparent: undefined },
      tenant: fields.tenant,
      idempotencyKey: fields.key,
      lifetime: fields.lifetime ?? Lifetime.unlimited(),
    },
  );
}

export function makeStored(
  body: Partial<Thing>,
  fields: Partial<StoredDocument> = {},
): StoredDocument {
  const now = new Date().toISOString();
  return {
    id: uuidv7(),
    rev: 1,
    createdAt: now,
    lastUpdateAt: now,
    isDeleted: false,
    ownerId: null,
    body: JSON.stringify(body),
    ...fields,
  };
}

export const all: DocumentQuery = { filter: everything, sorts: [], withDeleted: false };
export const firstPage: Window = { limit: 100, offset: 0, after: undefined };

export const field = (name: keyof Thing) => ({
  path: name,
  type: things.fields[name] ?? "string",
  isColumn: false,
});
export const id = { path: "id", type: "uuid", isColumn: true } as const;
export const byId: SortKey = { field: id, direction: "asc", nulls: "first" };

/** Runs a case with a database and a tenant of its own, so that cases don't affect each other. */
type WithDatabase = (body: (database: Database, tenant: string) => Promise<void>) => Promise<void>;

/** Runs cases on the databases that the harness opens. */
export function withDatabaseOf(harness: ContractHarness): WithDatabase {
  return async (body) => {
    const database = await harness.open();
    try {
      await body(database, uuidv7());
    } finally {
      await database.close();
    }
  };
}

/** Runs work in a transaction without a deadline. */
export const write = <T>(
  database: Database,
  work: (transaction: Transaction) => Promise<T>,
): Promise<T> => database.write({ lifetime: Lifetime.unlimited() }, work);

/** A validator that lets everything pass: the suite calls operations with sound input. */
export function acceptAnything<T>(): Validator<T> {
  return () => null;
}

export function codeOf(error: unknown): string | undefined {
  return error instanceof ServiceError ? error.code : undefined;
}
