// What comes along, filters through references, many at once and upserts, beside what somebody writes by hand who knows the tables.
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import pg from "pg";
import { repository, together } from "./tools.mjs";

const load = (path) => import(pathToFileURL(join(repository, path)).href);
const tenant = "bench";
const counts = { projects: 1_000, tasks: 20_000, bulk: 500 };

/** Rows of the table: query, by hand, opwright, ratio. */
export async function relatedRows(runtime, connection, database) {
  const specs = await relatedSpecs(runtime);
  const hand = await handOf(database);
  await hand.prepare();
  const named = await furnish(runtime, connection, specs);
  await hand.analyze();
  const context = connection.context("tasks.list", tenant);
  const list = (body) => {
    const request = runtime.listing.cursor(specs.tasks).body.check.parse(body);
    return () => runtime.documents.listCursor(specs.tasks)(request, context);
  };
  const write = (work) =>
    connection.write("bench.notes", (within) => work(runtime.collection(specs.notes, within)));
  const bodies = () =>
    Array.from({ length: counts.bulk }, () => ({ text: runtime.uuidv7(), pinned: false }));
  let key = 0;
  const note = () => ({ text: `key ${(key += 1) % 50}`, pinned: key % 2 === 0 });
  const filters = { $values: { "project.name": named.name, "project.id": named.id } };
  const createMany = () => write((notes) => notes.createMany(bodies()));
  const pairs = {
    "20, expanded": [() => hand.expanded(20), list({ size: 20, expand: ["project"] })],
    "20, by a reference": [() => hand.through(named, 20), list({ size: 20, filters })],
    [`${counts.bulk} created`]: [() => hand.insert(runtime.uuidv7, bodies()), createMany],
    "one upserted": [
      () => hand.upsert(runtime.uuidv7(), note()),
      () => write((notes) => notes.upsert(["text"], note())),
    ],
  };
  const rows = [];
  for (const [query, [theirs, ours]] of Object.entries(pairs)) {
    const [byHand, own] = await together(theirs, ours);
    rows.push([query, byHand.toFixed(2), own.toFixed(2), (own / byHand).toFixed(2)]);
  }
  const [single, many] = await together(
    () => write((notes) => notes.create({ text: runtime.uuidv7(), pinned: false })),
    createMany,
  );
  const each = many / counts.bulk;
  rows.push([
    "one created: alone, and as one of 500",
    single.toFixed(3),
    each.toFixed(3),
    (each / single).toFixed(3),
  ]);
  await hand.close();
  return rows;
}

/** What somebody writes by hand, over a connection of their own. */
async function handOf(database) {
  const isSqlite = database.startsWith("sqlite:");
  const { run, close } = isSqlite
    ? await sqliteConnection(database)
    : await postgresConnection(database);
  const field = (row, name) =>
    isSqlite
      ? `json_extract(${row}"body", '$."${name}"')`
      : `((${row}"body"->>'${name}') COLLATE "C")`;
  const idText = isSqlite ? `+p."id"` : `(p."id"::text COLLATE "C")`;
  const columns = (row) =>
    ["id", "rev", "created_at", "last_update_at", "body"]
      .map((name) => `${row}."${name}"`)
      .join(", ");
  const live = (row) => `${row}."tenant_id" = '${tenant}' AND NOT ${row}."is_deleted"`;
  const at = (position) => (isSqlite ? `?${position}` : `$${position}`);
  const documents = async (text, values) =>
    (await run(text, values)).map(({ body, ...rest }) => ({
      ...rest,
      ...(typeof body === "string" ? JSON.parse(body) : body),
    }));
  const isOneOf = isSqlite
    ? `p."id" IN (SELECT value FROM json_each(?1))`
    : `p."id" = ANY($1::uuid[])`;
  const key = `("tenant_id", ${isSqlite ? field("", "text") : `(${field("", "text")})`})`;
  const row = isSqlite
    ? `'${tenant}', value ->> 'id', 1, ?2, ?2, 0, NULL, 1, value -> 'body' FROM json_each(?1)`
    : `'${tenant}', (value ->> 'id')::uuid, 1, $2::timestamptz, $2::timestamptz, false, NULL, 1, value -> 'body' FROM jsonb_array_elements($1::jsonb)`;
  const into = `INSERT INTO "notes" ("tenant_id", "id", "rev", "created_at", "last_update_at", "is_deleted", "owner_id", "shape", "body") SELECT ${row}`;
  const inserted = (records) => run(into, [JSON.stringify(records), new Date().toISOString()]);
  return {
    close,
    prepare: () => run(`CREATE UNIQUE INDEX "bench_notes" ON "notes" ${key}`, []),
    analyze: () => run("ANALYZE", []),
    async expanded(size) {
      const tasks = await documents(
        `SELECT ${columns("t")} FROM "tasks" t WHERE ${live("t")} ORDER BY t."id" LIMIT ${at(1)}`,
        [size],
      );
      const ids = [...new Set(tasks.map(({ project }) => project))];
      const projects = await documents(
        `SELECT ${columns("p")} FROM "projects" p WHERE ${live("p")} AND ${isOneOf}`,
        [isSqlite ? JSON.stringify(ids) : ids],
      );
      const byId = new Map(projects.map((one) => [one.id, one]));
      return JSON.stringify(
        tasks.map((task) => ({ ...task, expanded: { project: byId.get(task.project) ?? null } })),
      );
    },
    through: async ({ id, name }, size) =>
      JSON.stringify(
        await documents(
          `SELECT ${columns("t")} FROM "projects" p JOIN "tasks" t ON ${field("t.", "project")} = ${idText} ` +
            `WHERE ${live("p")} AND ${live("t")} AND p."id" = ${at(1)} AND ${field("p.", "name")} = ${at(2)} ORDER BY t."id" LIMIT ${at(3)}`,
          [id, name, size],
        ),
      ),
    insert: (idOf, bodies) => inserted(bodies.map((body) => ({ id: idOf(), body }))),
    // In two statements: PostgreSQL takes no index over a collated expression for ON CONFLICT.
    async upsert(id, body) {
      const found = await run(
        `SELECT "id" FROM "notes" WHERE "tenant_id" = '${tenant}' AND ${field("", "text")} = ${at(1)}`,
        [body.text],
      );
      if (found.length === 0) return inserted([{ id, body }]);
      const json = isSqlite ? at(1) : `${at(1)}::jsonb`;
      return run(
        `UPDATE "notes" SET "body" = ${json}, "rev" = "rev" + 1 WHERE "tenant_id" = '${tenant}' AND "id" = ${at(2)}`,
        [JSON.stringify(body), found[0].id],
      );
    },
  };
}

