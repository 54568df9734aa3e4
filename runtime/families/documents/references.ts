// References between documents: their targets exist while a document names them.
import { fail } from "../../contract/errors.js";
import { pointer } from "../../contract/json-pointer.js";
import type { ExecutionContext } from "../../operations/context.js";
import type { AnyDocumentSpec } from "../../ports/document-spec.js";
import { documentStore } from "../../ports/documents.js";
import { everything } from "../../query/ast.js";
import { narrowToReferable } from "./access.js";
import { findDocument } from "./scoped.js";

type Body = Readonly<Record<string, unknown>>;

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
  own?: string,
): Promise<void> {
  const { references } = spec;
  if (references === undefined) return;
  const faults = [];
  for (const member of members) {
    const target = Object.hasOwn(references, member) ? references[member]?.() : undefined;
    const id = body[member] ?? null;
    // A restored document may name itself.
    if (target === undefined || typeof id !== "string" || id === own) continue;
    if (!(await isHeld(spec, target, context, id)))
      faults.push({
        path: pointer("", member),
        keyword: "ref",
        message: `names none of the ${target.name}`,
      });
  }
  if (faults.length > 0) throw fail("core.validation", { errors: faults });
}

async function isHeld(
  spec: AnyDocumentSpec,
  target: AnyDocumentSpec,
  context: ExecutionContext,
  id: string,
): Promise<boolean> {
  const held = await context.transaction.of(documentStore).hold(target, context.tenant, id);
  const seen = await narrowToReferable(spec, target, context);
  if (!held || seen.scopeOf(target.name) === everything) return held;
  return (await findDocument(target, seen, id)) !== null;
}
