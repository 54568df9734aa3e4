// The query language in plain TypeScript: what every engine must answer, written from decisions.md and not from the engines.

type Json = unknown;
type Row = Readonly<Record<string, Json>>;
type Node = Readonly<Record<string, Json>>;

const isObject = (value: Json): value is Node =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** A value that names a row: it is the id of that, and leads to it where it is visible. */
export class Reference {
  readonly id: string;
  readonly #row: () => Row | undefined;

  constructor(id: string, row: () => Row | undefined) {
    this.id = id;
    this.#row = row;
  }

  get row(): Row | null {
    return this.#row() ?? null;
  }

  toString(): string {
    return this.id;
  }
}

/** The value at a dotted path; null where there is none. */
export function valueAt(row: Row, path: string): Json {
  let value: Json = row;
  for (const step of path.split(".")) {
    const at = value instanceof Reference ? value.row : value;
    value = isObject(at) ? (at[step] ?? null) : null;
  }
  return value instanceof Reference ? value.id : value;
}

/** Less than zero, zero, or more; texts by code point, false before true. */
export function compare(left: Json, right: Json): number {
  if (typeof left === "string" && typeof right === "string")
    return Buffer.compare(Buffer.from(left), Buffer.from(right));
  return Number(left) - Number(right);
}

/** Whether a row passes a filter as clients send it. */
export function passes(row: Row, filter: Node): boolean {
  if ("$and" in filter)
    return (filter["$and"] as readonly Node[]).every((node) => passes(row, node));
  if ("$or" in filter) return (filter["$or"] as readonly Node[]).some((node) => passes(row, node));
  if ("$not" in filter) return !passes(row, filter["$not"] as Node);
  const values = Object.entries((filter["$values"] ?? {}) as Node);
  const fields = Object.entries((filter["$fields"] ?? {}) as Node);
  const naming = Object.entries((filter["$exists"] ?? {}) as Node);
  return (
    naming.every(([name, asked]) =>
      rowsNaming(row, name).some((one) => passes(one, asked as Node)),
    ) &&
    values.every(([path, operand]) => holds(valueAt(row, path), operand)) &&
    fields.every(([path, operators]) =>
      Object.entries(operators as Node).every(([operator, other]) =>
        holds(valueAt(row, path), { [operator]: valueAt(row, String(other)) }),
      ),
    )
  );
}

/** The visible rows that name a row, by `things.up`, or what a member of it names, by `up.things.up`. */
function rowsNaming(row: Row, name: string): readonly Row[] {
  const [member = "", ...rest] = name.split(".");
  if (rest.length === 1)
    return (row["$naming"] as Readonly<Record<string, readonly Row[]>>)[name] ?? [];
  const named = row[member];
  const at = named instanceof Reference ? named.row : null;
  return at === null ? [] : rowsNaming(at, rest.join("."));
}

/** Whether a value satisfies a literal, a list, null, or every operator of an object. */
function holds(value: Json, operand: Json): boolean {
  if (operand === null) return value === null;
  if (Array.isArray(operand)) return operandHolds(value, "$in", operand);
  if (!isObject(operand)) return operandHolds(value, "$eq", operand);
  return Object.entries(operand).every(([operator, given]) => operandHolds(value, operator, given));
}

function operandHolds(value: Json, operator: string, given: Json): boolean {
  if (operator === "$null") return (value === null) === given;
  // Nothing but $null holds for null; nothing holds against null, which only $fields can ask for.
  const isQuantifier = operator === "$any" || operator === "$all" || operator === "$none";
  if (value === null || (given === null && !isQuantifier)) return false;
  const list = given as readonly Json[];
  const items = value as readonly Json[];
  switch (operator) {
    case "$eq":
      return equal(value, given);
    case "$neq":
      return !equal(value, given);
    case "$gt":
      return compare(value, given) > 0;
    case "$gte":
      return compare(value, given) >= 0;
    case "$lt":
      return compare(value, given) < 0;
    case "$lte":
      return compare(value, given) <= 0;
    case "$in":
      return list.includes(value);
    case "$nin":
      return !list.includes(value);
    case "$like":
      return alternatives(given).some((pattern) => like(pattern).test(String(value)));
    case "$ilike":
      return alternatives(given).some((pattern) =>
        like(folded(pattern)).test(folded(String(value))),
      );
    case "$regex":
      return alternatives(given).some((pattern) => new RegExp(pattern, "su").test(String(value)));
    case "$descendant_of":
      return value === given || String(value).startsWith(`${String(given)}.`);
    case "$ancestor_of":
      return value === given || String(given).startsWith(`${String(value)}.`);
    case "$empty":
      return (items.length === 0) === given;
    case "$superset":
      return list.every((item) => items.includes(item));
    case "$subset":
      return items.every((item) => list.includes(item));
    case "$overlaps":
      return items.some((item) => list.includes(item));
    case "$disjoint":
      return !items.some((item) => list.includes(item));
    case "$any":
      return items.some((item) => elementHolds(item, given));
    case "$all":
      return items.every((item) => elementHolds(item, given));
    case "$none":
      return !items.some((item) => elementHolds(item, given));
    default:
      throw new Error(`no operator ${operator}`);
  }
}

