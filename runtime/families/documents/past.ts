// What documents were, for author handlers: as the routes over revisions tell it.
import { within } from "./access.js";
import type { ExecutionContext } from "../../operations/context.js";
import type { ExpectedRevision } from "../../operations/input.js";
import { outputValue } from "../../operations/json-text.js";
import {
  history,
  type RevisionDiff,
  type RevisionOf,
  type RevisionPage,
  type SpecOf,
} from "./history.js";
import { historyStore } from "../../ports/document-history.js";
import { findExisting } from "./write.js";
import { checkedRevision, readDocumentId } from "./named.js";

/** The kept past of documents with a history. */
export interface Past<Document> {
  /** The kept revisions of a document, the newest first. Throws `core.not_found`. */
  revisions(
    id: string,
    page?: { readonly size?: number; readonly after?: string },
  ): Promise<RevisionPage>;
  /** The document as it was at a revision. Throws `core.not_found` if that is not kept. */
  revision(id: string, revision: number): Promise<RevisionOf<Document>>;
  /** The differences between two revisions; the second defaults to the current one. */
  revisionDiff(id: string, revision: number, to?: number): Promise<RevisionDiff>;
  /**
   * Writes a new revision with what patches may write as it was at an earlier one; see
   * `history.revert`.
   */
  revert(id: string, rev: ExpectedRevision, to: number): Promise<Document>;
  /**
   * Removes the revisions of a document before the current one, and keeps that; returns how many.
   * Edits that are based on them can't be merged any more. Throws `core.not_found`.
   */
  purgeRevisions(id: string): Promise<number>;
}

/** The past of the documents of a spec, as this invocation may see it. */
export function pastOf<Document>(
  spec: SpecOf<Document>,
  context: ExecutionContext,
): Past<Document> {
  const past = <Run>(handlerOf: (of: typeof spec) => Run): Run => {
    if (spec.history === 0) throw new TypeError(`${spec.name} keeps no history`);
    return handlerOf(spec);
  };
  const reading = (): Promise<ExecutionContext> => within(spec, context, "get");
  return {
    async revisions(id, page = {}) {
      const run = past(history.revisions);
      return outputValue(await run({ ...page, id: readDocumentId(id) }, await reading()));
    },
    async revision(id, revision) {
      const run = past(history.revision<Document>);
      return outputValue(await run({ id: readDocumentId(id), revision }, await reading()));
    },
    async revisionDiff(id, revision, to) {
      const run = past(history.revisionDiff);
      return outputValue(await run({ id: readDocumentId(id), revision, to }, await reading()));
    },
    async revert(id, rev, to) {
      const given = { id: readDocumentId(id), rev: checkedRevision(rev), to };
      const run = past(history.revert<Document>);
      return outputValue(await run(given, await within(spec, context, "update")));
    },
    async purgeRevisions(id) {
      past(() => undefined);
      // Who may remove the document may remove what it was.
      const seen = await within(spec, context, "kill");
      const { id: known, rev } = await findExisting(spec, seen, readDocumentId(id));
      const { transaction, tenant } = context;
      return transaction.of(historyStore).purge(spec, tenant, known, rev);
    },
  };
}
