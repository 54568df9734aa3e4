// SQL of the author's own, for reading what the query language cannot ask: within the tenant and
// the scopes of the invocation.
import { within } from "./access.js";
import { fail } from "../../contract/errors.js";
import type { ExecutionContext } from "../../operations/context.js";
import { callInTurn } from "../../operations/held-calls.js";
import type { DocumentSpec } from "../../ports/document-spec.js";
import { ownQueryStore, type QueryPiece, type QueryValue } from "../../ports/own-queries.js";
import type { FieldReference } from "../../query/fields.js";

/** A field of a document, as SQL of the engine reads it: `column(tasksSpec, "due")`. */
export interface Column {
  readonly column: FieldReference;
}

/**
 * Names a field for `sql`. Throws if there is none, and for one that only some may see, unless the
 * spec is `unscoped`: no SQL of your own knows who these are.
 */
export function column(spec: DocumentSpec, path: string): Column {
  const field = spec.scopeFields.find(path);
  if (field === undefined) throw new TypeError(`${spec.name} has no field ${path}`);
  const [member = path] = path.split(".", 1);
  const { visible = [], isUnscoped } = spec;
  if (isUnscoped !== true && visible.some(({ members }) => members.includes(member)))
    throw new TypeError(
      `only some may see ${member} of ${spec.name}: name it of unscoped(…), and see to who gets it`,
    );
  return { column: field };
}

type Interpolated = DocumentSpec | Column | QueryValue;

/** Types that columns of a query can have. */
interface ColumnTypes {
  readonly string: string;
  readonly integer: number;
  readonly number: number;
  readonly boolean: boolean;
}

/** A row of a query whose columns are of these types. */
export type RowOf<Columns extends Readonly<Record<string, keyof ColumnTypes>>> = {
  readonly [Name in keyof Columns]: ColumnTypes[Columns[Name]] | null;
};

/**
 * A query in SQL of the engine, given its columns with their types. A spec stands for the live
 * documents of the tenant that the invocation may see, a `column` for a field of theirs; everything
 * else is a parameter and never text. Throws `query_too_complex` for more rows than the
 * deployment's read limit.
 */
export function sql<const Columns extends Readonly<Record<string, keyof ColumnTypes>>>(
  context: ExecutionContext,
  columns: Columns,
): (
  texts: TemplateStringsArray,
  ...given: readonly Interpolated[]
) => Promise<readonly RowOf<Columns>[]> {
  const rows = async (
    texts: TemplateStringsArray,
    given: readonly Interpolated[],
  ): Promise<readonly RowOf<Columns>[]> => {
    const pieces: QueryPiece[] = [];
    for (const [at, text] of texts.entries()) {
      pieces.push({ text });
      if (at < given.length) pieces.push(await pieceOf(given[at] ?? null, context));
    }
    const most = context.resources.readLimits.documents ?? Number.MAX_SAFE_INTEGER - 1;
    const store = context.transaction.of(ownQueryStore);
    // One more tells that there are more than may be read.
    const found = await store.rows(pieces, columns, context.tenant, most + 1);
    if (found.length > most) throw fail("query_too_complex", { limit: most });
    // The store reads each column as its type.
    return found as readonly RowOf<Columns>[];
  };
  return (texts, ...given) => callInTurn(context, "sql", () => rows(texts, given));
}

async function pieceOf(given: Interpolated, context: ExecutionContext): Promise<QueryPiece> {
  if (typeof given !== "object" || given === null) return { value: given };
  if ("column" in given) return { field: given.column };
  return { of: given, filter: (await within(given, context, "get")).scopeOf(given.name) };
}
