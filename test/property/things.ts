// Random documents, filters and sorts of one type that has every kind of field, and a database that holds the documents.
import fc from "fast-check";
import type { Fields, FieldType } from "../../runtime/contract/fields.js";
import { limits } from "../../runtime/contract/limits.js";
import { operatorsOf, type Operator } from "../../runtime/contract/query-operators.js";
import { document, type DocumentOf } from "../../runtime/ports/document-spec.js";
import type { MigrationTarget } from "../../runtime/engines/sql/migrations.js";
import { silentLog } from "../../runtime/ports/log.js";
import { uuidv7 } from "../../runtime/ports/uuid.js";
import { connect, type ServiceConnection } from "../../runtime/server/connect.js";
import { readSettings } from "../../runtime/server/settings.js";
import { prepareContractTables } from "../../runtime/testing/index.js";
import { generated } from "../support/service.js";
import type { TestEngine } from "../support/engines.js";
import { Reference, type Sorts } from "./evaluator.js";
import { documentStore } from "../../runtime/ports/documents.js";

export const fields: Fields = {
  name: "string",
  path: "string",
  kind: "enum",
  size: "number",
  count: "integer",
  other: "integer",
  flag: "boolean",
  day: "date",
  at: "date-time",
  ref: "uuid",
  up: "uuid",
  tags: "string[]",
  sizes: "number[]",
  flags: "boolean[]",
  days: "date-time[]",
  place: "object",
  "place.city": "string",
  "place.zip": "integer",
  "place.geo": "object",
  "place.geo.lat": "number",
  parts: "object[]",
};

/** Members of the objects in `parts`. */
const partFields: Fields = {
  name: "string",
  kind: "enum",
  size: "number",
  count: "integer",
  flag: "boolean",
  at: "date-time",
  "geo.lat": "number",
};

export const things: DocumentOf<{ document: unknown }> = document({
  name: "things",
  table: "contract_things",
  tenant: true,
  softDelete: true,
  listDeleted: true,
  shape: { members: null, steps: [] },
  history: 0,
  defaults: {},
  nullable: [],
  canonical: {},
  validateBody: () => null,
  fields,
  elements: { parts: partFields },
  references: { up: () => things },
  referredBy: [{ by: () => things, member: "up", onDelete: "restrict" }],
  reading: () => [],
});

const uuids = ["1", "2", "a"].map((digit) => `01890000-0000-7000-8000-00000000000${digit}`);
/** Few values, so that random filters meet random rows; the awkward ones among them. */
export const pools: Readonly<Record<string, readonly (string | number | boolean)[]>> = {
  string: [
    "",
    "a",
    "A",
    "ä",
    "b",
    "a.b",
    "a.b.c",
    "ab",
    "a_b",
    "a%b",
    "a\\b",
    "[a]",
    "a*b",
    "a-b",
    "^",
    "]",
    "😀",
    "\uff5e",
    "a\nb",
    "' OR 1=1 --",
    "Äb",
  ],
  enum: ["open", "doing", "done"],
  number: [-1.5, 0, 0.1, 1, 1e21, 182.2506545083492, 5e-324],
  integer: [-1, 0, 1, 2, 9_007_199_254_740_991],
  boolean: [true, false],
  date: ["2025-12-31", "2026-01-01", "2026-02-28"],
  "date-time": [
    "2025-12-31T23:59:59.999Z",
    "2026-01-01T00:00:00.000Z",
    "2026-01-01T00:00:00.001Z",
    "2026-03-29T00:30:00.000Z",
    "2026-03-29T01:30:00.000Z",
    "2026-10-25T00:30:00.000Z",
    "2026-10-25T01:30:00.000Z",
    "1999-06-15T12:00:00.000Z",
  ],
  uuid: uuids,
};
const poolOf = (type: FieldType) =>
  fc.constantFrom(...(pools[type.replace("[]", "")] ?? ["no such pool"]));
const maybe = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { freq: 3, nil: null });

const part = fc.record(
  {
    ...Object.fromEntries(
      Object.entries(partFields)
        .filter(([name]) => !name.includes("."))
        .map(([name, type]) => [name, maybe(poolOf(type))]),
    ),
    geo: maybe(fc.record({ lat: maybe(poolOf("number")) }, { requiredKeys: [] })),
  },
  { requiredKeys: [] },
);

