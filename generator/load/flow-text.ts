// A value as it is written inside a line of YAML, for examples in findings.
import { isMap } from "./shape.js";

/** A text that needs no quotation marks, in braces and brackets as well. */
const plain = /^[A-Za-z_/$][\w\-./*$#@|?]*$/;

/** `{at: /todo, include: [get]}`; what is long ends with an ellipsis. */
export function flowText(value: unknown): string {
  if (Array.isArray(value)) return `[${shortenParts(value.map(flowText))}]`;
  if (isMap(value))
    return `{${shortenParts(Object.entries(value).map(([key, inner]) => `${key}: ${flowText(inner)}`))}}`;
  if (typeof value !== "string") return String(value);
  return plain.test(value) && !wordsOfYaml.test(value) ? value : JSON.stringify(value);
}

/** A value in a message: texts in quotes. */
export function shownValue(value: unknown): string {
  return typeof value === "string" ? JSON.stringify(value) : flowText(value);
}

/** What YAML takes for another value than a text. */
const wordsOfYaml = /^(?:true|false|null)$/i;

const mostShown = 6;

function shortenParts(parts: readonly string[]): string {
  const shown = parts.slice(0, mostShown);
  return [...shown, ...(parts.length > mostShown ? ["…"] : [])].join(", ");
}
