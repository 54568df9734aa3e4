// The rule that names in SQL differ.
import { maxSqlNameBytes } from "../../runtime/contract/sql-names.js";
import { families } from "../families/index.js";
import type { SqlClaim } from "../kernel/family.js";
import type { RuleContext } from "../kernel/rule.js";

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
  return Buffer.byteLength(name) > maxSqlNameBytes
    ? `${needs}, which is longer than ${maxSqlNameBytes} bytes`
    : undefined;
}
