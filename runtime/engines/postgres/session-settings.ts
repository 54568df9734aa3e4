// What every session with PostgreSQL has in common, whatever is set for its role or database: our
// statements, and the texts in which the server answers them, depend on it.
import { readStartupOptions, type SessionSetting } from "./startup-options.js";

/**
 * Settings by name. Each is what PostgreSQL has by default, so that a plain server behaves as
 * before. Not among them: `search_path`, by which operators choose the schema, and
 * `default_transaction_read_only`, by which they protect a database. What depends on the server or
 * on its own setting follows the connection: see `settleSession`.
 */
const settings: Readonly<Record<string, string>> = {
  // How values are written and read as text.
  DateStyle: "ISO, YMD",
  IntervalStyle: "postgres",
  TimeZone: "UTC",
  extra_float_digits: "1",
  bytea_output: "hex",
  xmlbinary: "base64",
  array_nulls: "on",
  quote_all_identifiers: "off",
  // What statements mean.
  standard_conforming_strings: "on",
  transform_null_equals: "off",
  row_security: "on",
  gin_fuzzy_search_limit: "0",
  // When statements fail.
  default_transaction_isolation: "read committed",
  default_transaction_deferrable: "off",
  lock_timeout: "0",
};

/**
 * The `options` of the startup packet: what the URL says (or else PGOPTIONS, as in every program of
 * PostgreSQL's), then our own. What is said last counts, and all of it counts more than what is set
 * for the role or the database.
 */
export function sessionOptions(given: string | undefined): string {
  const theirs = givenOptions(given);
  const ours = Object.entries(settings).map(
    ([name, value]) => `-c ${name}=${value.replaceAll(/[\\ ]/g, String.raw`\$&`)}`,
  );
  return [theirs, ...ours].filter((text) => text !== "").join(" ");
}

/** The URL's options, or else PGOPTIONS. */
function givenOptions(given: string | undefined): string {
  return given ?? process.env["PGOPTIONS"] ?? "";
}

/** The same settings, for sessions that have no startup packet of their own. */
export function sessionSettings(given: string | undefined): readonly SessionSetting[] {
  return [...readStartupOptions(givenOptions(given)), ...Object.entries(settings)];
}

/**
 * The first statement of every session. What was acknowledged survives a crash of the server, so
 * commits wait for its disk; for which standbys they wait, too, operators choose. Timeouts that
 * only later versions of PostgreSQL have can't be in the startup packet, which earlier ones would
 * refuse.
 */
export const settleSession = `SELECT
  set_config('synchronous_commit', coalesce(nullif(current_setting('synchronous_commit'), 'off'), 'on'), false),
  ${["idle_session_timeout", "transaction_timeout"]
    .map(
      (name) =>
        `CASE WHEN current_setting('${name}', true) IS NOT NULL THEN set_config('${name}', '0', false) END`,
    )
    .join(",\n  ")},
  current_setting('transaction_read_only') AS "readOnly"`;
