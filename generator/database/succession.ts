// Whether one database follows another. Rows are read by the number of their shape and by their
// names of members, so steps between shapes may become more, no step may become another one, and no
// name in rows may be forgotten.
import { isDeepStrictEqual } from "node:util";
import { declaredMembers, firstShape, type Shape } from "../../runtime/contract/shapes.js";
import { storedName } from "../../runtime/contract/stored-members.js";
import { own } from "../model/records.js";
import type { DatabaseSchema, TableSchema } from "../model/stored-tables.js";

/**
 * What of an earlier database the later one doesn't continue, such as `the table notes`. Tables
 * that the later one doesn't have aren't among it: a migration drops those.
 */
export function brokenSuccession(before: DatabaseSchema, after: DatabaseSchema): readonly string[] {
  const tables = Object.entries(before.tables).flatMap(([table, schema]) => {
    const next = own(after.tables, table);
    return next === undefined || isContinued(schema, next) ? [] : [`the table ${table}`];
  });
  const files = Object.entries(before.files ?? {}).flatMap(([place, { encryption }]) => {
    const next = own(after.files ?? {}, place)?.encryption ?? [];
    return encryption.every((one) => next.includes(one)) ? [] : [`the files of ${place}`];
  });
  return [...tables, ...files];
}

function isContinued(before: TableSchema, after: TableSchema): boolean {
  const { steps, members } = before.shape ?? firstShape;
  const shape = after.shape ?? firstShape;
  const added = shape.steps.slice(steps.length);
  const known = new Set([...(shape.members ?? []), ...added.flatMap(({ drops }) => drops)]);
  return (
    isDeepStrictEqual(steps, shape.steps.slice(0, steps.length)) &&
    (shape.members === null || (members ?? []).every((member) => known.has(member))) &&
    Object.keys(before.shape?.stored ?? {}).every((member) =>
      isNameKept(before.shape ?? firstShape, after, member),
    )
  );
}

/** Whether a renamed member, and its renamed values, are still found under their names in rows. */
function isNameKept(
  before: Shape,
  { shape = firstShape, fits }: TableSchema,
  member: string,
): boolean {
  if (!declaredMembers(shape).includes(member)) return true;
  const [was, is] = [storedName(before, member), storedName(shape, member)];
  const added = shape.steps.slice(before.steps.length);
  // A member that a function computes anew has a name of its own.
  if (was !== is)
    return !added.some(({ drops, converts = {} }) => drops.includes(was) && !(is in converts));
  const kept = own(shape.stored ?? {}, member)?.values ?? {};
  const declared = own(fits ?? {}, member)?.values ?? [];
  return Object.entries(own(before.stored ?? {}, member)?.values ?? {}).every(
    ([value, stored]) => !declared.includes(value) || own(kept, value) === stored,
  );
}
