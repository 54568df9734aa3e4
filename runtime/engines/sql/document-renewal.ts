// Rows of older shapes, stored anew as this version has them, some at a time: reading them costs less then.
import { shapeNumber } from "../../contract/shapes.js";
import type { DocumentStore } from "../../ports/documents.js";
import type { DocumentDeclaration } from "../../ports/document-spec.js";
import { bodyRenewed } from "./document-rows.js";
import { between, chosen, keyOf, ordered, type Key } from "./row-walk.js";
import { quoted, type SqlRow, type SqlSession } from "./session.js";

/** Stores the next rows of older shapes anew, as the port has it. */
export async function renewRows(
  session: SqlSession,
  spec: DocumentDeclaration,
  after: Key,
  limit: number,
): ReturnType<DocumentStore["renew"]> {
  const { dialect } = session;
  const table = { name: quoted(spec.table), keys: dialect.rowKeys(spec) };
  const current = shapeNumber(spec.shape);
  const { condition, parameters } = between(session, table, after, null);
  const limitAt = dialect.placeholder(parameters.length + 1);
  // Only what is old is read whole.
  const columns = [
    ...chosen(table),
    `r."rev"`,
    `r."shape"`,
    `CASE WHEN r."shape" < ${current} THEN r."body" END AS "body"`,
  ];
  const rows = await session.all(
    `SELECT ${columns.join(", ")} FROM ${table.name} r WHERE ${condition} ORDER BY ${ordered(table)} LIMIT ${limitAt}`,
    [...parameters, limit],
  );
  const old = rows.filter((row) => row["body"] !== null);
  for (const row of old) await storedAnew(session, spec, row, keyOf(row, table));
  const last = rows.at(-1);
  const isDone = rows.length < limit || last === undefined;
  return { renewed: old.length, next: isDone ? null : keyOf(last, table) };
}

/** A row in the current shape, unless somebody has written it meanwhile. Neither its revision nor its time changes. */
async function storedAnew(
  session: SqlSession,
  spec: DocumentDeclaration,
  row: SqlRow,
  key: Key,
): Promise<void> {
  const { dialect } = session;
  const keys = dialect.rowKeys(spec);
  const isRow = keys.map(
    ({ column, type }, at) => `${column} = CAST(${dialect.placeholder(4 + at)} AS ${type})`,
  );
  const shape = Number(row["shape"]);
  await session.run(
    `UPDATE ${quoted(spec.table)} SET "shape" = ${dialect.placeholder(1)}, "body" = ${dialect.json(dialect.placeholder(2))} ` +
      `WHERE "rev" = ${dialect.placeholder(3)} AND "shape" = ${shape} AND ${isRow.join(" AND ")}`,
    [
      shapeNumber(spec.shape),
      bodyRenewed(spec, shape, String(row["body"])),
      Number(row["rev"]),
      ...key,
    ],
  );
}
