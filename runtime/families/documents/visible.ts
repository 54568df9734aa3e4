// Members that only some may see: whatever leads to a document, the others get it without these
// (registry "visible").
import { fail } from "../../contract/errors.js";
import type { ExecutionContext } from "../../operations/context.js";
import type { AnyDocumentSpec, VisibleRule } from "../../ports/document-spec.js";
import { documentStore, type StoredDocument } from "../../ports/documents.js";
import { allOf, everything, type Filter } from "../../query/ast.js";
import { idField } from "../../query/fields.js";
import { filtersLeft } from "./reading.js";
import { unlessRefused } from "./refused.js";

/** A row, and the members that whoever reads it may not see. */
export interface SeenDocument {
  readonly row: StoredDocument;
  readonly hidden: ReadonlySet<string>;
}

const nothing: ReadonlySet<string> = new Set();

const byId = { field: idField, direction: "asc", nulls: "first" } as const;

/** The document with all of its members: for the service itself. */
export function showWhole(row: StoredDocument): SeenDocument {
  return { row, hidden: nothing };
}

/** The document as everybody sees it who may read it: for signals, whoever hears them. */
export function showOpenly({ visible = [] }: AnyDocumentSpec, row: StoredDocument): SeenDocument {
  return { row, hidden: new Set(visible.flatMap(({ members }) => members)) };
}

/** The document as the caller sees it. */
export async function showDocument(
  spec: AnyDocumentSpec,
  context: ExecutionContext,
  row: StoredDocument,
): Promise<SeenDocument> {
  const [seen] = await showDocuments(spec, context, [row]);
  return seen ?? showOpenly(spec, row);
}

/** How often rows are read again that somebody changes meanwhile. */
const maxReadings = 3;

/**
 * Documents as the caller sees them, in their order: one statement for each rule that depends on
 * the row, however many they are. Who sees a row is asked after it was read; where it has changed
 * in between, it is read again.
 */
export async function showDocuments(
  spec: AnyDocumentSpec,
  context: ExecutionContext,
  rows: readonly StoredDocument[],
): Promise<readonly SeenDocument[]> {
  const rules = rulesFor(spec, context);
  if (rules.length === 0 || rows.length === 0) return rows.map(showWhole);
  const asked: Rule[] = [];
  for (const { members, by } of rules)
    asked.push({ members, filter: await filterOf({ members, by }, context) });
  let current = rows;
  for (let readings = 1; ; readings += 1) {
    const { seen, stale } = await judge(spec, context, asked, current);
    if (stale.length === 0 || readings === maxReadings) return seen;
    const fresh = await selectRows(spec, context, context.scopeOf(spec.name), stale);
    current = current.map((row) => fresh.get(row.id) ?? row);
  }
}

/** A rule, and the documents in which the caller may see its members; null if there are none. */
interface Rule {
  readonly members: readonly string[];
  readonly filter: Filter | null;
}

/** Rows without what is hidden in them, and those that are no longer what they were. */
async function judge(
  spec: AnyDocumentSpec,
  context: ExecutionContext,
  rules: readonly Rule[],
  rows: readonly StoredDocument[],
): Promise<{ readonly seen: readonly SeenDocument[]; readonly stale: readonly string[] }> {
  const hidden = new Map<string, Set<string>>();
  const stale = new Set<string>();
  const ids = rows.map(({ id }) => id);
  for (const { members, filter } of rules) {
    if (filter === everything) continue;
    const shown = filter === null ? new Map() : await selectRows(spec, context, filter, ids);
    for (const { id, rev } of rows) {
      const one = shown.get(id);
      if (one?.rev === rev) continue;
      // It may have come under the rule by the very change.
      if (one !== undefined) stale.add(id);
      hidden.set(id, new Set([...(hidden.get(id) ?? []), ...members]));
    }
  }
  const seen = rows.map((row) => ({ row, hidden: hidden.get(row.id) ?? nothing }));
  return { seen, stale: [...stale] };
}

/** A document, and what a caller writes of it. */
export interface WrittenPart {
  readonly row: StoredDocument;
  readonly payload: object;
}

/**
 * Refuses to write members of a document that the caller may not see. Throws
 * `core.authorization`, whose context names them.
 */
