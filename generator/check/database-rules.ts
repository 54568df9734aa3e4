// Rules over tables, indexes and what migrations can follow.
import type { FieldType } from "../../runtime/contract/fields.js";
import { conversionsIn } from "../../runtime/contract/shapes.js";
import { storedMembers } from "../database/shape-history.js";
import { databaseOf, type TableSchema } from "../database/schema.js";
import { families } from "../families/index.js";
import type { SqlClaim } from "../kernel/family.js";
import { documentMemberAt } from "../load/member-places.js";
import { own } from "../model/records.js";
import type { RuleContext } from "./rule-context.js";

/** PostgreSQL truncates longer names, so that two could become one. */
const maxNameBytes = 63;

/** Tables, history tables and indexes share one name space; some names belong to the engines. */
export function sqlNamesDiffer({ loaded: { tree }, expanded, report }: RuleContext): void {
  const claims = families.flatMap((family) => family.claims(expanded.model, tree));
  const taken = new Map<string, SqlClaim>();
  for (const claim of claims) {
    // SQLite does not tell capitals from small letters.
    const key = claim.name.toLowerCase();
    const message = nameFault(claim, taken.get(key));
    if (message !== undefined) report({ code: "OPW036", message, at: claim.at });
    taken.set(key, claim);
  }
  // PostgreSQL names primary keys itself.
  for (const { name, what, at, isTable } of claims) {
    const other = isTable ? taken.get(`${name}_pkey`) : undefined;
    if (other === undefined) continue;
    const message = `the primary key of ${what} needs the name ${name}_pkey in SQL, which ${other.what} has`;
    report({ code: "OPW036", message, at });
  }
}

function nameFault({ name, what }: SqlClaim, taken: SqlClaim | undefined): string | undefined {
  const needs = `${what} needs the name ${name} in SQL`;
  if (taken !== undefined)
    return taken.what === what
      ? `${what} is there twice`
      : `${needs}, which ${taken.what} has${taken.name === name ? "" : ` as ${taken.name}`}`;
  if (/^(?:sqlite_|opwright_|pg_)/.test(name)) return `${needs}, which is reserved`;
  return Buffer.byteLength(name) > maxNameBytes
    ? `${needs}, which is longer than ${maxNameBytes} bytes`
    : undefined;
}

/** What a table was created with must still be so, or a migration would fail on stored rows. */
export function databaseCanFollow(context: RuleContext): void {
  const { loaded, expanded, database, report } = context;
  const { tables } = databaseOf(expanded.model, database);
  for (const { name, table } of Object.values(expanded.model.documents)) {
    const [before, after] = [own(database.tables, table), own(tables, table)];
    if (before === undefined || after === undefined) continue;
    for (const { message, field } of databaseFaults(name, before, after)) {
      const { tree } = loaded;
      const at =
        field === null ? tree.at("documents", name, "tenant") : documentMemberAt(tree, name, field);
      report({ code: "OPW035", message, at });
    }
  }
}

/** What no migration can follow: a change of a field, or of whose the documents are. */
interface DatabaseFault {
  readonly field: string | null;
  readonly message: string;
}

function databaseFaults(
  document: string,
  before: TableSchema,
  after: TableSchema,
): readonly DatabaseFault[] {
  const tenant =
    before.tenant === after.tenant
      ? []
      : [
          {
            field: null,
            message: `${document} was ${before.tenant ? "partitioned by tenant" : "global"} when its table was made`,
          },
        ];
  const indexed = Object.entries(indexedTypes(after)).flatMap(([field, type]) => {
    const old = own(indexedTypes(before), field);
    const isSame = old === undefined || comparesAs(old) === comparesAs(type);
    const message = `${document} has an index over ${field}, which was ${old} and is now ${type}`;
    return isSame ? [] : [{ field, message }];
  });
  const stored = new Set([
    ...storedMembers(before),
    ...Object.keys(after.shape === undefined ? {} : conversionsIn(after.shape)),
  ]);
  const required = after.required
    .filter((field) => !stored.has(field) && !Object.hasOwn(after.members, field))
    .map((field) => ({
      field,
      message: `documents of ${document} that are stored already have no ${field}; give it a default or make it nullable`,
    }));
  return [...tenant, ...indexed, ...required];
}

function indexedTypes({ indexes }: TableSchema): Readonly<Record<string, FieldType>> {
  const fields = Object.values(indexes).flatMap((index) => index.fields);
  return Object.fromEntries(fields.map(({ path, type }) => [path, type]));
}

function comparesAs(type: FieldType): string {
  return type === "integer" || type === "number"
    ? "number"
    : type === "boolean"
      ? "boolean"
      : "text";
}
