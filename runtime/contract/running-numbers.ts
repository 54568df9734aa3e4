// Formats of running numbers such as `INV-{year}-{0000}`: read when a registry is checked, and
// printed when a document gets its number.

/** A part of a format: text, a value by its name, or the number with at least so many digits. */
export type NumberPart =
  | { readonly text: string }
  | { readonly name: string }
  | { readonly digits: number };

/** Parts of a date that a format may name, and that numbers may begin anew with. */
export const dateParts = ["year", "month", "day"] as const;

const placeholder = /\{(0+|[A-Za-z_][\w-]*)\}/;

/**
 * The parts of a format. Null if it has braces that are no placeholders, or doesn't have the number
 * exactly once.
 */
export function readNumberFormat(format: string): readonly NumberPart[] | null {
  // A split by a pattern with a group has what the group matched at its odd places.
  const parts = format.split(placeholder).map((piece, at): NumberPart => {
    if (at % 2 === 0) return { text: piece };
    return piece.startsWith("0") ? { digits: piece.length } : { name: piece };
  });
  const isOdd = parts.some((part) => "text" in part && /[{}]/.test(part.text));
  const counted = parts.filter((part) => "digits" in part);
  return isOdd || counted.length !== 1 ? null : parts;
}

/** The text of a number; `values` has what the format names. */
export function printNumber(
  parts: readonly NumberPart[],
  value: number,
  values: Readonly<Record<string, string>>,
): string {
  return parts
    .map((part) => {
      if ("text" in part) return part.text;
      return "name" in part ? (values[part.name] ?? "") : String(value).padStart(part.digits, "0");
    })
    .join("");
}

/** Year, month and day of a time (RFC 3339) in a time zone, in digits as dates have them. */
export function datePartsOf(time: string, timezone: string): Readonly<Record<string, string>> {
  const parts = formatOf(timezone).formatToParts(new Date(time));
  return Object.fromEntries(
    parts.flatMap(({ type, value }) =>
      dateParts.some((part) => part === type) ? [[type, value]] : [],
    ),
  );
}

const formats = new Map<string, Intl.DateTimeFormat>();

/** Making one takes longer than using it, and registries name few time zones. */
function formatOf(timezone: string): Intl.DateTimeFormat {
  const known = formats.get(timezone);
  if (known !== undefined) return known;
  const format = new Intl.DateTimeFormat("en", {
    timeZone: timezone,
    calendar: "gregory",
    numberingSystem: "latn",
    year: "numeric",
    month: "2-digit",
    day: "2-digit",
  });
  formats.set(timezone, format);
  return format;
}
