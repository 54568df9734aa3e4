// What of other documents may be seen by way of one: by callers as far as these may read them, by
// handlers as far as they could find them themselves.
import { within as withinScopes } from "./access.js";
import { fail } from "../../contract/errors.js";
import type { ExecutionContext } from "../../operations/context.js";
import {
  seenAs,
  type AnyDocumentSpec,
  type DocumentSpec,
  type Reading,
} from "../../ports/document-spec.js";
import { allOf, type Filter, type SortKey } from "../../query/ast.js";
import type { FieldReference } from "../../query/fields.js";
import {
  membersIn,
  membersReached,
  sortsWithin,
  within,
  type Visibility,
} from "../../query/relations.js";
import { filtersLeft } from "./reading.js";
import { filtersAbout, findShown, type ShownMembers } from "./visible.js";

/** The documents of a type that somebody may see. Rejects if they may see none. */
export type Sight = (spec: AnyDocumentSpec, context: ExecutionContext) => Promise<Filter>;

/** Callers: the guard of `get` lets them pass, and its scopes narrow their view. */
export const callerSight: Sight = async (spec, context) => {
  if (spec.reading === undefined) throw fail("core.authorization");
  return sightBy(spec.reading(), spec, context);
};

/** The documents that a guard of reading leaves. Rejects if it refuses the caller. */
export async function sightBy(
  steps: readonly Reading[],
  spec: AnyDocumentSpec,
  context: ExecutionContext,
): Promise<Filter> {
  return allOf(context.scopeOf(spec.name), ...(await filtersLeft(steps, context)));
}

/** Handlers: the documents left by the scopes of their guard and of the operation's policy. */
export const handlerSight: Sight = async (spec, context) =>
  (await withinScopes(spec, context, "get")).scopeOf(spec.name);

interface Reaching {
  readonly filter: Filter;
  readonly sorts: readonly SortKey[];
  /** Fields whose values it counts. */
  readonly facets?: readonly FieldReference[];
}

/**
 * The query, narrowed to the visible part of other documents that it reaches, and to documents in
 * which the caller may see what it asks about.
 */
export async function withSight<Query extends Reaching>(
  spec: AnyDocumentSpec,
  context: ExecutionContext,
  query: Query,
  sight: Sight,
): Promise<Query> {
  const { sorts, facets } = query;
  const asked = (): ReadonlySet<string> => membersIn([query.filter], sorts, facets);
  const shown = await findShown(spec, context, asked);
  const visible = await visibility(spec, context, [query.filter], sorts, sight);
  if (visible === null && shown.length === 0) return query;
  const filter = visible === null ? query.filter : within(query.filter, visible);
  return {
    ...query,
    filter: shown.length === 0 ? filter : allOf(filter, ...shown.map((one) => one.filter)),
    sorts: visible === null ? sorts : sortsWithin(sorts, visible),
  };
}

/** The visible part of documents that filters and sorts reach; null if they reach none. */
export async function visibility(
  spec: AnyDocumentSpec,
  context: ExecutionContext,
  filters: readonly Filter[],
  sorts: readonly SortKey[],
  sight: Sight,
): Promise<Visibility | null> {
  const reached = membersReached(filters, sorts);
  if (reached.size === 0) return null;
  const seen = new Map<string, { left: Filter; shown: readonly ShownMembers[] }>();
  for (const [name, asked] of reached) {
    const related = relatedTo(spec, name);
    const left = await sight(related, context);
    const shown = await findShown(related, context, () => asked);
    seen.set(name, { left, shown });
  }
  return ({ name }, members) => {
    const found = seen.get(name);
    if (found === undefined) throw new TypeError(`nobody has said who sees ${name}`);
    const narrower = filtersAbout(found.shown, members);
    return narrower.length === 0 ? found.left : allOf(found.left, ...narrower);
  };
}

const neighbours = new WeakMap<AnyDocumentSpec, ReadonlyMap<string, DocumentSpec>>();

/** A document, or a view, that one is related to, over however many others. */
export function relatedTo(spec: AnyDocumentSpec, name: string): DocumentSpec {
  const known = neighbours.get(spec) ?? reachable(spec);
  neighbours.set(spec, known);
  const found = known.get(name);
  if (found === undefined) throw new TypeError(`${spec.name} are not related to ${name}`);
  return found;
}

function reachable(spec: AnyDocumentSpec): ReadonlyMap<string, DocumentSpec> {
  const found = new Map<string, DocumentSpec>();
  const visit = ({ references = {}, referredBy = [] }: AnyDocumentSpec): void => {
    const next = [...Object.values(references), ...referredBy.map(({ by }) => by)];
    for (const other of next.map((of) => of())) {
      const name = seenAs(other);
      if (found.has(name)) continue;
      found.set(name, other);
      visit(other);
    }
  };
  // A scope of a view may follow a reference that the view doesn't show.
  visit(spec.view?.of ?? spec);
  return found;
}
