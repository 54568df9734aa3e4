// Which locks the statements of a migration take, and what they do while they hold them
// (PostgreSQL's manual, "Explicit Locking"; SQLite has a single lock, for writing).
import type { MigrationTarget } from "./migrations.js";

/** Who has to wait until a statement has ended. */
type Kept = "nobody" | "writers" | "everybody";

/** What a statement does to one table or index. */
export interface StatementEffect {
  /** The table, or an index of it. */
  readonly of: { readonly kind: "table" | "index"; readonly name: string };
  /** The lock, as the engine's manual calls it. */
  readonly lock: string;
  /**
   * Whether it goes through the table's rows while it holds the lock. If not, it is quick, however
   * large the table is.
   */
  readonly walks: boolean;
  readonly keepsWaiting: Kept;
}

/** A statement of a migration, with what it does to tables. */
export interface PlannedStatement {
  readonly text: string;
  /** The table that it creates, or null. */
  readonly makes: string | null;
  /** What it does to existing tables. */
  readonly effects: readonly StatementEffect[];
}

/** Splits a script into its statements, and tells what each of them does. */
export function plannedStatements(
  engine: MigrationTarget["engine"],
  script: string,
): readonly PlannedStatement[] {
  return statementsOf(script).map((text) => ({
    text,
    makes:
      /^CREATE (?:(?:UNLOGGED|VIRTUAL) )?TABLE (?:IF NOT EXISTS )?"?(\w+)"?/.exec(text)?.[1] ??
      null,
    effects: effectsOf(engine, text),
  }));
}

/** A semicolon ends a statement, unless it stands in quotes or in a comment. */
function statementsOf(script: string): readonly string[] {
  const pieces = script.match(/(?:'[^']*'|"[^"]*"|\$\$[^]*?\$\$|--[^\n]*|[^;])+/g) ?? [];
  return pieces
    .map((piece) => piece.replace(/^\s*--[^\n]*$/gm, "").trim())
    .filter((text) => text !== "");
}

/**
 * A kind of statement: how it begins (the first group is the name of the table or index), and what
 * it does there.
 */
type Rule = readonly [begins: RegExp, effect: Omit<StatementEffect, "of">, kind?: "index"];

const exclusive = { lock: "ACCESS EXCLUSIVE", keepsWaiting: "everybody" } as const;
const beside = { lock: "SHARE UPDATE EXCLUSIVE", keepsWaiting: "nobody" } as const;
const rows = { lock: "ROW EXCLUSIVE", keepsWaiting: "writers" } as const;
const index = String.raw`INDEX (?:CONCURRENTLY )?(?:IF (?:NOT )?EXISTS )?"?\w+"?`;
const table = String.raw`(?:IF EXISTS )?(?:ONLY )?"?(\w+)"?`;
const column = String.raw`(?:COLUMN )?(?:IF (?:NOT )?EXISTS )?"?\w+"?`;

/**
 * The first rule that matches counts. A statement that matches none, and is not `harmless`, is
 * assumed to do the worst.
 */
const rules: Readonly<Record<MigrationTarget["engine"], readonly Rule[]>> = {
  postgres: [
    [
      rule(`CREATE (?:UNIQUE )?${index} ON (?:ONLY )?"?(\\w+)"?`, "CONCURRENTLY"),
      { ...beside, walks: true },
    ],
    [
      rule(`CREATE (?:UNIQUE )?${index} ON (?:ONLY )?"?(\\w+)"?`),
      { lock: "SHARE", keepsWaiting: "writers", walks: true },
    ],
    [rule(`DROP TABLE ${table}`), { ...exclusive, walks: false }],
    [rule(`DROP INDEX CONCURRENTLY ${table}`), { ...beside, walks: false }, "index"],
    [rule(`DROP INDEX ${table}`), { ...exclusive, walks: false }, "index"],
    // A constant default is kept in the catalogue. A computed one (it has a parenthesis) is written
    // into every row.
    [
      rule(
        `ALTER TABLE ${table} ADD ${column} [^(]*$`,
        undefined,
        "REFERENCES|GENERATED|CHECK|UNIQUE",
      ),
      { ...exclusive, walks: false },
    ],
    [
      rule(
        `ALTER TABLE ${table} (?:RENAME|DROP|ALTER ${column} (?:DROP|SET (?:STORAGE|DEFAULT|STATISTICS)))`,
      ),
      { ...exclusive, walks: false },
    ],
    [rule(`ALTER TABLE ${table} ADD CONSTRAINT [^]* NOT VALID$`), { ...exclusive, walks: false }],
    [rule(`ALTER TABLE ${table} VALIDATE`), { ...beside, walks: true }],
    [rule(`INSERT INTO ${table}`), { ...rows, keepsWaiting: "nobody", walks: false }],
    // Changed rows stay locked until the transaction of this part of the migration ends.
    [rule(`(?:UPDATE|DELETE FROM) ${table}`), { ...rows, walks: true }],
    [rule(`TRUNCATE (?:TABLE )?${table}`), { ...exclusive, walks: false }],
    [rule(`ALTER TABLE ${table}`), { ...exclusive, walks: true }],
  ],
  sqlite: [
    [rule(`CREATE (?:UNIQUE )?${index} ON "?(\\w+)"?`), writeLock(true)],
    [rule(`ALTER TABLE ${table} (?:ADD|RENAME)`), writeLock(false)],
    [rule(`INSERT INTO ${table}`), writeLock(false)],
    [rule(`DROP INDEX ${table}`), writeLock(false), "index"],
    [rule(`(?:ALTER TABLE|DROP TABLE|UPDATE|DELETE FROM) ${table}`), writeLock(true)],
  ],
};

/**
 * Matches statements that begin with `begins`, contain the word `has` and contain none of the words
 * `lacks`.
 */
function rule(begins: string, has?: string, lacks?: string): RegExp {
  const wanted = has === undefined ? "" : `(?=[^]*\\b${has}\\b)`;
  const unwanted = lacks === undefined ? "" : `(?![^]*\\b(?:${lacks})\\b)`;
  return new RegExp(`^${wanted}${unwanted}${begins}`, "i");
}

/** SQLite's only lock: writers wait, readers don't. */
function writeLock(walks: boolean): Omit<StatementEffect, "of"> {
  return { lock: "the write lock", keepsWaiting: "writers", walks };
}

/** Statements that affect no existing table. */
const harmless =
  /^(?:CREATE (?:(?:UNLOGGED|VIRTUAL) )?TABLE|CREATE EXTENSION|COMMENT|SET|SELECT)\b/i;

function effectsOf(engine: MigrationTarget["engine"], text: string): readonly StatementEffect[] {
  const block = /^DO \$\$\s*BEGIN\b([^]*?)(?:\bEXCEPTION\b[^]*)?\bEND;?\s*\$\$$/.exec(text)?.[1];
  if (block !== undefined)
    return plannedStatements(engine, block).flatMap(({ effects }) => effects);
  for (const [begins, effect, kind = "table"] of rules[engine]) {
    const name = begins.exec(text)?.[1];
    if (name !== undefined) return [{ of: { kind, name }, ...effect }];
  }
  if (harmless.test(text)) return [];
  const lock = engine === "postgres" ? "an unknown lock" : "the write lock";
  const named = new Set([...text.matchAll(/"(\w+)"/g)].map(([, one = ""]) => one));
  return [...named].map((name) => ({
    of: { kind: "table", name },
    lock,
    walks: true,
    keepsWaiting: "everybody",
  }));
}