const values = Object.fromEntries(
  Object.entries(fields)
    .filter(([name]) => !name.includes("."))
    .map(([name, type]): [string, fc.Arbitrary<unknown>] => {
      if (type === "object") {
        const geo = maybe(fc.record({ lat: maybe(poolOf("number")) }, { requiredKeys: [] }));
        const place = { city: maybe(poolOf("string")), zip: maybe(poolOf("integer")), geo };
        return [name, maybe(fc.record(place, { requiredKeys: [] }))];
      }
      if (type === "object[]") return [name, maybe(fc.array(part, { maxLength: 3 }))];
      // Which of the rows it is, by its place: ids are made when they are stored.
      if (name === "up") return [name, maybe(fc.integer({ min: 0, max: 60 }))];
      const scalar = poolOf(type);
      const value: fc.Arbitrary<unknown> = type.endsWith("[]")
        ? fc.array(scalar, { maxLength: 3 })
        : scalar;
      return [name, maybe(value)];
    }),
);
export const body = fc.record(values, { requiredKeys: [] });

const likePattern = fc
  .array(fc.constantFrom("%", "_", "a", "b", "A", "ä", "Ä", "\\%", "\\_", "\\\\", ".", "😀"), {
    maxLength: 4,
  })
  .map((parts) => parts.join(""));
const regexPattern = fc
  .array(
    fc.tuple(
      fc.constantFrom("", "^"),
      fc.array(
        fc.constantFrom(
          "a",
          "b",
          "A",
          ".",
          ".*",
          "[a-c]",
          "[^a]",
          "[]",
          "\\.",
          "\\w",
          "\\d",
          "\\s",
          "\\W",
          "-",
          "[a-]",
          "[*]",
          "\\*",
          "\\?",
          "\\[",
          "[\\]^-]",
          "[^\\^]",
          "[\\^]",
          "[\\^\\-]",
          "[\\]-a]",
          "[^\\^-a]",
          "[+--]",
          "ä",
          "😀",
          "[ä-😀]",
          "_",
          "%",
        ),
        { maxLength: 3 },
      ),
      fc.constantFrom("", "$"),
    ),
    { minLength: 1, maxLength: 2 },
  )
  // JavaScript reads an empty class; the language here does not have it.
  .map((alternatives) =>
    alternatives
      .map(
        ([start, steps, end]) => `${start}${steps.filter((step) => step !== "[]").join("")}${end}`,
      )
      .join("|"),
  );

const geo = fc.record({ lat: maybe(poolOf("number")) }, { requiredKeys: [] });
const objects: Readonly<Record<string, fc.Arbitrary<unknown>>> = {
  "place.geo": geo,
  place: fc.record(
    { city: maybe(poolOf("string")), zip: maybe(poolOf("integer")), geo: maybe(geo) },
    { requiredKeys: [] },
  ),
};

function operandFor(name: string, type: FieldType, operator: Operator): fc.Arbitrary<unknown> {
  const scalar = poolOf(type);
  const element = type.replace("[]", "") as FieldType;
  switch (operator) {
    case "$null":
    case "$empty":
      return fc.boolean();
    case "$in":
    case "$nin":
    case "$superset":
    case "$subset":
    case "$overlaps":
    case "$disjoint":
      return fc.array(scalar, { maxLength: 3 });
    case "$like":
    case "$ilike":
      return fc.oneof(likePattern, fc.array(likePattern, { minLength: 1, maxLength: 2 }));
    case "$regex":
      return regexPattern;
    case "$any":
    case "$all":
    case "$none":
      return element === "object" ? partConstraint : constraintFor("", element);
    case "$eq":
    case "$neq":
      return objects[name] ?? scalar;
    default:
      return scalar;
  }
}

const partConstraint = fc
  .uniqueArray(fc.constantFrom(...Object.keys(partFields)), { minLength: 1, maxLength: 2 })
  .chain((names) =>
    fc.record(
      Object.fromEntries(
        names.map((name) => [name, constraintFor("", partFields[name] ?? "string")]),
      ),
    ),
  );

