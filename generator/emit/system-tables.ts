// opwright's own tables, as steps: each is applied once, in a migration of its own time, and never changed afterwards.
// What a table needs later is a further step beside it (`opwright_staged_signals.shard`).
import { createTable, quoted, types, type EngineName } from "./ddl-parts.js";

interface Table {
  readonly columns: readonly string[];
  readonly indexes?: readonly string[];
  /** Whether its rows may be lost when the server crashes; then PostgreSQL has no commit wait for the disk. */
  readonly isUnlogged?: boolean;
}

/** The statements of one step. Throws for a step that is none. */
export function systemStep(engine: EngineName, step: string): string {
  const statements = later(engine)[step];
  if (statements !== undefined) return statements.join("\n");
  const table = tables(engine)[step];
  if (table === undefined) throw new Error(`no DDL for ${step}`);
  const indexes = (table.indexes ?? []).map(
    (column) =>
      `CREATE INDEX ${quoted(`${step}_by_${column}`)} ON ${quoted(step)} (${quoted(column)});`,
  );
  const kind = table.isUnlogged === true && engine === "postgres" ? "UNLOGGED TABLE" : "TABLE";
  return [createTable(step, table.columns, kind), ...indexes].join("\n");
}

/** Steps that change a table which an earlier step has made. */
function later(engine: EngineName): Readonly<Record<string, readonly string[]>> {
  const type = types[engine];
  return {
    // What is staged already is of the first shard: it is numbered all the same.
    "opwright_staged_signals.shard": [
      addColumn("opwright_staged_signals", `"shard" INTEGER NOT NULL DEFAULT 0`),
      index("opwright_staged_signals_by_shard", "opwright_staged_signals", `"shard", "sequence"`),
      index("opwright_staged_signals_by_signal", "opwright_staged_signals", `"signal_id"`),
    ],
    "opwright_mailbox_heads.length": [
      index("opwright_mailbox_heads_by_length", "opwright_mailbox_heads", `("head" - "floor")`),
    ],
    "opwright_cursors.check_at": [
      addColumn("opwright_cursors", `"check_at" ${type.number} NOT NULL DEFAULT 0`),
      index("opwright_cursors_by_check_at", "opwright_cursors", `"check_at"`),
    ],
    // Dead letters are in no index that the relay reads.
    "opwright_outbox.dead": [
      `DROP INDEX "opwright_outbox_by_due_at";`,
      index("opwright_outbox_by_due", "opwright_outbox", `"due_at", "id"`, alive),
      index("opwright_outbox_by_age", "opwright_outbox", `"created_at"`, alive),
      index("opwright_outbox_by_dead_at", "opwright_outbox", `"dead_at"`, present("dead_at")),
    ],
    "opwright_sessions.ended_at": [
      index(
        "opwright_sessions_by_ended_at",
        "opwright_sessions",
        `"ended_at"`,
        present("ended_at"),
      ),
    ],
    "opwright_refresh_tokens.session": [
      `DROP INDEX "opwright_refresh_tokens_by_session_id";`,
      index(
        "opwright_refresh_tokens_by_session",
        "opwright_refresh_tokens",
        `"session_id", "expires_at"`,
      ),
    ],
    "opwright_reset_tokens.expires_at": [
      index("opwright_reset_tokens_by_expires_at", "opwright_reset_tokens", `"expires_at"`),
    ],
    "opwright_api_keys.ends": [
      index(
        "opwright_api_keys_by_ended_at",
        "opwright_api_keys",
        `"ended_at"`,
        present("ended_at"),
      ),
      index(
        "opwright_api_keys_by_expires_at",
        "opwright_api_keys",
        `"expires_at"`,
        present("expires_at"),
      ),
    ],
  };
}

const alive = `"dead_at" IS NULL`;
const present = (column: string): string => `${quoted(column)} IS NOT NULL`;

function addColumn(table: string, column: string): string {
  return `ALTER TABLE ${quoted(table)} ADD COLUMN ${column};`;
}

/** An index of a table, of all its rows or of those that pass a condition. */
function index(name: string, table: string, columns: string, condition?: string): string {
  const rows = condition === undefined ? "" : ` WHERE ${condition}`;
  return `CREATE INDEX ${quoted(name)} ON ${quoted(table)} (${columns})${rows};`;
}

