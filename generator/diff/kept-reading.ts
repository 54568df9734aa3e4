// Whether one version can read what another one has kept: members that it doesn't know are cut, and
// those that are missing get their defaults, as `kept-values.ts` of the runtime does.
import { isDeepStrictEqual } from "node:util";
import { firstShape, type Shape } from "../../runtime/contract/shapes.js";
import { storedName } from "../../runtime/contract/stored-members.js";
import { withoutFormer } from "../load/former-names.js";
import {
  alternativesOf,
  mapSchema,
  propertiesOf,
  requiredOf,
  withoutNull,
  type JsonSchema,
  type SchemaObject,
} from "../model/json-schema.js";
import type { DocumentModel } from "../model/document-model.js";
import { own } from "../model/records.js";
import { documentOf, readOfType } from "../model/views.js";
import type { RolloutSide } from "../compare/rollout.js";
import { compareSchemas } from "../compare/schemas.js";

/** No sunset has come yet: kept values may be of any day. */
const anyDay = "0000-01-01";

/**
 * Why values of one version's schema may not be what the other one declares, in words; nothing if
 * they always are.
 */
export function faultsOfReading(
  [kept, read]: readonly [JsonSchema, JsonSchema],
  from: RolloutSide,
  to: RolloutSide,
): readonly string[] {
  const faults = new Set<string>();
  const met = new Set<string>();
  const compare = (was: JsonSchema, is: JsonSchema, place: string): void =>
    compareSchemas(
      plain(asRead(was, is)),
      plain(is),
      {
        before: from.model.types,
        after: to.model.types,
        direction: "input",
        today: anyDay,
        note({ level, path, what }) {
          if (level === "breaking") faults.add(`${place}${path} ${shortenLack(what)}`);
        },
        meet: meetTypes,
      },
      "",
    );
  const meetTypes = (old: string, next: string): void => {
    const key = `${old} ${next}`;
    if (met.has(key)) return;
    met.add(key);
    const [was, is] = [own(from.model.types, old), own(to.model.types, next)];
    if (was === undefined || is === undefined) return;
    const document = sameDocument(old, next, from, to);
    const renewed = document === undefined ? was : renewedDocument(was, is, document);
    compare(renewed, is, next);
  };
  compare(kept, read, "it");
  return [...faults];
}

/** Compares the members that a value has with those that it must have. */
function shortenLack(what: string): string {
  return what === "is new and required" || what === "is required" ? "is missing" : what;
}

/** A schema without what doesn't bound values. */
function plain(schema: JsonSchema): JsonSchema {
  return mapSchema(schema, (inner) => {
    const { default: _default, ...rest } = withoutFormer(inner);
    return rest;
  });
}

/**
 * The schema of the values as they are read: cut to known members, with the defaults of missing
 * ones.
 */
function asRead(was: JsonSchema, is: JsonSchema): JsonSchema {
  if (typeof was === "boolean" || typeof is === "boolean") return was;
  const [old, next] = [withoutNull(was), withoutNull(is)];
  const isAlternative = alternativesOf(was).length > 0 && old !== was;
  if (isAlternative) return { anyOf: [asRead(old, next), { type: "null" }] };
  if (typeof next === "boolean") return was;
  if ("items" in was && "items" in next)
    return { ...was, items: asRead(was["items"] as JsonSchema, next["items"] as JsonSchema) };
  if (!("properties" in was) || !("properties" in next)) return was;
  return membersAsRead(was, next);
}

