// What comes along, filters through references, many at once and upserts, beside what somebody writes by hand who knows the tables.
import { deepStrictEqual } from "node:assert";
import * as runtime from "../../dist/runtime/index.js";
import { documentStore } from "../../dist/runtime/ports/documents.js";
import { notesSpec } from "../../dist/service/generated/documents/notes.js";
import { projectsSpec } from "../../dist/service/generated/documents/projects.js";
import { tasksSpec } from "../../dist/service/generated/documents/tasks.js";
import { byHand } from "./related-by-hand.mjs";
import { amount, callers, compared, parsed, together } from "./tools.mjs";

const tenant = "bench";
const counts = {
  projects: amount(1_000, 50),
  tasks: amount(20_000, 2_000),
  bulk: amount(500, 50),
};

/** Rows of the table: query, and what `compared` gives. */
export async function relatedRows(connection, tracked, database) {
  const specs = relatedSpecs();
  const { validateCreate: validate } = specs.notes;
  const hands = [];
  for (let place = 0; place < callers; place += 1)
    hands.push(await byHand(database, tenant, { idOf: runtime.uuidv7, validate }));
  const [hand] = hands;
  const by = (work) => alone(database, (place = 0) => work(hands[place]));
  await hand.prepare();
  const named = await furnish(connection, specs);
  await hand.analyze();
  const own = operations(connection, specs);
  const withTrail = operations(tracked, specs);
  const filters = { $values: { "project.name": named.name, "project.id": named.id } };
  const reads = {
    "20, expanded": [
      by(({ expanded }) => expanded(20)),
      own.list({ size: 20, expand: ["project"] }),
    ],
    "20, by a reference": [
      by(({ through }) => through(named, 20)),
      own.list({ size: 20, filters }),
    ],
  };
  for (const [theirs, ours] of Object.values(reads))
    deepStrictEqual(JSON.parse((await ours()).text).hits, JSON.parse(await theirs()).hits);
  const [theirNote, ourNote, otherNote] = [notes("hand"), notes("own"), notes("other")];
  const writes = {
    [`${counts.bulk} created`]: [
      by(({ insert }) => insert(bodies())),
      () => own.createMany(bodies()),
    ],
    "one upserted": [by(({ upsert }) => upsert(theirNote())), () => own.upsert(ourNote())],
    "one upserted, by ON CONFLICT": [
      by(({ merge }) => merge(otherNote())),
      () => own.upsert(ourNote()),
    ],
  };
  const rows = [];
  for (const [query, [theirs, ours]] of Object.entries({ ...reads, ...writes }))
    rows.push([query, ...(await compared(theirs, ours))]);
  const one = () => bodies(1)[0];
  const many = () => own.createMany(bodies());
  const pairs = {
    [`one created: alone, and as one of ${counts.bulk}`]: [
      () => own.create(one()),
      many,
      counts.bulk,
    ],
    "one created: without, and with the audit trail": [
      () => own.create(one()),
      () => withTrail.create(one()),
    ],
    [`${counts.bulk} created: without, and with the audit trail`]: [
      many,
      () => withTrail.createMany(bodies()),
    ],
  };
  for (const [query, [first, second, share = 1]] of Object.entries(pairs)) {
    const [left, right] = await together(first, second);
    const each = right / share;
    const cells = [left.toFixed(3), each.toFixed(3), (each / left).toFixed(3)];
    rows.push([query, ...cells, "", "", ""]);
  }
  for (const { close } of hands) await close();
  return rows;
}

/** On SQLite one caller after the other: a file has one writer, and statements by hand run where everybody waits for them. */
function alone(database, work) {
  if (!database.startsWith("sqlite:")) return work;
  let last = Promise.resolve();
  return () => (last = last.then(() => work()));
}

/** Handlers as routes call them, each write in a transaction of its own. */
function operations(connection, specs) {
  const context = connection.context("tasks.list", tenant);
  const write = (handler) => (input) =>
    connection.write("bench.notes", (within) => handler(input, within), tenant);
  const createMany = write(runtime.bulk.create(specs.notes));
  const upsert = write(runtime.bulk.upsert(specs.notes));
  return {
    list(body) {
      const request = parsed(runtime.listing.cursor(specs.tasks), body);
      return () => runtime.documents.listCursor(specs.tasks)(request, context);
    },
    create: write(runtime.documents.create(specs.notes)),
    createMany: (items) => createMany({ items, atomic: true }),
    upsert: (document) => upsert({ by: ["text"], document }),
  };
}

const bodies = (count = counts.bulk) =>
  Array.from({ length: count }, () => ({ text: runtime.uuidv7(), pinned: false }));

/** Payloads for fifty notes in turn; each is another one than that note had before. */
function notes(prefix) {
  let turn = 0;
  return () => {
    turn += 1;
    return { text: `${prefix} ${turn % 50}`, pinned: Math.floor(turn / 50) % 2 === 0 };
  };
}

/** The reference service's documents, with a reference between two and a rule over the third. */
function relatedSpecs() {
  const projects = runtime.document({ ...projectsSpec, reading: () => [] });
  const tasks = runtime.document({
    ...tasksSpec,
    searches: [],
    references: { project: () => projects },
    reading: () => [],
  });
  return {
    projects,
    tasks,
    notes: runtime.document({
      ...notesSpec,
      unique: [{ index: "bench_notes", members: ["text"] }],
    }),
  };
}

async function furnish(connection, specs) {
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
