// A value as a table shows it.
import type { JSX } from "preact";

/** Characters of a value in a cell. */
const mostCharacters = 80;

/** A moment in the reader's own time zone, which the console names once (navigation.tsx). */
export function momentText(moment: string | number): string {
  return new Date(moment).toLocaleString();
}

/** A value in few characters. */
export function Value({ value }: { readonly value: unknown }): JSX.Element {
  if (value === null || value === undefined) return <span class="quiet">—</span>;
  if (typeof value === "boolean")
    return <span class={value ? "badge strong" : "badge"}>{String(value)}</span>;
  if (Array.isArray(value) && value.length > 0 && value.every((one) => typeof one === "string"))
    return <span>{value.join(", ")}</span>;
  const text = typeof value === "string" ? value : JSON.stringify(value);
  if (/^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(text))
    return (
      <time dateTime={text} title={text}>
        {momentText(text)}
      </time>
    );
  const cut = text.length > mostCharacters ? `${text.slice(0, mostCharacters)}…` : text;
  return typeof value === "object" ? <code>{cut}</code> : <span>{cut}</span>;
}
