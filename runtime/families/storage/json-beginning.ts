// Whether a text begins as JSON does (RFC 8259), for files of which only the beginning is looked
// at.

const token =
  /\s*(?:([[\]{},:])|("(?:[^"\\\u0000-\u001f]|\\.)*")|(-?(?:0|[1-9]\d*)(?:\.\d+)?(?:e[+-]?\d+)?|true|false|null)(?![\w.+-]))/iy;

/** Whether the text is JSON, or if it is not whole, begins as JSON may. */
export function parsesAsJson(text: string, isWhole: boolean): boolean {
  if (isWhole) {
    try {
      JSON.parse(text);
      return true;
    } catch {
      return false;
    }
  }
  const nesting: string[] = [];
  token.lastIndex = 0;
  for (let count = 0; ; count += 1) {
    const at = token.lastIndex;
    const found = token.exec(text);
    // The last token may be cut; nothing else is left open.
    if (found === null) return isCut(text.slice(at)) && (count === 0 || nesting.length > 0);
    const [, mark] = found;
    if (count > 0 && nesting.length === 0) return false;
    if (mark === "{" || mark === "[") nesting.push(mark);
    else if (mark === "}" || mark === "]") {
      if (nesting.pop() !== (mark === "}" ? "{" : "[")) return false;
    } else if (nesting.length === 0) return false;
  }
}

/** Whether a token that the text ends with may go on behind its end. */
function isCut(rest: string): boolean {
  return /^\s*(?:"(?:[^"\\\u0000-\u001f]|\\.)*\\?|[-\w.+]*)$/i.test(rest);
}
