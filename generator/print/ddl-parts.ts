// What the DDL of all tables is printed with: types of columns, names in quotes.

export type EngineName = "sqlite" | "postgres";

/** Types of columns. */
export const types = {
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

export function createTable(
  table: string,
  columns: readonly string[],
  kind: "TABLE" | "UNLOGGED TABLE" = "TABLE",
): string {
  return `CREATE ${kind} ${quoteName(table)} (\n${columns.map((column) => `  ${column}`).join(",\n")}\n);`;
}

export function quoteName(identifier: string): string {
  return `"${identifier}"`;
}
