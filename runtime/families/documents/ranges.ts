// Ranges that may not overlap: who writes one holds its name until the transaction ends, and then
// looks for another that overlaps. So it is the same on all engines, and for many at once.
import { fail } from "../../contract/errors.js";
import type { ExecutionContext } from "../../operations/context.js";
import type { AnyDocumentSpec, DocumentSpec } from "../../ports/document-spec.js";
import { documentStore, type StoredDocument } from "../../ports/documents.js";
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
export interface Claim {
  readonly id: string;
  readonly rule: OverlapRule;
  readonly per: readonly Scalar[];
  readonly from: Scalar;
  readonly to: Scalar | null;
}

const byId = { field: idField, direction: "asc", nulls: "first" } as const;

/**
 * The ranges that documents are about to have and did not have before, each held against other
 * writers until the transaction ends. Throws `core.validation` if one ends before it begins.
 */
export async function claimRanges(
  spec: AnyDocumentSpec,
  context: ExecutionContext,
  changes: readonly RangeChange[],
): Promise<readonly Claim[]> {
  if (spec.noOverlap === undefined) return [];
  const claims = changes.flatMap((change) => newClaims(spec, change));
  for (const { rule, from, to } of claims)
    if (to !== null && to <= from) {
      const message = `must be behind ${rule.from}`;
      const fault = { path: `/${rule.to.replaceAll(".", "/")}`, keyword: "no_overlap", message };
      throw fail("core.validation", { errors: [fault] });
    }
  const store = context.transaction.of(documentStore);
  // In one order, so that two that take several don't wait for each other.
  const names = new Set(claims.map((claim) => nameOf(spec, context, claim)));
  for (const name of [...names].toSorted()) await store.holdName(name);
  return claims;
}

/**
 * Looks whether documents that have been written with these claims overlap with others. Throws
 * `overlap_violation`: undo the write then.
 */
export async function checkClaims(
  spec: AnyDocumentSpec,
  context: ExecutionContext,
  claims: readonly Claim[],
): Promise<void> {
  const store = context.transaction.of(documentStore);
  const window = { limit: 1, offset: 0, after: undefined };
  for (const claim of claims) {
    const query = { filter: overlapping(spec, claim), sorts: [byId], withDeleted: false };
    const found = await store.select(spec, context.tenant, query, window);
    const { per, from, to } = claim.rule;
    if (found.length > 0) throw fail("overlap_violation", { members: [...per, from, to] });
  }
}

function newClaims(spec: AnyDocumentSpec, { before, after }: RangeChange): readonly Claim[] {
  const had = before === null ? [] : claimsOf(spec, before).map((claim) => JSON.stringify(claim));
  return claimsOf(spec, after).filter((claim) => !had.includes(JSON.stringify(claim)));
}

function claimsOf(spec: AnyDocumentSpec, stored: StoredDocument): readonly Claim[] {
  if (stored.isDeleted) return [];
  const body: unknown = JSON.parse(stored.body);
  const valueOf = (path: string): Scalar | null =>
    path === ownerField.path ? stored.ownerId : valueAt(body, path);
  return (spec.noOverlap ?? []).flatMap((rule): readonly Claim[] => {
    const per = rule.per.map(valueOf).filter((value) => value !== null);
    const from = valueOf(rule.from);
    const counts = Object.entries(rule.where ?? {}).every(([path, values]) => {
      const value = valueOf(path);
      return value !== null && values.includes(value);
    });
    if (per.length < rule.per.length || from === null || !counts) return [];
    return [{ id: stored.id, rule, per, from, to: valueOf(rule.to) }];
  });
}

function valueAt(body: unknown, path: string): Scalar | null {
  let value = body;
  for (const step of path.split("."))
    value = typeof value === "object" && value !== null ? Object(value)[step] : undefined;
  const isScalar = ["string", "number", "boolean"].includes(typeof value);
  return isScalar ? (value as Scalar) : null;
}

/** Other documents whose ranges overlap with the claim; ranges have their begin, not their end. */
function overlapping(spec: AnyDocumentSpec, { id, rule, per, from, to }: Claim): Filter {
  const at = (path: string): FieldReference => fieldOf(spec, path);
  const compare = (
    field: FieldReference,
    operator: "$eq" | "$neq" | "$lt" | "$gt",
    value: Scalar,
  ): Filter => ({ kind: "compare", field, operator, value });
  const endless: Filter = { kind: "null", field: at(rule.to), isNull: true };
  return allOf(
    ...rule.per.map((path, index) => compare(at(path), "$eq", per[index] ?? "")),
    { kind: "any", filters: [compare(at(rule.to), "$gt", from), endless] },
    to === null
      ? { kind: "null", field: at(rule.from), isNull: false }
      : compare(at(rule.from), "$lt", to),
    ...Object.entries(rule.where ?? {}).map(([path, values]): Filter => ({
      kind: "in",
      field: at(path),
      isNegated: false,
      values,
    })),
    compare(idField, "$neq", id),
  );
}

function fieldOf(spec: AnyDocumentSpec, path: string): FieldReference {
  const field = (spec as DocumentSpec).scopeFields.find(path);
  if (field === undefined) throw new TypeError(`${spec.name} has no field ${path}`);
  return field;
}

/** One transaction at a time has it: what may overlap has the same name, in all versions. */
function nameOf(
  { table, tenant, shape }: AnyDocumentSpec,
  context: ExecutionContext,
  { rule, per }: Claim,
): string {
  const stored = (path: string): string => shape.stored?.[path]?.name ?? path;
  const fields = [...rule.per, rule.from, rule.to].map(stored);
  return JSON.stringify(["overlap", table, fields, tenant ? context.tenant : "", per]);
}