/** Whether an element of an array satisfies a constraint; an object does where its members do. */
function elementHolds(element: Json, given: Json): boolean {
  if (!isObject(element)) return holds(element, given);
  return Object.entries(given as Node).every(([path, operand]) =>
    holds(valueAt(element, path), operand),
  );
}

/** Equality; of objects by their members, where null and absent are one. */
function equal(left: Json, right: Json): boolean {
  if (!isObject(left) && !isObject(right)) return left === right;
  const [one, other] = [left ?? {}, right ?? {}] as [Node, Node];
  const names = new Set([...Object.keys(one), ...Object.keys(other)]);
  return [...names].every((name) => equal(one[name] ?? null, other[name] ?? null));
}

function alternatives(given: Json): readonly string[] {
  return (Array.isArray(given) ? given : [given]) as readonly string[];
}

/** The letters A to Z in lower case. */
function folded(text: string): string {
  return text.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase());
}

/** SQL's LIKE: `%` is anything, `_` one character, a backslash takes the next one as it is. */
function like(pattern: string): RegExp {
  const source = pattern.replaceAll(/\\[\s\S]|[\s\S]/gu, (token) => {
    if (token === "%") return ".*";
    if (token === "_") return ".";
    const character = token.length > 1 && token.startsWith("\\") ? token.slice(1) : token;
    return `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
  });
  return new RegExp(`^${source}$`, "su");
}

export type Sorts = Readonly<
  Record<
    string,
    "asc" | "desc" | { readonly dir: "asc" | "desc"; readonly nulls?: "first" | "last" }
  >
>;

/** The rows that pass, in order; `id` decides what is left. */
export function select<R extends Row>(
  rows: readonly R[],
  filter: Node,
  sorts: Sorts,
): readonly R[] {
  const keys = Object.entries({
    ...sorts,
    ...(Object.hasOwn(sorts, "id") ? {} : { id: "asc" }),
  } as Sorts);
  return rows
    .filter((row) => passes(row, filter))
    .toSorted((left, right) => {
      for (const [path, order] of keys) {
        const dir = typeof order === "string" ? order : order.dir;
        const usual = dir === "asc" ? "first" : "last";
        const nulls = typeof order === "string" ? usual : (order.nulls ?? usual);
        const [one, other] = [valueAt(left, path), valueAt(right, path)];
        if (one === null && other === null) continue;
        if (one === null || other === null) return (one === null) === (nulls === "first") ? -1 : 1;
        const difference = compare(one, other) * (dir === "asc" ? 1 : -1);
        if (difference !== 0) return difference;
      }
      return 0;
    });
}

export interface AggregateRequest {
  readonly $groups?: Readonly<
    Record<
      string,
      | string
      | {
          readonly $trunc: {
            readonly field: string;
            readonly unit: string;
            readonly timezone: string;
          };
        }
    >
  >;
  readonly $computed?: Readonly<Record<string, Node>>;
  readonly $having?: Node;
}

/** The groups of the rows that pass, with what is computed of each. Numbers may differ in their last bits. */
export function aggregate(
  rows: readonly Row[],
  filter: Node,
  { $groups = {}, $computed = {}, $having = {} }: AggregateRequest,
  sorts: Sorts,
): readonly Row[] {
  const groups = new Map<string, { readonly key: Row; readonly rows: Row[] }>();
  for (const row of rows.filter((one) => passes(one, filter))) {
    const key = Object.fromEntries(
      Object.entries($groups).map(([alias, group]) => [
        alias,
        typeof group === "string"
          ? valueAt(row, group)
          : truncated(valueAt(row, group.$trunc.field), group.$trunc.unit, group.$trunc.timezone),
      ]),
    );
    const name = JSON.stringify(key);
    const group = groups.get(name) ?? { key, rows: [] };
    group.rows.push(row);
    groups.set(name, group);
  }
  if (Object.keys($groups).length === 0 && groups.size === 0) groups.set("", { key: {}, rows: [] });
  const answers = [...groups.values()].map(({ key, rows: members }) => ({
    ...key,
    ...Object.fromEntries(
      Object.entries($computed).map(([alias, spec]) => [alias, compute(members, spec)]),
    ),
  }));
  const rest = Object.fromEntries(
    Object.keys($groups)
      .filter((alias) => !Object.hasOwn(sorts, alias))
      .map((alias) => [alias, "asc" as const]),
  );
  const kept = answers.filter((answer) => passes(answer, { $values: $having }));
  // `select` puts an id behind the sorts; groups have none, and all of them are sorted by.
  return select(kept, {}, { ...sorts, ...rest });
}

function compute(rows: readonly Row[], spec: Node): Json {
  const [[name = "", given] = []] = Object.entries(spec);
  const {
    field,
    filter = {},
    p = 0.5,
  } = (typeof given === "string" ? { field: given } : given) as {
    readonly field?: string;
    readonly filter?: Node;
    readonly p?: number;
  };
  const members = rows.filter((row) => passes(row, filter));
  if (field === undefined) return members.length;
  const values = members.map((row) => valueAt(row, field)).filter((value) => value !== null);
  const numbers = (values as unknown as readonly number[]).toSorted((left, right) => left - right);
  const sum = numbers.reduce((total, value) => total + value, 0);
  const mean = sum / numbers.length;
  const squares = numbers.reduce((total, value) => total + (value - mean) ** 2, 0);
  switch (name) {
    case "$count_distinct":
      return new Set(values).size;
    case "$min":
      return values.toSorted(compare)[0] ?? null;
    case "$max":
      return values.toSorted(compare).at(-1) ?? null;
    case "$sum":
      return numbers.length === 0 ? null : sum;
    case "$avg":
      return numbers.length === 0 ? null : mean;
    case "$median":
    case "$percentile": {
      if (numbers.length === 0) return null;
      const place = p * (numbers.length - 1);
      const low = numbers[Math.floor(place)] ?? 0;
      return low + ((numbers[Math.ceil(place)] ?? 0) - low) * (place - Math.floor(place));
    }
    case "$var_pop":
      return numbers.length === 0 ? null : squares / numbers.length;
    case "$var_samp":
      return numbers.length < 2 ? null : squares / (numbers.length - 1);
    case "$stddev_pop":
      return numbers.length === 0 ? null : Math.sqrt(squares / numbers.length);
    case "$stddev_samp":
      return numbers.length < 2 ? null : Math.sqrt(squares / (numbers.length - 1));
    default:
      throw new Error(`no function ${name}`);
  }
}

/** The local beginning of the period of a date or an instant. */
function truncated(value: Json, unit: string, timezone: string): Json {
  if (value === null) return null;
  const text = String(value);
  const parts = Object.fromEntries(
    new Intl.DateTimeFormat("en-CA", {
      timeZone: text.includes("T") ? timezone : "UTC",
      year: "numeric",
      month: "2-digit",
      day: "2-digit",
      hour: "2-digit",
      hourCycle: "h23",
    })
      .formatToParts(new Date(text))
      .map(({ type, value: part }) => [type, part]),
  );
  const { year, month, day, hour } = parts;
  if (unit === "hour") return `${year}-${month}-${day}T${hour}:00:00`;
  if (unit === "month") return `${year}-${month}-01T00:00:00`;
  const date = new Date(`${year}-${month}-${day}T00:00:00Z`);
  if (unit === "week") date.setUTCDate(date.getUTCDate() - ((date.getUTCDay() + 6) % 7));
  return date.toISOString().slice(0, 19);
}