async function sqliteConnection(database) {
  const { openSqlite } = await load("dist/runtime/engines/sqlite/driver.js");
  const connection = openSqlite(database.slice("sqlite:".length));
  const prepared = new Map();
  return {
    async run(text, values) {
      const statement = prepared.get(text) ?? connection.prepare(text);
      prepared.set(text, statement);
      if (text.startsWith("SELECT")) return statement.all(values);
      statement.run(values);
      return [];
    },
    close: async () => connection.close(),
  };
}

async function postgresConnection(database) {
  const pool = new pg.Pool({ connectionString: database, max: 1 });
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

/** The reference service's documents, with a reference between two and a rule over the third. */
async function relatedSpecs(runtime) {
  const spec = async (name) =>
    (await load(`dist/service/generated/documents/${name}.js`))[`${name}Spec`];
  const projects = runtime.document({ ...(await spec("projects")), reading: () => [] });
  const tasks = runtime.document({
    ...(await spec("tasks")),
    searches: [],
    references: { project: () => projects },
    reading: () => [],
  });
  const notesSpec = await spec("notes");
  return {
    projects,
    tasks,
    notes: runtime.document({
      ...notesSpec,
      unique: [{ index: "bench_notes", members: ["text"] }],
    }),
  };
}

async function furnish(runtime, connection, specs) {
  const { documentStore } = await load("dist/runtime/ports/documents.js");
  const time = "2026-01-01T00:00:00.000Z";
  const base = { rev: 1, createdAt: time, lastUpdateAt: time, isDeleted: false, ownerId: null };
  const projects = Array.from({ length: counts.projects }, (_one, at) => ({
    ...base,
    id: runtime.uuidv7(),
    body: JSON.stringify({ name: `project ${at}`, key: `K${at}`, archived: false }),
  }));
  const tasks = Array.from({ length: counts.tasks }, (_one, at) => ({
    ...base,
    id: runtime.uuidv7(),
    body: JSON.stringify({
      title: `task ${at}`,
      state: "open",
      project: projects[at % counts.projects].id,
      assignee: null,
      due: null,
      estimate: at % 9,
      labels: [],
    }),
  }));
  for (const [spec, all] of [
    [specs.projects, projects],
    [specs.tasks, tasks],
  ])
    for (let at = 0; at < all.length; at += 1_000)
      await connection.write("bench.rows", ({ transaction }) =>
        transaction.of(documentStore).insertMany(spec, tenant, all.slice(at, at + 1_000)),
      );
  return { id: projects[7].id, name: "project 7" };
}
