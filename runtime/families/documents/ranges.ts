// Ranges that may not overlap: who writes one holds its name until the transaction ends, and then
// looks for another that overlaps. So it is the same on all engines, and for many at once.
import { createHash } from "node:crypto";
import { fail } from "../../contract/errors.js";
import { storedField, storedValue } from "../../contract/stored-members.js";
import type { ExecutionContext } from "../../operations/context.js";
import type { AnyDocumentSpec, DocumentSpec } from "../../ports/document-spec.js";
import { documentStore, type StoredDocument } from "../../ports/documents.js";
import { hasOneOf, valueAt } from "./field-value.js";
import type { OverlapRule } from "../../ports/overlap-rules.js";
import { allOf, type Filter } from "../../query/ast.js";
import { idField, ownerField, type FieldReference } from "../../query/fields.js";
import type { Scalar } from "../../query/scalar.js";

/** A write of a document: as it was, null if it is new, and as it will be. */
export interface RangeChange {
  readonly before: StoredDocument | null;
  readonly after: StoredDocument;
}

/** A range that a document is about to have. */
export interface RangeClaim {
  readonly id: string;
  readonly rule: OverlapRule;
  readonly per: readonly Scalar[];
  readonly from: Scalar;
  readonly to: Scalar | null;
}

/**
 * The ranges that documents are about to have and did not have before, each held against other
 * writers until the transaction ends. Throws `core.validation` if one ends before it begins.
 */
export async function claimRanges(
  spec: AnyDocumentSpec,
  context: ExecutionContext,
  changes: readonly RangeChange[],
): Promise<readonly RangeClaim[]> {
  if (spec.noOverlap === undefined) return [];
  const claims = newClaims(spec, changes);
  for (const { rule, from, to } of claims)
    if (to !== null && to <= from) {
      const message = `must be behind ${rule.from}`;
      const fault = { path: `/${rule.to.replaceAll(".", "/")}`, keyword: "no_overlap", message };
      throw fail("core.validation", { errors: [fault] });
    }
  // Rows come before names, as for handlers that have locked a document before they change it.
  const claiming = new Set(claims.map(({ id }) => id));
  const ids = changes.flatMap(({ before }) => before?.id ?? []).filter((id) => claiming.has(id));
  if (ids.length > 0) await context.transaction.of(documentStore).lock(spec, context.tenant, ids);
  await holdClaims(spec, context, claims);
  return claims;
}

/** Holds claims against other writers until the transaction ends. */
export async function holdClaims(
  spec: AnyDocumentSpec,
  context: ExecutionContext,
  claims: readonly RangeClaim[],
): Promise<void> {
  const store = context.transaction.of(documentStore);
  // In one order, so that two that take several don't wait for each other.
  const names = new Set(claims.map((claim) => nameOf(spec, context, claim)));
  for (const name of [...names].toSorted()) await store.holdName(name);
}

/**
 * Looks whether documents that have been written with these claims overlap with others. Throws
 * `overlap_violation`: undo the write then.
 */
export async function checkClaims(
  spec: AnyDocumentSpec,
  context: ExecutionContext,
  claims: readonly RangeClaim[],
): Promise<void> {
  const store = context.transaction.of(documentStore);
  const window = { limit: 1, offset: 0, after: undefined };
  for (const claim of claims) {
    const { per, from, to } = claim.rule;
    // In the order of the index, so that the first one ends the look.
    const byEnd = { field: fieldOf(spec, to), direction: "asc", nulls: "first" } as const;
    // One query each for ranges that end and for those that don't: an OR would use no index.
    for (const ending of endsBehind(spec, claim)) {
      const filter = allOf(ending, makeOverlapFilter(spec, claim));
      const query = { filter, sorts: [byEnd], withDeleted: false };
      const found = await store.select(spec, context.tenant, query, window);
      if (found.length > 0) throw fail("overlap_violation", { members: [...per, from, to] });
    }
  }
}

/** The ranges that documents are about to have and did not have before. */
export function newClaims(
  spec: AnyDocumentSpec,
  changes: readonly RangeChange[],
): readonly RangeClaim[] {
  return changes.flatMap(({ before, after }) => {
    const had = before === null ? [] : claimsOf(spec, before).map((claim) => JSON.stringify(claim));
    return claimsOf(spec, after).filter((claim) => !had.includes(JSON.stringify(claim)));
  });
}

function claimsOf(spec: AnyDocumentSpec, stored: StoredDocument): readonly RangeClaim[] {
  if (stored.isDeleted) return [];
  const body: unknown = JSON.parse(stored.body);
  const valueOf = (path: string): Scalar | null =>
    path === ownerField.path ? stored.ownerId : valueAt(body, path);
  return (spec.noOverlap ?? []).flatMap((rule): readonly RangeClaim[] => {
    const per = rule.per.map(valueOf).filter((value) => value !== null);
    const from = valueOf(rule.from);
    if (per.length < rule.per.length || from === null || !hasOneOf(body, rule.where)) return [];
    return [{ id: stored.id, rule, per, from, to: valueOf(rule.to) }];
  });
}

/** The two ways in which ranges end behind the begin of a claim. */
function endsBehind(spec: AnyDocumentSpec, { rule, from }: RangeClaim): readonly [Filter, Filter] {
  const field = fieldOf(spec, rule.to);
  return [
    { kind: "compare", field, operator: "$gt", value: from },
    { kind: "null", field, isNull: true },
  ];
}

/**
 * What other documents that overlap have besides such an end; ranges have their begin, not their
 * end.
 */
function makeOverlapFilter(spec: AnyDocumentSpec, { id, rule, per, to }: RangeClaim): Filter {
  const at = (path: string): FieldReference => fieldOf(spec, path);
  const equals = rule.per.map((path, index): Filter => ({
    kind: "compare",
    field: at(path),
    operator: "$eq",
    value: per[index] ?? "",
  }));
  const begin: Filter =
    to === null
      ? { kind: "null", field: at(rule.from), isNull: false }
      : { kind: "compare", field: at(rule.from), operator: "$lt", value: to };
  const counted = Object.entries(rule.where ?? {}).map(([path, all]): Filter => {
    const values = all.filter((value): value is Scalar => value !== null);
    const field = at(path);
    const among: Filter = { kind: "in", field, isNegated: false, values };
    const isNull: Filter = { kind: "null", field, isNull: true };
    return all.includes(null) ? { kind: "any", filters: [among, isNull] } : among;
  });
  const other: Filter = { kind: "compare", field: idField, operator: "$neq", value: id };
  return allOf(...equals, begin, ...counted, other);
}

function fieldOf(spec: AnyDocumentSpec, path: string): FieldReference {
  const field = (spec as DocumentSpec).scopeFields.find(path);
  if (field === undefined) throw new TypeError(`${spec.name} has no field ${path}`);
  return field;
}

/** How many names there are of one rule and tenant: a server has room for some thousands in all. */
const namesOfRule = 128;

/** One transaction at a time has it: what may overlap has the same name, in all versions. */
function nameOf(
  { table, tenant, shape }: AnyDocumentSpec,
  context: ExecutionContext,
  { rule, per }: RangeClaim,
): string {
  const fields = [...rule.per, rule.from, rule.to].map((path) => storedField(shape, path).path);
  const values = rule.per.map((path, index) => storedValue(shape, path, per[index]));
  const hash = createHash("sha256").update(JSON.stringify(values)).digest().readUInt32BE();
  const part = hash % namesOfRule;
  return JSON.stringify(["overlap", table, fields, tenant ? context.tenant : "", part]);
}
