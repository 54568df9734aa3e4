// What of other documents may be seen by way of one: by callers as far as these may read them, by
// handlers as far as they could find them themselves.
import { within as withinScopes } from "./access.js";
import { fail } from "../../contract/errors.js";
import type { ExecutionContext } from "../../operations/context.js";
import { isForWhole } from "../../operations/hooks.js";
import { expectWhole } from "../../operations/identity.js";
import {
  seenAs,
  type AnyDocumentSpec,
  type DocumentSpec,
  type Reading,
} from "../../ports/document-spec.js";
import { allOf, type Filter, type SortKey } from "../../query/ast.js";
import { reachedBy, sortsWithin, within, type Visibility } from "../../query/relations.js";

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
  const filters = [context.scopeOf(spec.name)];
  if (isForWhole(steps)) expectWhole(context);
  for (const step of steps) {
    // Hooks of the service take the context of every operation.
    if (step.visible === undefined) await step.run(undefined, context as never);
    else filters.push(await step.visible(context as never));
  }
  return allOf(...filters);
}

/** Handlers: the documents left by the scopes of their guard and of the operation's policy. */
export const handlerSight: Sight = async (spec, context) =>
  (await withinScopes(spec, context, "get")).scopeOf(spec.name);

interface Reaching {
  readonly filter: Filter;
  readonly sorts: readonly SortKey[];
}

/** The query, narrowed to the visible part of other documents that it reaches. */
export async function withSight<Query extends Reaching>(
  spec: AnyDocumentSpec,
  context: ExecutionContext,
  query: Query,
  sight: Sight,
): Promise<Query> {
  const { filter, sorts } = query;
  const visible = await visibility(spec, context, [filter], sorts, sight);
  if (visible === null) return query;
  return { ...query, filter: within(filter, visible), sorts: sortsWithin(sorts, visible) };
}

/** The visible part of documents that filters and sorts reach; null if they reach none. */
export async function visibility(
  spec: AnyDocumentSpec,
  context: ExecutionContext,
  filters: readonly Filter[],
  sorts: readonly SortKey[],
  sight: Sight,
): Promise<Visibility | null> {
  const names = reachedBy(filters, sorts);
  if (names.size === 0) return null;
  const seen = new Map<string, Filter>();
  for (const name of names) seen.set(name, await sight(relatedTo(spec, name), context));
  return ({ name }) => {
    const filter = seen.get(name);
    if (filter === undefined) throw new TypeError(`nobody has said who sees ${name}`);
    return filter;
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
