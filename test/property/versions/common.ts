// What two versions both know of a document: which members, by which names, with which values.
import { isDeepStrictEqual } from "node:util";
import { isMap } from "../../../generator/load/shape.js";
import {
  propertiesOf,
  referredType,
  withoutNull,
  type JsonSchema,
  type SchemaObject,
} from "../../../generator/model/json-schema.js";
import { own } from "../../../generator/model/records.js";
import type { DocumentModel } from "../../../generator/model/document-model.js";
import type { Version } from "./version.js";

export type Side = "before" | "after";
export type Versions = { readonly [Name in Side]: Version };
export type Body = Readonly<Record<string, unknown>>;

/** A document by the table of its rows; undefined where a version has none. */
export function documentOf({ model }: Version, table: string): DocumentModel | undefined {
  return Object.values(model.documents).find((one) => one.table === table);
}

interface CommonMember {
  readonly before: string;
  readonly after: string;
  /** Values of the later version by those of the earlier one, where they are called otherwise. */
  readonly values: Readonly<Record<string, string>>;
  /** A value without what only one of the versions knows within it. */
  readonly within: (value: unknown) => unknown;
}

/** Members that both versions have, of one type. */
export function commonMembers({ before, after }: Versions, table: string): readonly CommonMember[] {
  const [was, is] = [documentOf(before, table), documentOf(after, table)];
  if (was === undefined || is === undefined) return [];
  return Object.keys(is.fields).flatMap((name): readonly CommonMember[] => {
    const former = own(is.former, name);
    const old = former?.name ?? name;
    const isSet = [...was.set, ...is.set].some(({ field }) => field === name || field === old);
    if (isSet || (former?.by ?? null) !== null) return [];
    if (!Object.hasOwn(was.fields, old) || was.fields[old] !== is.fields[name]) return [];
    const values = Object.fromEntries(
      Object.entries(former?.values ?? {}).map(([now, then]) => [then, now]),
    );
    const schemas = [propertiesOf(was.bodySchema)[old], propertiesOf(is.bodySchema)[name]] as const;
    const within = (value: unknown): unknown => known(value, schemas, [before, after]);
    return [{ before: old, after: name, values, within }];
  });
}

/** A value without members that one of two schemas doesn't have. Whatever else they say is compared. */
function known(
  value: unknown,
  schemas: readonly (JsonSchema | undefined)[],
  versions: readonly Version[],
): unknown {
  const told = schemas.map((schema, at) => resolved(schema, versions[at]));
  if (Array.isArray(value)) {
    const items = told.map((schema) => schema["items"] as JsonSchema | undefined);
    return value.map((item) => known(item, items, versions));
  }
  if (!isMap(value) || told.some((schema) => schema["properties"] === undefined)) return value;
  const properties = told.map((schema) => propertiesOf(schema));
  return Object.fromEntries(
    Object.entries(value)
      .filter(([name]) => properties.every((each) => Object.hasOwn(each, name)))
      .map(([name, member]) => [
        name,
        known(
          member,
          properties.map((each) => each[name]),
          versions,
        ),
      ]),
  );
}

/** A schema without null, and behind its reference. */
function resolved(schema: JsonSchema | undefined, version: Version | undefined): SchemaObject {
  const value = withoutNull(schema ?? true);
  const type = referredType(value);
  const found = type === undefined ? value : own(version?.model.types ?? {}, type);
  return typeof found === "object" ? found : {};
}

/** Which members of a document are other ones than they were, when one version has written and another has read. */
export function differing(
  members: readonly CommonMember[],
  written: { readonly by: Side; readonly body: Body },
  read: { readonly by: Side; readonly body: Body },
): readonly string[] {
  return members.flatMap(({ before, after, values, within }) => {
    const asAfter = ({ by, body }: { readonly by: Side; readonly body: Body }): unknown => {
      const value = within(body[by === "before" ? before : after]);
      return by === "before" && typeof value === "string" ? (own(values, value) ?? value) : value;
    };
    const [was, is] = [asAfter(written), asAfter(read)];
    if (isDeepStrictEqual(was, is)) return [];
    return [
      `${read.by === "before" ? before : after}: ${JSON.stringify(was)} → ${JSON.stringify(is)}`,
    ];
  });
}
