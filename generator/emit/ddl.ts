// DDL of storage changes, for both engines. Indexes stand over the very expressions that queries use.
import { postgresField, sqliteField } from "../../runtime/contract/fields.js";
import type { IndexSchema, StorageChange, TableSchema } from "./storage-schema.js";

export type EngineName = "sqlite" | "postgres";

/** The statements of one change. */
export function ddl(engine: EngineName, change: StorageChange): string {
  switch (change.kind) {
    case "createSystemTable":
      return systemTable(engine, change.table);
    case "createTable":
      return documentTable(engine, change.table, change.schema);
    case "createHistory":
      return historyTable(engine, change.table, change.tenant);
    case "createIndex": {
      const keys = change.index.fields.map((field) => indexKey(engine, field));
      const columns = [...(change.tenant ? [`"tenant_id"`] : []), ...keys, `"id"`];
      return `CREATE INDEX ${quoted(change.name)} ON ${quoted(change.table)} (${columns.join(", ")});`;
    }
    case "createSearch":
      return searchIndex(engine, change.name, change.tenant, change.texts);
    case "dropSearch":
      return [`${change.name}_words`, change.name]
        .map((table) => `DROP TABLE IF EXISTS ${quoted(table)};`)
        .join("\n");
    case "dropIndex":
      return `DROP INDEX IF EXISTS ${quoted(change.name)};`;
    case "fillMember":
      return fillMember(engine, change.table, change.member, change.value);
  }
}

function indexKey(
  engine: EngineName,
  { path, type, isColumn }: IndexSchema["fields"][number],
): string {
  if (isColumn === true) return quoted(path);
  return engine === "sqlite" ? sqliteField(path) : `${postgresField(path, type)} NULLS FIRST`;
}

const types = {
  sqlite: {
    uuid: "TEXT",
    time: "TEXT",
    flag: "INTEGER",
    json: "TEXT",
    text: "TEXT",
    number: "INTEGER",
  },
  postgres: {
    uuid: "uuid",
    time: "timestamptz(3)",
    flag: "boolean",
    json: "jsonb",
    text: "text",
    number: "bigint",
  },
} as const;

function documentTable(engine: EngineName, table: string, schema: TableSchema): string {
  const type = types[engine];
  return createTable(table, [
    ...(schema.tenant ? [`"tenant_id" ${type.text} NOT NULL`] : []),
    `"id" ${type.uuid} NOT NULL`,
    `"rev" INTEGER NOT NULL`,
    `"created_at" ${type.time} NOT NULL`,
    `"last_update_at" ${type.time} NOT NULL`,
    `"is_deleted" ${type.flag} NOT NULL`,
    `"owner_id" ${type.text}`,
    `"body" ${type.json} NOT NULL`,
    `PRIMARY KEY (${schema.tenant ? `"tenant_id", ` : ""}"id")`,
  ]);
}

function historyTable(engine: EngineName, table: string, tenant: boolean): string {
  const type = types[engine];
  return createTable(`${table}_history`, [
    ...(tenant ? [`"tenant_id" ${type.text} NOT NULL`] : []),
    `"id" ${type.uuid} NOT NULL`,
    `"rev" INTEGER NOT NULL`,
    `"body" ${type.json} NOT NULL`,
    `PRIMARY KEY (${tenant ? `"tenant_id", ` : ""}"id", "rev")`,
  ]);
}

/** FTS5 over words that the service has folded already; a table of tsvectors with a GIN index. */
function searchIndex(engine: EngineName, name: string, tenant: boolean, texts: number): string {
  if (engine === "sqlite") {
    const columns = Array.from({ length: texts }, (_, at) => `"t${at}"`).join(", ");
    return [
      `CREATE VIRTUAL TABLE ${quoted(name)} USING fts5(${columns}, tokenize = 'unicode61 remove_diacritics 0', prefix = '2 3');`,
      `CREATE VIRTUAL TABLE ${quoted(`${name}_words`)} USING fts5vocab(${quoted(name)}, 'row');`,
    ].join("\n");
  }
  const key = tenant ? `"tenant_id", "id"` : `"id"`;
  const table = createTable(name, [
    ...(tenant ? [`"tenant_id" text NOT NULL`] : []),
    `"id" uuid NOT NULL`,
    `"texts" tsvector NOT NULL`,
    `PRIMARY KEY (${key})`,
  ]);
  const words = `${name}_words`;
  return [
    table,
    `CREATE INDEX ${quoted(`${name}_by_texts`)} ON ${quoted(name)} USING gin ("texts") WITH (fastupdate = off);`,
    createTable(words, [
      ...(tenant ? [`"tenant_id" text NOT NULL`] : []),
      `"word" text COLLATE "C" NOT NULL`,
    ]),
    `CREATE INDEX ${quoted(`${words}_by_word`)} ON ${quoted(words)} (${tenant ? `"tenant_id", ` : ""}"word");`,
    trigramIndex(words),
  ].join("\n");
}

/** Trigrams where PostgreSQL has them and lets this role use them; a search does without where it does not. */
function trigramIndex(words: string): string {
  return [
    "DO $$ BEGIN",
    "  CREATE EXTENSION IF NOT EXISTS pg_trgm;",
    `  CREATE INDEX ${quoted(`${words}_by_trigrams`)} ON ${quoted(words)} USING gin ("word" gin_trgm_ops);`,
    "EXCEPTION WHEN undefined_file OR feature_not_supported OR insufficient_privilege OR undefined_object THEN",
    "  RAISE NOTICE 'no trigrams: %', SQLERRM;",
    "END $$;",
  ].join("\n");
}

function systemTable(engine: EngineName, table: string): string {
  const type = types[engine];
  const tables: Readonly<
    Record<string, { readonly columns: readonly string[]; readonly indexes?: readonly string[] }>
  > = {
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
  const found = tables[table];
  if (found === undefined) throw new Error(`no DDL for ${table}`);
  const made = createTable(table, found.columns);
  const indexes = (found.indexes ?? []).map(
    (column) =>
      `CREATE INDEX ${quoted(`${table}_by_${column}`)} ON ${quoted(table)} (${quoted(column)});`,
  );
  return [made, ...indexes].join("\n");
}

function createTable(table: string, columns: readonly string[]): string {
  return `CREATE TABLE ${quoted(table)} (\n${columns.map((column) => `  ${column}`).join(",\n")}\n);`;
}

/** Gives stored bodies a member that they do not have yet. */
function fillMember(engine: EngineName, table: string, member: string, value: unknown): string {
  const json = text(JSON.stringify(value));
  if (engine === "sqlite") {
    return `UPDATE ${quoted(table)} SET "body" = json_insert("body", ${text(`$."${member}"`)}, json(${json}));`;
  }
  const object = `jsonb_build_object(${text(member)}, ${json}::jsonb)`;
  return `UPDATE ${quoted(table)} SET "body" = ${object} || "body" WHERE NOT "body" ? ${text(member)};`;
}

function quoted(identifier: string): string {
  return `"${identifier}"`;
}

function text(value: string): string {
  return `'${value.replaceAll("'", "''")}'`;
}