function constraintFor(field: string, type: FieldType): fc.Arbitrary<unknown> {
  const allowed = operatorsOf(type);
  const operators = fc
    .uniqueArray(fc.constantFrom(...allowed), { minLength: 1, maxLength: 2 })
    .chain((names) =>
      fc.record(Object.fromEntries(names.map((name) => [name, operandFor(field, type, name)]))),
    );
  if (type === "object" || type.endsWith("[]")) return fc.oneof(operators, fc.constant(null));
  const scalar = poolOf(type);
  return fc.oneof(operators, scalar, fc.array(scalar, { maxLength: 3 }), fc.constant(null));
}

const columns: Fields = {
  id: "uuid",
  rev: "integer",
  created_at: "date-time",
  is_deleted: "boolean",
};
export const byName: Fields = { ...fields, ...columns };
const columnPools: Readonly<Record<string, fc.Arbitrary<unknown>>> = {
  rev: fc.integer({ min: 1, max: 3 }),
  is_deleted: fc.boolean(),
};
const constraint = fc
  .constantFrom(...Object.entries(byName))
  .chain(([name, type]) =>
    fc.tuple(fc.constant(name), columnPools[name] ?? constraintFor(name, type)),
  );
const comparable = [
  ["size", "count"],
  ["count", "other"],
  ["rev", "count"],
  ["day", "day"],
  ["at", "created_at"],
  ["created_at", "at"],
  ["ref", "id"],
  ["place.zip", "other"],
] as const;
const comparison = fc.oneof(
  fc.record({
    pair: fc.constantFrom(...comparable),
    operator: fc.constantFrom("$eq", "$neq", "$gt", "$gte", "$lt", "$lte"),
  }),
  fc.record({
    pair: fc.constantFrom(
      ["name", "path"] as const,
      ["kind", "name"] as const,
      ["flag", "is_deleted"] as const,
      ["name", "place.city"] as const,
    ),
    operator: fc.constantFrom("$eq", "$neq"),
  }),
);
type Node = Readonly<Record<string, unknown>>;
/** What a thing names is asked, and what names it: at most two statements deep. */
const plain: fc.Arbitrary<Node> = fc
  .array(constraint, { maxLength: 2 })
  .map((all) => ({ $values: Object.fromEntries(all) }));
const through: fc.Arbitrary<Node> = constraint.map(([name, operand]) => ({
  $values: { [`up.${name}`]: operand },
}));
const namedBy = (inner: fc.Arbitrary<Node>): fc.Arbitrary<Node> =>
  fc.record({ $exists: fc.record({ "things.up": inner }) });
const sharedBy = (inner: fc.Arbitrary<Node>): fc.Arbitrary<Node> =>
  fc.record({ $exists: fc.record({ "up.things.up": inner }) });
const related: fc.Arbitrary<Node> = fc.oneof(
  through,
  sharedBy(plain),
  sharedBy(through),
  sharedBy(namedBy(plain)),
  namedBy(plain),
  namedBy(through),
  namedBy(namedBy(plain)),
);
const leaf: fc.Arbitrary<Node> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc
      .array(constraint, { minLength: 1, maxLength: 2 })
      .map((all) => ({ $values: Object.fromEntries(all) })),
  },
  {
    weight: 1,
    arbitrary: comparison.map(({ pair: [one, other], operator }) => ({
      $fields: { [one]: { [operator]: other } },
    })),
  },
  { weight: 1, arbitrary: fc.constant({}) },
);
export const filter: fc.Arbitrary<Node> = fc.letrec<{ node: Node }>((tie) => ({
  node: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    leaf,
    related,
    fc.array(tie("node"), { minLength: 1, maxLength: 3 }).map(($and) => ({ $and })),
    fc.array(tie("node"), { minLength: 1, maxLength: 3 }).map(($or) => ({ $or })),
    tie("node").map(($not) => ({ $not })),
  ),
})).node;
/** A filter within combinators, as deep as they may be, each with one more operand where it takes some. */
export const deepFilter: fc.Arbitrary<Node> = fc.oneof(
  within(leaf, limits.maxFilterDepth - 1),
  within(through, limits.maxFilterDepth - 1 - limits.relatedDepth),
  within(namedBy(within(leaf, limits.maxFilterDepth - 1 - limits.relatedDepth - 6)), 6),
  within(namedBy(namedBy(within(leaf, 7))), 0),
  within(sharedBy(namedBy(within(leaf, 7))), 0),
  within(sharedBy(within(leaf, limits.maxFilterDepth - 1 - limits.relatedDepth)), 0),
  within(sharedBy(through), limits.maxFilterDepth - 1 - 2 * limits.relatedDepth),
);

