// What holds of the rows of a database, whoever wrote them and however they ended: looked at beneath the service.
import type { Bench } from "../../support/bench-database.js";
import type { TestEngine } from "../../support/engines.js";
import type { Ledger } from "./ledger.js";
import type { Reference, Version } from "./world.js";

interface Row {
  readonly tenant: string;
  readonly id: string;
  readonly rev: number;
  readonly isDeleted: boolean;
  readonly body: Readonly<Record<string, unknown>>;
}

/** What has been declared since the beginning. */
export interface InForce {
  /** References of each type that every version has had. */
  readonly references: ReadonlyMap<string, readonly Reference[]>;
  /** Types that some version has taken along with what they name. */
  readonly cascading: ReadonlySet<string>;
}

/** What is in force where a version runs beside those before it. */
export function inForce(version: Version, before?: InForce): InForce {
  const references = version.map(({ name, references: declared }) => {
    const known = before?.references.get(name) ?? declared;
    return [
      name,
      known.filter((one) => declared.some(({ member }) => member === one.member)),
    ] as const;
  });
  const cascading = version
    .filter((kind) => kind.references.some(({ onDelete }) => onDelete === "cascade"))
    .map(({ name }) => name);
  return {
    references: new Map(references),
    cascading: new Set([...(before?.cascading ?? []), ...cascading]),
  };
}

/** What does not hold, in words; nothing where all does. */
export async function brokenRules(
  { name: engine }: TestEngine,
  bench: Bench,
  version: Version,
  { references, cascading }: InForce,
  ledger: Ledger,
): Promise<readonly string[]> {
  const rows = new Map<string, readonly Row[]>();
  for (const { name } of version) rows.set(name, await rowsOf(bench, name));
  const broken = [...ledger.faults];
  for (const { name, unique } of version) {
    const all = rows.get(name) ?? [];
    for (const rule of unique) {
      const counted = rule.isOfLive ? all.filter(({ isDeleted }) => !isDeleted) : all;
      const keys = counted.flatMap(({ tenant, body }) => {
        const values = rule.fields.map((field) => body[field] ?? null);
        return values.includes(null) ? [] : [JSON.stringify([rule.isGlobal ? "" : tenant, values])];
      });
      for (const twice of keys.filter((key, at) => keys.indexOf(key) !== at))
        broken.push(`${name} has ${twice} twice, by ${rule.fields.join(" and ")}`);
    }
    for (const { member, target } of references.get(name) ?? []) {
      const live = new Set(
        rows.get(target)?.flatMap((row) => (row.isDeleted ? [] : [`${row.tenant} ${row.id}`])),
      );
      for (const { tenant, id, isDeleted, body } of all) {
        const named = body[member] ?? null;
        if (!isDeleted && named !== null && !live.has(`${tenant} ${String(named)}`))
          broken.push(`${member} of ${name} ${id} leads nowhere: ${String(named)}`);
      }
    }
    broken.push(
      ...(await untrue(bench, name, all, ledger, cascading)),
      ...(await indexFaults(engine, bench, name, all)),
    );
  }
  return broken;
}

/** What callers were told of documents of a type, and is not in the rows. */
async function untrue(
  bench: Bench,
  name: string,
  rows: readonly Row[],
  { told, removed, unwanted }: Ledger,
  cascading: ReadonlySet<string>,
): Promise<readonly string[]> {
  const byId = new Map(rows.map((row) => [row.id, row]));
  const kept = new Map(
    (await rowsOf(bench, `${name}_history`)).map((row) => [`${row.id} ${row.rev}`, row]),
  );
  const faults: string[] = [];
  for (const { type, id, rev, note, isDeleted } of told) {
    if (type !== name) continue;
    const row = byId.get(id);
    if (row === undefined) {
      if (![id, name].some((one) => unwanted.has(one)) && !cascading.has(name))
        faults.push(`${name} ${id} is gone, and nobody removed it`);
      continue;
    }
    if (removed.has(id)) faults.push(`${name} ${id} was removed, and is there`);
    if (row.rev < rev) faults.push(`${name} ${id} is at ${row.rev}, but ${rev} was told`);
    const then = row.rev === rev ? row : kept.get(`${id} ${rev}`);
    if (then === undefined || then.body["note"] !== note || then.isDeleted !== isDeleted)
      faults.push(`${name} ${id} at ${rev} is not what was told: ${JSON.stringify(then?.body)}`);
  }
  for (const key of kept.keys())
    if (!byId.has(key.split(" ")[0] ?? "")) faults.push(`${name} has a history of none: ${key}`);
  return faults;
}

/** How the index of a type's search differs from its rows. */
async function indexFaults(
  engine: TestEngine["name"],
  bench: Bench,
  name: string,
  rows: readonly Row[],
): Promise<readonly string[]> {
  const found = await bench.query(
    engine === "sqlite"
      ? `SELECT d."id", s."t0" FROM "${name}_search_index" s LEFT JOIN "${name}" d ON d.rowid = s.rowid`
      : `SELECT "id"::text, "t0" FROM "${name}_search_index"`,
  );
  const entry = (id: unknown, text: unknown): string => `${String(id)} ${String(text).trim()}`;
  const entries = found.map((one) => entry(one["id"], one["t0"])).toSorted();
  const expected = rows.map(({ id, body }) => entry(id, body["note"])).toSorted();
  return [
    ...entries.filter((one) => !expected.includes(one)).map((one) => `${name}_search has ${one}`),
    ...expected.filter((one) => !entries.includes(one)).map((one) => `${name}_search lacks ${one}`),
  ];
}

async function rowsOf(bench: Bench, table: string): Promise<readonly Row[]> {
  const found = await bench.query(
    `SELECT "tenant_id", "id", "rev", "is_deleted", "body" FROM "${table}"`,
  );
  return found.map((row) => {
    const body: unknown = row["body"];
    return {
      tenant: String(row["tenant_id"]),
      id: String(row["id"]),
      rev: Number(row["rev"]),
      isDeleted: row["is_deleted"] === true || row["is_deleted"] === 1,
      body: (typeof body === "string" ? JSON.parse(body) : body) as Row["body"],
    };
  });
}
