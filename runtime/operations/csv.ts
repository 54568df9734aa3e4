// CSV (RFC 4180): a line for each row, with a line of names in front.

/**
 * Rows as CSV with these columns, in their order, below a line of their names unless there is no
 * `header`. Null and what is absent are empty, objects are
 * JSON. A text that a spreadsheet would take for a formula begins with an apostrophe.
 */
export function csvText<Row extends object>(
  columns: readonly (keyof Row & string)[],
  rows: Iterable<Row>,
  { header = true }: { readonly header?: boolean } = {},
): string {
  let text = header ? lineOf(columns) : "";
  for (const row of rows) text += lineOf(columns.map((column) => row[column]));
  return text;
}

function lineOf(values: readonly unknown[]): string {
  return `${values.map(cellOf).join(",")}\r\n`;
}

function cellOf(value: unknown): string {
  if (value === null || value === undefined) return "";
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  const text = typeof value === "string" ? value : JSON.stringify(value);
  // OWASP "CSV Injection": numbers are no formulas, and were printed above.
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
