// Aggregated lists of documents: `{hits: [{alias: value}], page, size, count}` (decisions.md
// "Documents").
import type { ExecutionContext } from "../../operations/context.js";
import { parseWith, type ParsedBody } from "../../operations/input.js";
import type { Handler } from "../../operations/operation.js";
import { aggregateCost } from "../../operations/query-cost.js";
import { parseAggregateRequest, type AggregateRequest } from "../../query/parse-aggregate.js";
import { offsetOf } from "./list.js";
import type { AggregateValue } from "../../ports/documents.js";
import { allOf, type Filter } from "../../query/ast.js";
import type { FieldReference } from "../../query/fields.js";
import { membersIn, within } from "../../query/relations.js";
import { checkPrice } from "./priced.js";
import { callerSight, visibility, type Sight } from "./reach.js";
import { readMany } from "./read-many.js";
import { narrowQuery } from "./scoped.js";
import { filtersAbout, findShown } from "./visible.js";
import type { AnyDocumentSpec, DocumentSpec } from "../../ports/document-spec.js";
import { documentStore } from "../../ports/documents.js";

/** Values by alias. */
export type AggregateHit = Readonly<Record<string, AggregateValue>>;

export interface AggregatePage {
  readonly hits: readonly AggregateHit[];
  readonly page: number;
  readonly size: number;
  /** How many groups there are. */
  readonly count: number;
}

/** The handler of `agg_list`. */
export function aggList(spec: DocumentSpec): Handler<AggregateRequest, AggregatePage> {
  return (asked: AggregateRequest, context: ExecutionContext) =>
    aggregatePage(spec, context, asked, callerSight);
}

/** A page of groups. Throws `query_too_complex`. */
export async function aggregatePage(
  spec: AnyDocumentSpec,
  context: ExecutionContext,
  asked: AggregateRequest,
  sight: Sight,
): Promise<AggregatePage> {
  const request = narrowQuery(spec, context, await narrowRequest(spec, context, asked, sight));
  const { page, size, aggregate } = request;
  const filters = [request.filter, ...aggregate.computed.map(({ filter }) => filter)];
  await checkPrice(spec, context, filters, (ground) =>
    aggregateCost(ground, request.filter, aggregate),
  );
  const store = readMany(spec, context, sight).of(documentStore);
  const window = { limit: size, offset: offsetOf(context, request) };
  const { rows, count } = await store.aggregate(spec, context.tenant, request, aggregate, window);
  const aliases = [...aggregate.groups, ...aggregate.computed].map(({ alias }) => alias);
  const hits = rows.map((row) =>
    Object.fromEntries(aliases.map((alias, index) => [alias, row[index] ?? null])),
  );
  return { hits, page, size, count };
}

/**
 * The request, narrowed to the visible part of other documents that its filters reach, and each
 * value to the documents in which the caller may see what it is computed of.
 */
async function narrowRequest(
  spec: AnyDocumentSpec,
  context: ExecutionContext,
  asked: AggregateRequest,
  sight: Sight,
): Promise<AggregateRequest> {
  const { aggregate } = asked;
  const { groups, computed } = aggregate;
  const all = [asked.filter, ...computed.map(({ filter }) => filter)];
  const visible = await visibility(spec, context, all, [], sight);
  const fields = [...groups, ...computed].flatMap(({ field }) => field ?? []);
  const shown = await findShown(spec, context, () => membersIn(all, [], fields));
  if (visible === null && shown.length === 0) return asked;
  const narrow = (filter: Filter, of: readonly FieldReference[]): Filter => {
    const left = filtersAbout(shown, membersIn([filter], [], of));
    return allOf(visible === null ? filter : within(filter, visible), ...left);
  };
  return {
    ...asked,
    filter: narrow(
      asked.filter,
      groups.map(({ field }) => field),
    ),
    aggregate: {
      ...aggregate,
      computed: computed.map((one) => ({
        ...one,
        filter: narrow(one.filter, one.field === null ? [] : [one.field]),
      })),
    },
  };
}

/** The binding of its body. */
export function aggInput(spec: DocumentSpec): ParsedBody<AggregateRequest> {
  const rules = { fields: spec.fieldSet, mayListDeleted: spec.listDeleted };
  return parseWith((body) => parseAggregateRequest(body, rules));
}
