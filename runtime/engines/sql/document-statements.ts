// The fixed statements of a document type, printed once per spec and dialect.
import { historyTableName } from "../../contract/sql-names.js";
import type { AnyDocumentSpec } from "../../ports/document-spec.js";
import type { Dialect } from "./dialect/dialect.js";
import { quoteName } from "./session.js";

/** The statements of a type, as the stores of documents call them. */
export interface Statements {
  readonly get: string;
  readonly hold: string;
  /** Null if there is only one writer anyway. */
  readonly seize: string | null;
  readonly insert: string;
  readonly replace: string;
  readonly remove: string;
  readonly removeHistory: string;
  readonly insertHistory: string;
  readonly trimHistory: string;
  readonly snapshot: string;
}

const printed = new WeakMap<Dialect, WeakMap<AnyDocumentSpec, Statements>>();

/** The statements of a type, printed when they are first needed. */
export function statementsOf(spec: AnyDocumentSpec, dialect: Dialect): Statements {
  const known = printed.get(dialect) ?? new WeakMap<AnyDocumentSpec, Statements>();
  printed.set(dialect, known);
  const statements = known.get(spec) ?? printStatements(spec, dialect);
  known.set(spec, statements);
  return statements;
}

function printStatements(spec: AnyDocumentSpec, dialect: Dialect): Statements {
  const table = quoteName(spec.table);
  const history = quoteName(historyTableName(spec.table));
  const shift = spec.tenant ? 1 : 0;
  const at = (position: number) => dialect.placeholder(position + shift);
  const owned = spec.tenant ? `"tenant_id" = ${dialect.placeholder(1)} AND ` : "";
  const ownerColumn = spec.tenant ? `"tenant_id", ` : "";
  const ownerValue = spec.tenant ? `${dialect.placeholder(1)}, ` : "";
  return {
    get: `SELECT ${dialect.columns} FROM ${table} WHERE ${owned}"id" = ${at(1)}`,
    hold: `SELECT 1 FROM ${table} WHERE ${owned}"id" = ${at(1)} AND NOT "is_deleted"${dialect.shareRows}`,
    seize:
      dialect.seizeRows === ""
        ? null
        : `SELECT 1 FROM ${table} WHERE ${owned}"id" = ${at(1)}${dialect.seizeRows}`,
    insert:
      `INSERT INTO ${table} (${ownerColumn}"id", "rev", "created_at", "last_update_at", "is_deleted", "owner_id", "shape", "body") ` +
      `VALUES (${ownerValue}${at(1)}, ${at(2)}, ${at(3)}, ${at(4)}, ${at(5)}, ${at(6)}, ${at(7)}, ${dialect.json(at(8))})`,
    replace:
      `UPDATE ${table} SET "rev" = ${at(3)}, "last_update_at" = ${at(4)}, "is_deleted" = ${at(5)}, ` +
      `"shape" = ${at(6)}, "body" = ${dialect.json(at(7))} WHERE ${owned}"id" = ${at(1)} AND "rev" = ${at(2)}`,
    remove: `DELETE FROM ${table} WHERE ${owned}"id" = ${at(1)} AND "rev" = ${at(2)} RETURNING ${dialect.rowKey} AS "row_key"`,
    removeHistory: `DELETE FROM ${history} WHERE ${owned}"id" = ${at(1)}`,
    insertHistory:
      `INSERT INTO ${history} (${ownerColumn}"id", "rev", "shape", "body", "changed_at", "changed_by", "is_deleted") ` +
      `VALUES (${ownerValue}${at(1)}, ${at(2)}, ${at(3)}, ${dialect.json(at(4))}, ${at(5)}, ${at(6)}, ${at(7)})`,
    trimHistory: `DELETE FROM ${history} WHERE ${owned}"id" = ${at(1)} AND "rev" <= ${at(2)}`,
    snapshot: `SELECT "shape", "body" FROM ${history} WHERE ${owned}"id" = ${at(1)} AND "rev" = ${at(2)}`,
  };
}
