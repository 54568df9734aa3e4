// Renames: a name that is gone and a new one for the same thing, provided nothing else equals it.
import { isDeepStrictEqual } from "node:util";
import { formerName } from "../load/former-names.js";
import { propertiesOf, requiredOf, type SchemaObject } from "../model/json-schema.js";
import { own } from "../model/records.js";

/**
 * Pairs of names with equal values, each in only one of two records; values that are not unique are
 * in no pair.
 */
export function pairsOf<Value>(
  before: Readonly<Record<string, Value>>,
  after: Readonly<Record<string, Value>>,
  isSame: (before: Value, after: Value) => boolean,
): ReadonlyMap<string, string> {
  const gone = Object.entries(before).filter(([name]) => own(after, name) === undefined);
  const added = Object.entries(after).filter(([name]) => own(before, name) === undefined);
  return new Map(
    gone.flatMap(([name, value]): readonly (readonly [string, string])[] => {
      const likes = added.filter(([, other]) => isSame(value, other));
      const [only, another] = likes;
      if (only === undefined || another !== undefined) return [];
      const rivals = gone.filter(([, other]) => isSame(other, only[1]));
      return rivals.length === 1 ? [[name, only[0]]] : [];
    }),
  );
}

/**
 * Renamed members of an object: they say so, or have the same schema and are required as before.
 */
export function renames(before: SchemaObject, after: SchemaObject): ReadonlyMap<string, string> {
  const [old, next] = [propertiesOf(before), propertiesOf(after)];
  const told = Object.entries(next).flatMap(([member, schema]) => {
    const was = formerName(schema);
    const isRenamed = was !== undefined && own(old, was) !== undefined;
    const isNow = own(next, was ?? member) === undefined && own(old, member) === undefined;
    return isRenamed && isNow ? [[was, member] as const] : [];
  });
  const membersOf = (schema: SchemaObject): Readonly<Record<string, readonly unknown[]>> =>
    Object.fromEntries(
      Object.entries(propertiesOf(schema)).map(([name, member]) => [
        name,
        [member, requiredOf(schema).includes(name)],
      ]),
    );
  const alike = pairsOf(membersOf(before), membersOf(after), isDeepStrictEqual);
  const called = new Set(told.map(([, member]) => member));
  return new Map([...[...alike].filter(([, member]) => !called.has(member)), ...told]);
}