export async function expectVisible(
  spec: AnyDocumentSpec,
  context: ExecutionContext,
  ...parts: readonly WrittenPart[]
): Promise<void> {
  const [members] = (await findHidden(spec, context, parts)).filter(({ length }) => length > 0);
  if (members !== undefined) throw fail("core.authorization", { members });
}

/** The members that callers write and may not see, of each document. */
async function findHidden(
  spec: AnyDocumentSpec,
  context: ExecutionContext,
  parts: readonly WrittenPart[],
): Promise<readonly (readonly string[])[]> {
  const guarded = new Set(rulesFor(spec, context).flatMap(({ members }) => members));
  const isGuarded = parts.some(({ payload }) =>
    Object.keys(payload).some((member) => guarded.has(member)),
  );
  if (spec.isOfHandlers === true || !isGuarded) return parts.map(() => []);
  const rows = parts.map(({ row }) => row);
  const seen = await showDocuments(spec, context, rows);
  return parts.map(({ payload }, at) =>
    Object.keys(payload).filter((member) => seen[at]?.hidden.has(member) !== false),
  );
}

/** Null for items that write what the caller may not see. */
export async function writable<Item extends { readonly before: StoredDocument }>(
  spec: AnyDocumentSpec,
  context: ExecutionContext,
  items: readonly (Item | null)[],
  asked: readonly { readonly patch: unknown }[],
): Promise<readonly (Item | null)[]> {
  const parts = items.flatMap((item, at) =>
    item === null ? [] : [{ row: item.before, payload: asked[at]?.patch as object }],
  );
  const hidden = [...(await findHidden(spec, context, parts))];
  return items.map((item) => (item === null || hidden.shift()?.length !== 0 ? null : item));
}

/** Members, and the documents in which the caller may see them. */
export interface ShownMembers {
  readonly members: readonly string[];
  readonly filter: Filter;
}

/** The filters of those of shown members that a query is about. */
export function filtersAbout(
  shown: readonly ShownMembers[],
  asked: ReadonlySet<string>,
): readonly Filter[] {
  return shown
    .filter(({ members }) => members.some((member) => asked.has(member)))
    .map(({ filter }) => filter);
}

/**
 * In which documents the caller may see members that a query asks about; those that are in all are
 * left out. Throws `core.authorization`, whose context names them, where there can be none.
 */
export async function findShown(
  spec: AnyDocumentSpec,
  context: ExecutionContext,
  membersOf: () => ReadonlySet<string>,
): Promise<readonly ShownMembers[]> {
  const rules = rulesFor(spec, context);
  if (rules.length === 0) return [];
  const asked = membersOf();
  const shown: ShownMembers[] = [];
  for (const rule of rules) {
    const members = rule.members.filter((member) => asked.has(member));
    if (members.length === 0) continue;
    const filter = await filterOf(rule, context);
    if (filter === null) throw fail("core.authorization", { members });
    if (filter !== everything) shown.push({ members, filter });
  }
  return shown;
}

/** Work of the service itself sees everything, and so do handlers that are not held to scopes. */
function rulesFor(
  { visible = [], isUnscoped }: AnyDocumentSpec,
  { keepsToScopes }: ExecutionContext,
): readonly VisibleRule[] {
  return isUnscoped === true || !keepsToScopes ? [] : visible;
}

/** The documents whose members the caller may see; null if there are none. */
async function filterOf({ by }: VisibleRule, context: ExecutionContext): Promise<Filter | null> {
  const filters: Filter[] = [];
  for (const steps of by()) {
    const left = await unlessRefused(() => filtersLeft(steps, context), null);
    if (left === null) continue;
    const narrower = left.filter((filter) => filter !== everything);
    if (narrower.length === 0) return everything;
    filters.push(allOf(...narrower));
  }
  return filters.length === 0 ? null : { kind: "any", filters };
}

/** The rows that a filter leaves of these, deleted or not, by their ids. */
async function selectRows(
  spec: AnyDocumentSpec,
  context: ExecutionContext,
  filter: Filter,
  ids: readonly string[],
): Promise<ReadonlyMap<string, StoredDocument>> {
  const these: Filter = { kind: "in", field: idField, isNegated: false, values: ids };
  const query = { filter: allOf(these, filter), sorts: [byId], withDeleted: true };
  const window = { limit: ids.length, offset: 0, after: undefined };
  const found = await context.transaction
    .of(documentStore)
    .select(spec, context.tenant, query, window);
  return new Map(found.map((row) => [row.id, row]));
}
