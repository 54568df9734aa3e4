// Related documents and many at once as somebody writes them by hand who knows the tables and is careful: payloads are held
// to the compiled validator, pages say where the next one begins, writes count revisions and happen whole or not at all, and
// each answer is the JSON that opwright gives.
import pg from "pg";
import { openSqlite } from "../../dist/runtime/engines/sqlite/driver.js";

/** Over a connection of their own, for the rows of one tenant; payloads of notes are checked by `validate`. */
export async function byHand(database, tenant, { idOf, validate }) {
  const isSqlite = database.startsWith("sqlite:");
  const connection = (isSqlite ? sqliteConnection : postgresConnection)(database);
  const { run } = connection;
  const sql = isSqlite ? sqlite(tenant) : postgres(tenant);
  const read = async (text, values) => (await run(text, values)).map(documentOf);
  return {
    close: connection.close,
    prepare: () => run(sql.uniqueIndex, []),
    analyze: () => run("ANALYZE", []),

    async expanded(size) {
      const tasks = await read(sql.tasks, [size + 1]);
      const hits = tasks.slice(0, size);
      const ids = [...new Set(hits.map(({ project }) => project))];
      const projects = await read(sql.projects, [sql.list(ids)]);
      const byId = new Map(projects.map((one) => [one.id, one]));
      const told = hits.map((task) => ({
        ...task,
        expanded: { project: byId.get(task.project) ?? null },
      }));
      return pageOf(told, tasks.length > size);
    },

    async through({ id, name }, size) {
      const tasks = await read(sql.through, [id, name, size + 1]);
      return pageOf(tasks.slice(0, size), tasks.length > size);
    },

    async insert(payloads) {
      const now = new Date().toISOString();
      const documents = payloads.map((payload) => {
        checked(validate, payload);
        return { id: idOf(), body: { ...payload, pinned: payload.pinned ?? false } };
      });
      await run(sql.insertMany, [JSON.stringify(documents), now]);
      const outcomes = documents.map(({ id, body }) => ({
        document: noteOf(id, 1, now, now, body),
      }));
      return JSON.stringify({ outcomes, done: outcomes.length, failed: 0 });
    },

    /** For any patch: what is there is read, changed and written in one transaction, and stays at its revision if it is the same. */
    async upsert(payload) {
      checked(validate, payload);
      const now = new Date().toISOString();
      await run(sql.begin, []);
      try {
        const answer = await written(payload, now);
        await run("COMMIT", []);
        return answer;
      } catch (error) {
        await run("ROLLBACK", []);
        throw error;
      }
    },

    /** The same by one statement of the engine, which can do it for a payload without members within members. */
    async merge(payload) {
      checked(validate, payload);
      const now = new Date().toISOString();
      const whole = { ...payload, pinned: payload.pinned ?? false };
      const id = idOf();
      const given = [id, now, JSON.stringify(whole), JSON.stringify(payload), payload.text];
      const [merged] = await read(sql.merge, given.slice(0, 4));
      const [document] = merged === undefined ? await read(sql.note, given.slice(4)) : [merged];
      return JSON.stringify({ data: document, created: document.id === id });
    },
  };

  async function written(payload, now) {
    const [found] = await run(sql.noteHeld, [payload.text]);
    if (found === undefined) {
      const [id, body] = [idOf(), { ...payload, pinned: payload.pinned ?? false }];
      await run(sql.insertMany, [JSON.stringify([{ id, body }]), now]);
      return JSON.stringify({ data: noteOf(id, 1, now, now, body), created: true });
    }
    const before = JSON.stringify(bodyOf(found));
    const body = { ...bodyOf(found), ...payload };
    if (JSON.stringify(body) === before)
      return JSON.stringify({ data: documentOf(found), created: false });
    await run(sql.update, [JSON.stringify(body), found.id, now]);
    const data = noteOf(found.id, Number(found.rev) + 1, found.created_at, now, body);
    return JSON.stringify({ data, created: false });
  }
}

function checked(validate, payload) {
  const faults = validate(payload);
  if (faults !== null) throw new Error(JSON.stringify(faults));
}

function bodyOf({ body }) {
  return typeof body === "string" ? JSON.parse(body) : body;
}

/** A row as clients know it. */
function documentOf(row) {
  const { body: _body, is_deleted: isDeleted, ...columns } = row;
  const deleted = isDeleted === undefined ? {} : { is_deleted: Boolean(isDeleted) };
  return { ...columns, ...deleted, ...bodyOf(row) };
}

function noteOf(id, rev, createdAt, lastUpdateAt, body) {
  return { id, rev, created_at: createdAt, last_update_at: lastUpdateAt, ...body };
}

/** A page, and where the next one begins; opwright signs that. */
function pageOf(hits, hasMore) {
  const last = hits.at(-1);
  const next =
    hasMore && last ? Buffer.from(JSON.stringify([last.id])).toString("base64url") : null;
  return JSON.stringify({ hits, next_cursor: next, prev_cursor: null, has_more: hasMore });
}

const base = ["id", "rev", "created_at", "last_update_at"];
const columns = (row, names) => names.map((name) => `${row}."${name}"`).join(", ");
const rowColumns = `"tenant_id", "id", "rev", "created_at", "last_update_at", "is_deleted", "owner_id", "shape", "body"`;

