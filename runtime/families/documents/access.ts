// What author code may reach of documents: what their own guards leave of them, whichever operation
// it runs in (service.md "Authorization per operation"). An operation's name decides nothing.
import type { ExecutionContext } from "../../operations/context.js";
import type { AnyDocumentSpec, DocumentSpec, Scopes } from "../../ports/document-spec.js";
import { allOf, everything } from "../../query/ast.js";

/** The kinds of access to a document. */
export type Access = keyof Scopes;

/** Specs without scopes, by those that have them. */
const lifted = new WeakMap<AnyDocumentSpec, AnyDocumentSpec>();

/**
 * The documents of a spec beyond all scopes: `collection(unscoped(ordersSpec), context)` reads and
 * writes every order of the tenant, whoever is calling. `opwright check` lists each use.
 */
export function unscoped<Spec extends DocumentSpec>(spec: Spec): Spec {
  const known = lifted.get(spec) ?? { ...spec, isUnscoped: true };
  lifted.set(spec, known);
  // It is the same spec; only scopes know the difference.
  return known as Spec;
}

/**
 * The invocation with the scopes of a document's own guard, for one kind of access. Work of the
 * service itself, for which nobody calls, has none. Throws `core.authentication` if a scope has
 * to know who is calling.
 */
export async function within(
  spec: AnyDocumentSpec,
  context: ExecutionContext,
  access: Access,
): Promise<ExecutionContext> {
  if (spec.isUnscoped === true) {
    const isFree = context.scopeOf(spec.name) === everything;
    return isFree ? context : context.scopedTo(spec.name, everything);
  }
  const scopes = spec.scopes?.[access]?.() ?? [];
  if (scopes.length === 0 || !context.keepsToScopes) return context;
  const filters = [context.scopeOf(spec.name)];
  // The context of a scope belongs to the families; here it is `never`.
  for (const { visible } of scopes) if (visible) filters.push(await visible(context as never));
  return context.scopedTo(spec.name, allOf(...filters));
}

/**
 * The invocation as documents of a spec may name those of another: what the other's guard lets the
 * caller see. Documents that are `unscoped` name all. Throws as `within` does.
 */
export function narrowToReferable(
  spec: AnyDocumentSpec,
  target: AnyDocumentSpec,
  context: ExecutionContext,
): Promise<ExecutionContext> {
  if (spec.isUnscoped === true) return Promise.resolve(context.scopedTo(target.name, everything));
  return within(target, context, "get");
}