function membersAsRead(was: SchemaObject, is: SchemaObject): SchemaObject {
  const isClosed = is["additionalProperties"] === false && !("patternProperties" in is);
  const [old, next] = [propertiesOf(was), propertiesOf(is)];
  const known = Object.entries(old).flatMap(([name, schema]) => {
    const now = own(next, name);
    if (now === undefined) return isClosed ? [] : [[name, schema] as const];
    return [[name, asRead(schema, now)] as const];
  });
  const given = Object.entries(next).filter(
    ([, schema]) => typeof schema === "object" && "default" in schema,
  );
  const missing = given.filter(([name]) => own(old, name) === undefined);
  const names = new Set(known.map(([name]) => name));
  const required = requiredOf(was).filter((name) => names.has(name));
  return {
    ...was,
    properties: Object.fromEntries([...known, ...missing]),
    required: [...new Set([...required, ...given.map(([name]) => name)])],
    ...(isClosed ? { additionalProperties: false } : {}),
  };
}

/**
 * A document type that both versions have, as one of them has kept it and the other one reads it.
 */
interface DocumentPair {
  readonly was: Shape;
  readonly is: Shape;
  readonly reads: DocumentModel;
}

/** The documents that both types are; undefined if they aren't, or aren't the same. */
function sameDocument(
  old: string,
  next: string,
  from: RolloutSide,
  to: RolloutSide,
): DocumentPair | undefined {
  const [wrote, reads] = [documentOfType(from, old), documentOfType(to, next)];
  if (wrote === undefined || reads === undefined || wrote.table !== reads.table) return undefined;
  const shapeOf = ({ database }: RolloutSide): Shape =>
    own(database.tables, reads.table)?.shape ?? firstShape;
  return { was: shapeOf(from), is: shapeOf(to), reads };
}

function documentOfType({ model }: RolloutSide, type: string): DocumentModel | undefined {
  return own(model.documents, documentOf(readOfType(model.documents, type) ?? ""));
}

/**
 * The schema of documents under their names in the other version, with the members that steps
 * between shapes give them.
 */
function renewedDocument(
  was: JsonSchema,
  is: JsonSchema,
  { was: before, is: after, reads }: DocumentPair,
): JsonSchema {
  if (typeof was === "boolean") return was;
  const called = new Map(
    Object.keys(propertiesOf(is)).map((name) => [storedName(after, name), name]),
  );
  const named = Object.entries(propertiesOf(was)).flatMap(([name, schema]) => {
    const now = called.get(storedName(before, name));
    if (now === undefined) return [];
    const values = [own(before.stored ?? {}, name)?.values, own(after.stored ?? {}, now)?.values];
    return [[name, now, valuesCalled(schema, values[0], values[1])] as const];
  });
  const steps = after.steps.slice(before.steps.length);
  const made = Object.entries(propertiesOf(is)).filter(([name]) => {
    const stored = storedName(after, name);
    return steps.some(
      ({ adds, converts = {} }) => Object.hasOwn(adds, stored) || Object.hasOwn(converts, stored),
    );
  });
  const given = Object.entries(propertiesOf(is)).filter(
    ([name]) =>
      Object.hasOwn(reads.defaults, name) ||
      Object.hasOwn(before.kept ?? {}, storedName(after, name)),
  );
  const required = named.flatMap(([name, now]) => (requiredOf(was).includes(name) ? [now] : []));
  const present = [...required, ...made.map(([name]) => name), ...given.map(([name]) => name)];
  return {
    ...was,
    properties: Object.fromEntries([
      ...given,
      ...named.map(([, now, schema]) => [now, schema]),
      ...made,
    ]),
    required: [...new Set(present)],
  };
}

/** An enumeration with its values as the other version calls them. */
function valuesCalled(
  schema: JsonSchema,
  before: Readonly<Record<string, string>> = {},
  after: Readonly<Record<string, string>> = {},
): JsonSchema {
  if (typeof schema === "boolean" || isDeepStrictEqual(before, after)) return schema;
  const called = new Map(Object.entries(after).map(([name, stored]) => [stored, name]));
  const values = schema["enum"];
  if (!Array.isArray(values)) return schema;
  const renamed = (values as unknown[]).map((value) => {
    if (typeof value !== "string") return value;
    const stored = own(before, value) ?? value;
    return called.get(stored) ?? stored;
  });
  return { ...schema, enum: renamed };
}