/** Tables by their names. */
function tables(engine: EngineName): Readonly<Record<string, Table>> {
  const type = types[engine];
  return {
    opwright_idempotency: {
      columns: [
        `"scope" ${type.text} PRIMARY KEY`,
        `"fingerprint" ${type.text} NOT NULL`,
        `"status" INTEGER NOT NULL`,
        `"body" ${type.text}`,
        `"etag" ${type.text}`,
        `"expires_at" ${type.number} NOT NULL`,
      ],
      indexes: ["expires_at"],
    },
    opwright_leases: {
      columns: [
        `"name" ${type.text} PRIMARY KEY`,
        `"holder" ${type.text} NOT NULL`,
        `"until" ${type.number} NOT NULL`,
        `"state" ${type.text}`,
      ],
    },
    opwright_rates: {
      isUnlogged: true,
      columns: [
        `"name" ${type.text} NOT NULL`,
        `"key" ${type.text} NOT NULL`,
        `"taken" INTEGER NOT NULL`,
        `"ends_at" ${type.number} NOT NULL`,
        `PRIMARY KEY ("name", "key")`,
      ],
      indexes: ["ends_at"],
    },
    opwright_principals: {
      columns: [
        `"id" ${type.uuid} PRIMARY KEY`,
        `"login" ${type.text} NOT NULL UNIQUE`,
        `"password_hash" ${type.text} NOT NULL`,
        `"is_active" ${type.flag} NOT NULL`,
      ],
    },
    opwright_sessions: {
      columns: [
        `"id" ${type.uuid} PRIMARY KEY`,
        `"principal_id" ${type.uuid} NOT NULL`,
        `"actor_id" ${type.uuid}`,
        `"tenant_id" ${type.text}`,
        `"created_at" ${type.number} NOT NULL`,
        `"ended_at" ${type.number}`,
      ],
      indexes: ["principal_id"],
    },
    opwright_api_keys: {
      columns: [
        `"id" ${type.uuid} PRIMARY KEY`,
        `"principal_id" ${type.uuid} NOT NULL`,
        `"actor_id" ${type.uuid}`,
        `"tenant_id" ${type.text}`,
        `"digest" ${type.text} NOT NULL UNIQUE`,
        `"prefix" ${type.text} NOT NULL`,
        `"hint" ${type.text} NOT NULL`,
        `"label" ${type.text}`,
        `"created_at" ${type.number} NOT NULL`,
        `"expires_at" ${type.number}`,
        `"last_used_at" ${type.number}`,
        `"ended_at" ${type.number}`,
      ],
      indexes: ["principal_id"],
    },
    opwright_reset_tokens: {
      columns: [
        `"principal_id" ${type.uuid} PRIMARY KEY`,
        `"digest" ${type.text} NOT NULL UNIQUE`,
        `"expires_at" ${type.number} NOT NULL`,
      ],
    },
    opwright_outbox: {
      columns: [
        `"id" ${type.uuid} PRIMARY KEY`,
        `"name" ${type.text} NOT NULL`,
        `"payload" ${type.text} NOT NULL`,
        `"tenant_id" ${type.text} NOT NULL`,
        `"created_at" ${type.number} NOT NULL`,
        `"due_at" ${type.number} NOT NULL`,
        `"attempts" INTEGER NOT NULL`,
        `"dead_at" ${type.number}`,
        `"last_error" ${type.text}`,
      ],
      indexes: ["due_at"],
    },
    opwright_signals: {
      columns: [
        `"id" ${type.uuid} PRIMARY KEY`,
        `"name" ${type.text} NOT NULL`,
        `"data" ${type.text} NOT NULL`,
        `"created_at" ${type.number} NOT NULL`,
      ],
      indexes: ["created_at"],
    },
    opwright_staged_signals: {
      columns: [
        engine === "sqlite"
          ? `"sequence" INTEGER PRIMARY KEY AUTOINCREMENT`
          : `"sequence" bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY`,
        `"tenant_id" ${type.text} NOT NULL`,
        `"principal_id" ${type.uuid} NOT NULL`,
        `"signal_id" ${type.uuid} NOT NULL`,
      ],
    },
    opwright_mailbox_heads: {
      columns: [
        `"tenant_id" ${type.text} NOT NULL`,
        `"principal_id" ${type.uuid} NOT NULL`,
        `"head" ${type.number} NOT NULL`,
        `"floor" ${type.number} NOT NULL`,
        `PRIMARY KEY ("tenant_id", "principal_id")`,
      ],
    },
    opwright_mailbox: {
      columns: [
        `"tenant_id" ${type.text} NOT NULL`,
        `"principal_id" ${type.uuid} NOT NULL`,
        `"position" ${type.number} NOT NULL`,
        `"signal_id" ${type.uuid} NOT NULL`,
        `"created_at" ${type.number} NOT NULL`,
        `PRIMARY KEY ("tenant_id", "principal_id", "position")`,
      ],
      indexes: ["created_at"],
    },
    opwright_cursors: {
      columns: [
        `"tenant_id" ${type.text} NOT NULL`,
        `"principal_id" ${type.uuid} NOT NULL`,
        `"device" ${type.text} NOT NULL`,
        `"position" ${type.number} NOT NULL`,
        `"seen_at" ${type.number} NOT NULL`,
        `PRIMARY KEY ("tenant_id", "principal_id", "device")`,
      ],
    },
    opwright_refresh_tokens: {
      columns: [
        `"digest" ${type.text} PRIMARY KEY`,
        `"session_id" ${type.uuid} NOT NULL`,
        `"expires_at" ${type.number} NOT NULL`,
        `"used_at" ${type.number}`,
      ],
      indexes: ["expires_at", "session_id"],
    },
    opwright_tenants: {
      columns: [
        `"id" ${type.text} PRIMARY KEY`,
        `"key" ${type.text} NOT NULL UNIQUE`,
        `"is_active" ${type.flag} NOT NULL`,
      ],
    },
    opwright_memberships: {
      columns: [
        `"tenant_id" ${type.text} NOT NULL`,
        `"principal_id" ${type.uuid} NOT NULL`,
        `PRIMARY KEY ("tenant_id", "principal_id")`,
      ],
      indexes: ["principal_id"],
    },
    opwright_grants: {
      columns: [
        `"tenant_id" ${type.text} NOT NULL`,
        `"subject" ${type.text} NOT NULL`,
        `"permission" ${type.text} NOT NULL`,
        `PRIMARY KEY ("subject", "tenant_id", "permission")`,
      ],
    },
  };
}