/** Within so many combinators. */
function within(innermost: fc.Arbitrary<Node>, depth: number): fc.Arbitrary<Node> {
  const around = fc.array(
    fc.record({
      combinator: fc.constantFrom("$and", "$or", "$not"),
      other: leaf,
      isFirst: fc.boolean(),
    }),
    { minLength: Math.min(12, depth), maxLength: depth },
  );
  return fc.tuple(innermost, around).map(([inner, all]) =>
    all.reduce<Node>((node, { combinator, other, isFirst }) => {
      if (combinator === "$not") return { $not: node };
      return { [combinator]: isFirst ? [node, other] : [other, node] };
    }, inner),
  );
}
export const sortable = Object.entries(byName).flatMap(([name, type]) =>
  type === "object" || type.endsWith("[]") ? [] : [name],
);
const dir = fc.constantFrom("asc" as const, "desc" as const);
const order = fc.oneof(
  dir,
  fc.record({ dir, nulls: fc.constantFrom("first" as const, "last" as const) }),
);
export const sorts = fc
  .uniqueArray(fc.constantFrom(...sortable, ...sortable.map((name) => `up.${name}`)), {
    maxLength: 3,
  })
  .chain((names) =>
    fc.record(Object.fromEntries(names.map((name) => [name, order]))),
  ) as fc.Arbitrary<Sorts>;

export interface Row extends Record<string, unknown> {
  readonly id: string;
  readonly is_deleted: boolean;
}

export interface Things {
  readonly connection: ServiceConnection;
  /** Stores rows for a tenant of their own, as they are. */
  store(tenant: string, bodies: readonly object[]): Promise<readonly Row[]>;
  close(): Promise<void>;
}

/** The id that a place stands for; one of nobody's where there are not so many. */
function idOf(body: object, ids: readonly string[]): string | null {
  const { up } = body as { readonly up?: number | null };
  return up === undefined || up === null ? null : (ids[up] ?? uuids[0] ?? null);
}

/** The rows, as the evaluator knows what each names and which name it. */
function relatedTo(rows: readonly Row[]): readonly Row[] {
  const related: Row[] = rows.map((row) => ({ ...row }));
  const live = related.filter((row) => !row.is_deleted);
  for (const row of related) {
    const id = row["up"] as string | null;
    const naming = live.filter((other) => String(other["up"]) === row.id);
    if (id !== null) row["up"] = new Reference(id, () => live.find((one) => one.id === id));
    row["$naming"] = { "things.up": naming };
  }
  return related;
}

/** A fresh database of an engine, with the table of things. */
export async function openThings(engine: TestEngine): Promise<Things> {
  const database = await engine.create();
  const settings = readSettings(
    { name: "query" },
    {
      DATABASE_URL: database.url,
      MIGRATE: "off",
      DATA_DIR: `/tmp/opwright-query-${process.pid}`,
    },
  );
  const connection = await connect(
    { name: "query" },
    { settings, folder: generated, log: silentLog },
  );
  // Every engine that the settings open can be migrated.
  await prepareContractTables(connection.database as unknown as MigrationTarget);
  return {
    connection,
    store: (tenant, bodies) =>
      connection.write("test.store", async ({ transaction }) => {
        const rows: Row[] = [];
        const ids = bodies.map(() => uuidv7());
        for (const [index, given] of bodies.entries()) {
          const content = { ...given, up: idOf(given, ids) };
          const createdAt = pools["date-time"]?.[index % 3] as string;
          const base = {
            id: ids[index] ?? "",
            rev: 1 + (index % 3),
            createdAt,
            lastUpdateAt: createdAt,
          };
          const isDeleted = index % 5 === 0;
          const stored = { ...base, isDeleted, ownerId: null, body: JSON.stringify(content) };
          await transaction.of(documentStore).insert(things, tenant, stored);
          const { id, rev } = base;
          rows.push({ ...content, id, rev, created_at: createdAt, is_deleted: isDeleted });
        }
        return relatedTo(rows);
      }),
    async close() {
      await connection.close();
      await database.drop();
    },
  };
}
