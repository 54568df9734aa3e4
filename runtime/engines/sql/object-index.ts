// The index of objects over SQL, shared by all SQL engines. Lists read one range of the primary
// key.
import type { ObjectTags } from "../../ports/object-head.js";
import type {
  FoundObject,
  IndexedObject,
  ObjectFilter,
  ObjectIndex,
} from "../../ports/object-index.js";
import { countRows } from "./count-rows.js";
import { readCountedPage, selectListed, type Listing } from "./listing.js";
import { SqlParameters } from "./parameters.js";
import { textOrNull, type SqlRow, type SqlSession } from "./session.js";

/**
 * The id of notes that somebody else may change a key (`expect`). Changes never have it: their ids
 * are UUIDs.
 */
const expected = "expected";

const stored = [
  "key",
  "size",
  "content_type",
  "etag",
  "modified_at",
  "filename",
  "description",
  "tags",
];
const columns = stored.map((name) => `"${name}"`).join(", ");

/** The object index, within one transaction. */
export function sqlObjectIndex(session: SqlSession): ObjectIndex {
  const { dialect } = session;
  const at = (position: number): string => dialect.placeholder(position);
  return {
    ...notesOf(session),

    select: (filter, window) =>
      selectListed(printObjectListing(session, filter, window.after), window),

    countedPage: (filter, window, upTo) =>
      readCountedPage(printObjectListing(session, filter, null), window, upTo),

    async known(after, last, limit) {
      const rows = await session.all(
        `SELECT "key", "etag" FROM "opwright_objects" ` +
          `WHERE "key" > ${at(1)} AND "key" <= ${at(2)} ORDER BY "key" LIMIT ${at(3)}`,
        [after, last, limit],
      );
      return rows.map((row) => ({ key: String(row["key"]), etag: String(row["etag"]) }));
    },
  };
}

/** Prints a query of objects, whose keys follow another one if that is given. */
function printObjectListing(
  session: SqlSession,
  filter: ObjectFilter,
  after: string | null,
): Listing<IndexedObject> {
  const parameters = new SqlParameters(session.dialect);
  const found = `FROM "opwright_objects" WHERE ${whereOf(filter, after, parameters)}`;
  const orderBy = ` ORDER BY "key"`;
  const counted = { found, orderBy };
  return {
    columns,
    found: `${found}${orderBy}`,
    counted,
    parameters,
    run: (text, more = { stored: [] }) =>
      session.scan(text, parameters.values, { ...more, stored: [...stored, ...more.stored] }),
    readRow: readObject,
    count: (upTo) => {
      const alone = printObjectListing(session, filter, after);
      return countRows(session, alone.parameters, alone.counted, upTo);
    },
  };
}

/** The methods that note which keys are changing. */
function notesOf(session: SqlSession): Omit<ObjectIndex, "select" | "countedPage" | "known"> {
  const { dialect } = session;
  const at = (position: number): string => dialect.placeholder(position);
  const note = (values: readonly (string | number)[]): Promise<number> =>
    session.run(
      `INSERT INTO "opwright_object_changes" AS c ("key", "id", "begun_at", "due_at", "until") ` +
        `VALUES (${[1, 2, 3, 4, 5].map(at).join(", ")}) ON CONFLICT ("key", "id") DO UPDATE SET ` +
        `"begun_at" = excluded."begun_at", "due_at" = excluded."due_at", ` +
        `"until" = CASE WHEN c."until" > excluded."until" THEN c."until" ELSE excluded."until" END`,
      values,
    );
  const forget: ObjectIndex["forget"] = async ({ key, id, until }) => {
    await session.run(
      `DELETE FROM "opwright_object_changes" WHERE "key" = ${at(1)} AND "id" = ${at(2)} AND "until" <= ${at(3)}`,
      [key, id, until],
    );
  };

  return {
    async begin(id, keys, { now, dueAt }) {
      // Always in the same order, so that two changes can't deadlock.
      for (const key of [...keys].sort()) {
        await note([key, id, now, dueAt, dueAt]);
        await session.run(
          `INSERT INTO "opwright_object_marks" ("key", "change") VALUES (${at(1)}, ${at(2)}) ` +
            `ON CONFLICT ("key") DO UPDATE SET "change" = excluded."change"`,
          [key, id],
        );
      }
    },

    async settle(id, found) {
      const unsettled: string[] = [];
      for (const one of [...found].sort((left, right) => (left.key < right.key ? -1 : 1)))
        if (await putDown(session, id, one))
          await forget({ key: one.key, id, until: Number.MAX_SAFE_INTEGER });
        else unsettled.push(one.key);
      return unsettled;
    },

    async expect(key, { now, dueAt, until }) {
      await note([key, expected, now, dueAt, until]);
    },

    async isUnseen(key, etag) {
      const rows = await session.all(
        `SELECT 1 AS "is" FROM "opwright_object_changes" WHERE "key" = ${at(1)} AND "id" = ${at(2)} ` +
          `AND NOT EXISTS (SELECT 1 FROM "opwright_objects" WHERE "key" = ${at(1)} AND "etag" = ${at(3)})`,
        [key, expected, etag],
      );
      return rows.length > 0;
    },

    async due(now, limit) {
      const rows = await session.all(
        `SELECT "key", "id", "begun_at", "until" FROM "opwright_object_changes" ` +
          `WHERE "due_at" <= ${at(1)} ORDER BY "due_at" LIMIT ${at(2)}`,
        [now, limit],
      );
      return rows.map((row) => ({
        key: String(row["key"]),
        id: String(row["id"]),
        begunAt: Number(row["begun_at"]),
        until: Number(row["until"]),
      }));
    },

    async postpone({ key, id }, dueAt) {
      await session.run(
        `UPDATE "opwright_object_changes" SET "due_at" = ${at(3)} WHERE "key" = ${at(1)} AND "id" = ${at(2)}`,
        [key, id, dueAt],
      );
    },

    forget,
  };
}

