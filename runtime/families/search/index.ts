// The search family: it adds a command if a service has searches.
import type { ExecutionContext } from "../../operations/context.js";
import type { Erased } from "../../operations/erased.js";
import { familyOf } from "../../operations/family.js";
import type { SearchSpec } from "../../ports/search-spec.js";
import { searchStore, type RebuildPosition } from "../../ports/search.js";
import { rebuildCommand } from "./rebuild-command.js";

/** Words that one step looks at. */
const wordsAtOnce = 1_000;

export const searchFamily = familyOf<readonly SearchSpec[]>()({
  member: "search",
  commands: (searches) => (searches.length === 0 ? [] : [rebuildCommand(searches)]),
  async erased(searches, context, who) {
    for (const spec of searches) await eraseWords(spec, context, who);
    return {};
  },
});

/**
 * Removes words that no document has any more: those of a text that was replaced stay in the index
 * as other spellings otherwise.
 */
async function eraseWords(
  spec: SearchSpec,
  context: ExecutionContext,
  { documents }: Erased,
): Promise<void> {
  if (spec.document.personal === undefined || documents.size === 0) return;
  let from: RebuildPosition | null = { part: "words", after: [] };
  while (from !== null) {
    const at: RebuildPosition = from;
    const { next } = await context.transact((transaction) =>
      transaction.of(searchStore).rebuildStep(spec, at, wordsAtOnce),
    );
    from = next;
  }
}
