// Documents and revisions as handlers name them: nobody has checked these before.
import { fail } from "../../contract/errors.js";
import { isUuid } from "../../contract/uuid.js";
import type { ExpectedRevision } from "../../operations/input.js";

/** A text that isn't a UUID names nothing, whatever an engine makes of it. */
export function readDocumentId(id: string): string {
  if (!isUuid(id)) throw fail("core.not_found");
  return id.toLowerCase();
}

/** An item of many, with its id and revision checked. */
export function knownItem<Item extends { readonly id: string; readonly rev: ExpectedRevision }>(
  item: Item,
): Item {
  return { ...item, id: readDocumentId(item.id), rev: checkedRevision(item.rev) };
}

/** Throws if a handler names an impossible revision. */
export function checkedRevision(rev: ExpectedRevision): ExpectedRevision {
  if (rev !== "any" && !Number.isSafeInteger(rev))
    throw new TypeError('rev must be an integer or "any"');
  return rev;
}
