// Queries of callers are priced before they run, by what is known of the rows they look at
// (architecture.md "Work is bounded").
import type { ExecutionContext } from "../../operations/context.js";
import type { Database } from "../../ports/database.js";
import { ofService } from "../../ports/work.js";
import { checkCost, type Cost, type Ground } from "../../operations/query-cost.js";
import type { AnyDocumentSpec } from "../../ports/document-spec.js";
import { documentStore } from "../../ports/documents.js";
import type { Filter } from "../../query/ast.js";
import { reachedBy } from "../../query/relations.js";
import { relatedTo } from "./reach.js";
import { monotonicMillis } from "../../ports/ambient.js";

/** How long an estimate counts, in milliseconds: large tables change slowly. */
const rememberedMillis = 60_000;
/** Types and tenants whose estimates are remembered. */
const maxRemembered = 10_000;

interface Estimate {
  readonly rows: Promise<number>;
  readonly until: number;
}

const estimates = new WeakMap<Database, Map<string, Estimate>>();

/** Throws `query_too_complex` if a query costs more than its caller may spend. */
export async function checkPrice(
  spec: AnyDocumentSpec,
  context: ExecutionContext,
  filters: readonly Filter[],
  costOf: (ground: Ground) => Cost,
): Promise<void> {
  const { payer, resources } = context;
  if (payer === null) return;
  const grounds = new Map<string, Ground>();
  const related = (name: string): Ground => {
    const ground = grounds.get(name);
    if (ground === undefined) throw new TypeError(`${name} were not looked at`);
    return ground;
  };
  const groundOf = async (of: AnyDocumentSpec): Promise<Ground> => ({
    rows: await rowsOf(of, context),
    indexes: of.indexes ?? [],
    related,
  });
  for (const name of reachedBy(filters)) grounds.set(name, await groundOf(relatedTo(spec, name)));
  checkCost(costOf(await groundOf(spec)), resources.queryBudgets, payer);
}

/**
 * About how many rows the tenant has. Asked by the service, for all its callers, once in a while.
 */
function rowsOf(spec: AnyDocumentSpec, { resources, tenant }: ExecutionContext): Promise<number> {
  const { database } = resources;
  const known = estimates.get(database) ?? new Map<string, Estimate>();
  estimates.set(database, known);
  const key = spec.tenant ? `${spec.table}\0${tenant}` : spec.table;
  const remembered = known.get(key);
  if (remembered !== undefined && remembered.until > monotonicMillis()) return remembered.rows;
  known.delete(key);
  const rows = database.read(ofService()).of(documentStore).estimate(spec, tenant);
  known.set(key, { rows, until: monotonicMillis() + rememberedMillis });
  // One that failed is asked again.
  rows.catch(() => known.delete(key));
  if (known.size > maxRemembered) known.delete(known.keys().next().value ?? "");
  return rows;
}
