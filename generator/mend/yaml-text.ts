// A text as YAML has it between brackets or behind a key: without quotation marks where it stays a
// text without them.
import { parseDocument } from "yaml";

export function plainOrQuoted(text: string): string {
  const isPlain = /^[\w/$(][^\n"'\\]*$/.test(text) && isReadAs(text, text);
  return isPlain ? text : JSON.stringify(text);
}

/** Whether a text of YAML is read as this value, alone and between brackets. */
export function isReadAs(text: string, value: unknown): boolean {
  return [`${text}\n`, `[${text}]\n`].every((whole, at) => {
    const document = parseDocument(whole, { version: "1.2", schema: "core", prettyErrors: false });
    if (document.errors.length + document.warnings.length > 0) return false;
    const read: unknown = document.toJS();
    return JSON.stringify(at === 0 ? read : (read as unknown[])[0]) === JSON.stringify(value);
  });
}
