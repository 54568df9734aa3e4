// References between documents: their targets exist while a document names them.
import { fail } from "../../contract/errors.js";
import { pointer } from "../../contract/json-pointer.js";
import { limits } from "../../contract/limits.js";
import type { ValidationFault } from "../../contract/validation.js";
import type { ExecutionContext } from "../../operations/context.js";
import type { AnyDocumentSpec } from "../../ports/document-spec.js";
import { documentStore } from "../../ports/documents.js";
import { everything } from "../../query/ast.js";
import { narrowToReferable } from "./access.js";
import { namesGained } from "./names.js";
import { findDocument } from "./scoped.js";

type Body = Readonly<Record<string, unknown>>;

/** What is known of a document that names others. */
interface Naming {
  /** Its own id: a restored document may name itself. */
  readonly own?: string;
  /** Its body before: what lists named already is not asked again. */
  readonly before?: Body;
}

/**
 * Holds what these members of a body name, so that nobody deletes it before the transaction has
 * ended. Throws `core.validation` with the pointers of what leads nowhere, as far as the caller
 * sees.
 */
export async function holdReferences(
  spec: AnyDocumentSpec,
  context: ExecutionContext,
  body: Body,
  members: readonly string[],
  { own, before = {} }: Naming = {},
): Promise<void> {
  const { references } = spec;
  if (references === undefined) return;
  const faults: ValidationFault[] = [];
  for (const member of members) {
    const target = Object.hasOwn(references, member) ? references[member]?.() : undefined;
    if (target === undefined) continue;
    const value = body[member];
    const ids = namesGained(value, before[member]).filter((id) => id !== own);
    if (ids.length === 0) continue;
    const held = await holdSeen(spec, target, context, ids);
    for (const id of ids)
      if (!held.has(id))
        faults.push({
          path: pathOf(member, value, id),
          keyword: "ref",
          message: `names none of the ${target.name}`,
        });
  }
  if (faults.length > 0)
    throw fail("core.validation", { errors: faults.slice(0, limits.maxReportedErrors) });
}

function pathOf(member: string, value: unknown, id: string): string {
  const path = pointer("", member);
  return Array.isArray(value) ? `${path}/${value.indexOf(id)}` : path;
}

/** Those that are there and that the caller may name. */
async function holdSeen(
  spec: AnyDocumentSpec,
  target: AnyDocumentSpec,
  context: ExecutionContext,
  ids: readonly string[],
): Promise<ReadonlySet<string>> {
  const held = await hold(target, context, ids);
  const seen = await narrowToReferable(spec, target, context);
  if (seen.scopeOf(target.name) === everything) return held;
  const found = new Set<string>();
  for (const id of held) if ((await findDocument(target, seen, id)) !== null) found.add(id);
  return found;
}

async function hold(
  target: AnyDocumentSpec,
  { tenant, transaction }: ExecutionContext,
  ids: readonly string[],
): Promise<ReadonlySet<string>> {
  const store = transaction.of(documentStore);
  const [one] = ids;
  if (one === undefined || ids.length > 1) return store.holdMany(target, tenant, ids);
  return new Set((await store.hold(target, tenant, one)) ? [one] : []);
}