/** Statements of both, given how each prints what is different. */
function statements(tenant, { at, field, idText, isOneOf, newNotes, newNote, patched, held }) {
  const live = (row) => `${row}."tenant_id" = '${tenant}' AND NOT ${row}."is_deleted"`;
  const markable = (row) => columns(row, [...base, "is_deleted", "body"]);
  const note = columns("notes", [...base, "body"]);
  const sameText = `"notes"."tenant_id" = '${tenant}' AND ${field("notes.", "text")} = ${at(1)}`;
  return {
    tasks: `SELECT ${markable("t")} FROM "tasks" t WHERE ${live("t")} ORDER BY t."id" LIMIT ${at(1)}`,
    projects: `SELECT ${markable("p")} FROM "projects" p WHERE ${live("p")} AND ${isOneOf}`,
    through:
      `SELECT ${markable("t")} FROM "projects" p JOIN "tasks" t ON ${field("t.", "project")} = ${idText} ` +
      `WHERE ${live("p")} AND ${live("t")} AND p."id" = ${at(1)} AND ${field("p.", "name")} = ${at(2)} ORDER BY t."id" LIMIT ${at(3)}`,
    insertMany: `INSERT INTO "notes" (${rowColumns}) SELECT ${newNotes}`,
    note: `SELECT ${note} FROM "notes" WHERE ${sameText}`,
    noteHeld: `SELECT ${note} FROM "notes" WHERE ${sameText}${held}`,
    update: `UPDATE "notes" SET "body" = ${patched.whole}, "rev" = "rev" + 1, "last_update_at" = ${at(3)} WHERE "tenant_id" = '${tenant}' AND "id" = ${at(2)}`,
    merge:
      `INSERT INTO "notes" (${rowColumns}) VALUES (${newNote}) ON CONFLICT ${patched.key} DO UPDATE ` +
      `SET "body" = ${patched.merged}, "rev" = "notes"."rev" + 1, "last_update_at" = ${at(2)} WHERE "notes"."body" <> ${patched.merged} RETURNING ${note}`,
  };
}

function sqlite(tenant) {
  const field = (row, name) => `json_extract(${row}"body", '$."${name}"')`;
  const key = `("tenant_id", ${field("", "text")})`;
  return {
    begin: "BEGIN IMMEDIATE",
    uniqueIndex: `CREATE UNIQUE INDEX "bench_notes" ON "notes" ${key}`,
    list: (ids) => JSON.stringify(ids),
    ...statements(tenant, {
      at: (position) => `?${position}`,
      field,
      idText: `+p."id"`,
      isOneOf: `p."id" IN (SELECT value FROM json_each(?1))`,
      newNotes: `'${tenant}', value ->> 'id', 1, ?2, ?2, 0, NULL, 1, value -> 'body' FROM json_each(?1)`,
      newNote: `'${tenant}', ?1, 1, ?2, ?2, 0, NULL, 1, ?3`,
      patched: { whole: "?1", key, merged: `json_patch("notes"."body", ?4)` },
      held: "",
    }),
  };
}

function postgres(tenant) {
  const field = (row, name) => `((${row}"body"->>'${name}') COLLATE "C")`;
  return {
    begin: "BEGIN",
    uniqueIndex: `CREATE UNIQUE INDEX "bench_notes" ON "notes" ("tenant_id", (${field("", "text")}))`,
    list: (ids) => ids,
    ...statements(tenant, {
      at: (position) => `$${position}`,
      field,
      idText: `(p."id"::text COLLATE "C")`,
      isOneOf: `p."id" = ANY($1::uuid[])`,
      newNotes: `'${tenant}', (value ->> 'id')::uuid, 1, $2::timestamptz, $2::timestamptz, false, NULL, 1, value -> 'body' FROM jsonb_array_elements($1::jsonb)`,
      newNote: `'${tenant}', $1::uuid, 1, $2::timestamptz, $2::timestamptz, false, NULL, 1, $3::jsonb`,
      patched: {
        whole: "$1::jsonb",
        // With the collation behind the expression, as an index is asked for.
        key: `("tenant_id", ("body"->>'text') COLLATE "C")`,
        merged: `"notes"."body" || $4::jsonb`,
      },
      held: " FOR UPDATE",
    }),
  };
}

function sqliteConnection(database) {
  const connection = openSqlite(database.slice("sqlite:".length));
  const prepared = new Map();
  return {
    async run(text, values) {
      const statement = prepared.get(text) ?? connection.prepare(text);
      prepared.set(text, statement);
      if (/^SELECT| RETURNING /.test(text)) return statement.all(values);
      statement.run(values);
      return [];
    },
    close: async () => connection.close(),
  };
}

function postgresConnection(database) {
  const isInteger = (oid) => oid === pg.types.builtins.INT8;
  const getTypeParser = (oid, format) =>
    isInteger(oid) ? Number : pg.types.getTypeParser(oid, format);
  const pool = new pg.Pool({ connectionString: database, max: 1, types: { getTypeParser } });
  const names = new Map();
  return {
    async run(text, values) {
      const name = names.get(text) ?? `related${names.size}`;
      names.set(text, name);
      return (await pool.query({ name, text, values })).rows;
    },
    close: () => pool.end(),
  };
}
