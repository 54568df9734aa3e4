// What two versions both know of a document: which members, by which names, with which values.
import { isDeepStrictEqual } from "node:util";
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
    return [{ before: old, after: name, values }];
  });
}

/** Which members of a document are other ones than they were, when one version has written and another has read. */
export function differing(
  members: readonly CommonMember[],
  written: { readonly by: Side; readonly body: Body },
  read: { readonly by: Side; readonly body: Body },
): readonly string[] {
  return members.flatMap(({ before, after, values }) => {
    const asAfter = ({ by, body }: { readonly by: Side; readonly body: Body }): unknown => {
      const value = body[by === "before" ? before : after];
      return by === "before" && typeof value === "string" ? (own(values, value) ?? value) : value;
    };
    const [was, is] = [asAfter(written), asAfter(read)];
    if (isDeepStrictEqual(was, is)) return [];
    return [
      `${read.by === "before" ? before : after}: ${JSON.stringify(was)} → ${JSON.stringify(is)}`,
    ];
  });
}
