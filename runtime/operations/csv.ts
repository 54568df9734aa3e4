// CSV (RFC 4180): a line for each row, with a line of names in front.

/**
 * Rows as CSV with these columns, in their order, below a line of their names unless there is no
 * `header`. Null and what is absent are empty, objects are JSON. A text that a spreadsheet would
 * take for a formula begins with an apostrophe.
 */
export function csvText<Row extends object>(
  columns: readonly (keyof Row & string)[],
  rows: Iterable<Row>,
  { header = true }: { readonly header?: boolean } = {},
): string {
  let text = header ? csvHeader(columns) : "";
  for (const row of rows) text += csvRow(columns, row);
  return text;
}

/** The line of names. */
export function csvHeader(columns: readonly string[]): string {
  return lineOf(columns);
}

/** The line of a row with these columns, in their order. */
export function csvRow<Row extends object>(
  columns: readonly (keyof Row & string)[],
  row: Row,
): string {
  return lineOf(columns.map((column) => row[column]));
}

function lineOf(values: readonly unknown[]): string {
  return `${values.map(cellOf).join(",")}\r\n`;
}

function cellOf(value: unknown): string {
  if (value === null || value === undefined) return "";
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  const text = typeof value === "string" ? value : JSON.stringify(value);
  // OWASP "CSV Injection": numbers are no formulas, and were printed above.
  const safe = /^[=+\-@\t\r\n＝＋－＠]/u.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