/**
 * Records the object that a key has now, or that it has none; false if another change of the key
 * has begun since.
 */
async function putDown(
  session: SqlSession,
  id: string,
  { key, object }: FoundObject,
): Promise<boolean> {
  const at = (position: number): string => session.dialect.placeholder(position);
  const isOurs = await session.run(
    `DELETE FROM "opwright_object_marks" WHERE "key" = ${at(1)} AND "change" = ${at(2)}`,
    [key, id],
  );
  if (isOurs === 0) return false;
  if (object === null) {
    await session.run(`DELETE FROM "opwright_objects" WHERE "key" = ${at(1)}`, [key]);
    return true;
  }
  const { contentSize, contentType, etag, modifiedAt, filename, description, tags } = object;
  const given = stored.slice(1).map((name) => `"${name}" = excluded."${name}"`);
  await session.run(
    `INSERT INTO "opwright_objects" (${columns}) VALUES (${stored.map((_name, place) => at(place + 1)).join(", ")}) ` +
      `ON CONFLICT ("key") DO UPDATE SET ${given.join(", ")}`,
    [
      key,
      contentSize,
      contentType,
      etag,
      Math.round(modifiedAt),
      filename,
      description,
      tagsText(tags),
    ],
  );
  return true;
}

/** The conditions of a filter. Those on keys are a range, which the primary key serves. */
function whereOf(
  { prefix, contentType, tags }: ObjectFilter,
  after: string | null,
  parameters: SqlParameters,
): string {
  const end = behindPrefix(prefix);
  const conditions = [
    after === null ? `"key" >= ${parameters.add(prefix)}` : `"key" > ${parameters.add(after)}`,
    ...(end === null ? [] : [`"key" < ${parameters.add(end)}`]),
  ];
  if (contentType !== null) {
    const isRange = contentType.endsWith("/*");
    const wanted = isRange ? contentType.slice(0, -1) : contentType;
    const parameter = parameters.add(wanted);
    conditions.push(
      isRange
        ? `substr("content_type", 1, ${parameters.add(wanted.length)}) = ${parameter}`
        : `"content_type" = ${parameter}`,
    );
  }
  for (const tag of Object.entries(tags))
    conditions.push(`replace("tags", ${parameters.add(tagText(tag))}, '') <> "tags"`);
  return conditions.join(" AND ");
}

/**
 * The first possible key after all keys with a prefix, in the order of code points; null if there
 * is none.
 */
function behindPrefix(prefix: string): string | null {
  const points = [...prefix];
  for (let last = points.pop(); last !== undefined; last = points.pop()) {
    const next = (last.codePointAt(0) ?? 0) + 1;
    if (next > 0x10ffff) continue;
    // U+D800 to U+DFFF are halves of surrogate pairs, not characters.
    return points.join("") + String.fromCodePoint(next === 0xd800 ? 0xe000 : next);
  }
  return null;
}

/**
 * Tags as one text in which each can be searched for. Names and values have no control characters.
 */
function tagsText(tags: ObjectTags = {}): string {
  return Object.entries(tags)
    .sort(([left], [right]) => (left < right ? -1 : 1))
    .map(tagText)
    .join("");
}

function tagText([name, value]: readonly [string, string]): string {
  return `\n${name}\t${value}\n`;
}

function readTags(text: string): ObjectTags {
  const lines = text.split("\n").filter((line) => line !== "");
  return Object.fromEntries(
    lines.map((line) => {
      const at = line.indexOf("\t");
      return [line.slice(0, at), line.slice(at + 1)];
    }),
  );
}

function readObject(row: SqlRow): IndexedObject {
  const tags = readTags(String(row["tags"]));
  return {
    key: String(row["key"]),
    contentSize: Number(row["size"]),
    contentType: String(row["content_type"]),
    etag: String(row["etag"]),
    modifiedAt: Number(row["modified_at"]),
    filename: String(row["filename"]),
    description: textOrNull(row["description"]),
    ...(Object.keys(tags).length === 0 ? {} : { tags }),
  };
}
