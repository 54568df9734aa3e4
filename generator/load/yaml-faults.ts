// What is wrong with the syntax of a file, in words of whoever wrote it. Only the first fault
// counts: what follows may come of it.
import type { Document, YAMLError } from "yaml";
import type { Finding } from "../diagnostics/diagnostics.js";

/** The findings of a document that the parser has read: one of its syntax, or one for each tag. */
export function yamlFaults(file: string, text: string, document: Document): readonly Finding[] {
  const errors = [...document.errors, ...document.warnings];
  const isTag = ({ code }: YAMLError): boolean => code === "TAG_RESOLVE_FAILED";
  const first = errors
    .filter((error) => !isTag(error))
    .toSorted((left, right) => left.pos[0] - right.pos[0])[0];
  if (first !== undefined) return [syntaxFault(file, text, first)];
  return errors.map((error) => ({
    code: "OPW005",
    message: sentence(error).toLowerCase(),
    at: { file, path: [], offset: error.pos[0] },
  }));
}

/** The parser's message without the place, which the finding has. */
function sentence({ message }: YAMLError): string {
  return (message.split("\n")[0] ?? "").replace(/ at line \d+.*$/, "");
}

function syntaxFault(file: string, text: string, error: YAMLError): Finding {
  const said = sentence(error);
  const [offset] = error.pos;
  const known = knownFault(text, error, said);
  return {
    code: "OPW001",
    message: said.charAt(0).toLowerCase() + said.slice(1),
    at: { file, path: [], offset },
    ...known,
    ...(known?.offset === undefined
      ? {}
      : { at: { file, path: [], offset: known.offset, length: known.length ?? 1 } }),
  };
}

interface KnownFault {
  readonly message?: string;
  readonly hint?: string;
  readonly offset?: number;
  readonly length?: number;
}

/** Slips that many people make, and what they are. */
function knownFault(text: string, error: YAMLError, said: string): KnownFault | undefined {
  const [offset] = error.pos;
  if (error.code === "MULTIPLE_DOCS") {
    const begin = text.slice(0, offset + 3).lastIndexOf("---");
    return {
      message: "a second YAML document begins here, and a file is one document",
      hint: "Put it into a file of its own: all files of the folder are read together. Or remove the line, if its sections are others.",
      ...(begin < 0 ? {} : { offset: begin, length: 3 }),
    };
  }
  if (error.code === "TAB_AS_INDENT")
    return {
      message: "a line is indented by a tab, which YAML does not allow",
      hint: "Indent it by spaces, two for each level.",
    };
  // The commonest slip: string[] is plain text in a block, and a bracket inside { }.
  if (/flow-seq-start/.test(said))
    return {
      message: 'inside { } an array type is written in quotes: "string[]"',
      hint: `Write \`"${wordAround(text, offset)}"\`, with the quotes.`,
    };
  // A pattern of cron, most of the time; what is behind the mark depends on it.
  if (/^\*(?:\/\d+)?(?= )/.test(text.slice(offset)) || /alias cannot be/i.test(said))
    return {
      message: "a text that begins with * is written in quotes",
      hint: 'Write `"*/15 * * * *"`, with the quotes.',
    };
  const unclosed = unclosedAt(text, error);
  if (unclosed !== undefined) return unclosed;
  const braced = wordAround(text, offset);
  if (/[^\s{},:[\]"']\{[\w]+\}|\{\w+\}[.\w]/.test(braced))
    return {
      message: "inside { } a text with braces of its own is written in quotes",
      hint: `Write \`"${braced}"\`, with the quotes.`,
    };
  if (error.code === "BAD_INDENT" || /same column/.test(said)) {
    const [, space = "", word = ""] = /^(\s*)([^\s:]*)/.exec(text.slice(offset)) ?? [];
    return {
      hint: "Begin it below the key that it belongs beside: both in one column.",
      offset: offset + space.length,
      length: Math.max(1, word.length),
    };
  }
  return undefined;
}

/** The text without a space around a place: with braces and brackets that belong to it. */
function wordAround(text: string, offset: number): string {
  const before = /[^\s,:]*$/.exec(text.slice(0, offset))?.[0] ?? "";
  const after = /^[^\s,]*/.exec(text.slice(offset))?.[0] ?? "";
  let depth = 0;
  let word = "";
  // A bracket that closes more than was opened stands around the text.
  for (const character of before.replace(/^[{[]+(?=[^}\]]*$)/, "") + after) {
    if (/[{[]/.test(character)) depth += 1;
    if (/[}\]]/.test(character)) depth -= 1;
    if (depth < 0) break;
    word += character;
  }
  return word;
}

/** Where what is never closed was opened. */
function unclosedAt(text: string, { code, pos, message }: YAMLError): KnownFault | undefined {
  if (/Missing closing ["']quote/.test(message)) {
    const mark = message.includes("Missing closing '") ? "'" : '"';
    return {
      message: `this ${mark} is never closed`,
      hint: `Close the text with ${mark}.`,
      offset: lastQuote(text, mark) ?? pos[0],
    };
  }
  const isOpen =
    /end with a|must be sufficiently indented/.test(message) || code === "MISSING_CHAR";
  const opened = isOpen ? lastOpened(text) : undefined;
  if (opened === undefined) return undefined;
  const mark = text[opened] ?? "{";
  const closing = mark === "{" ? "}" : "]";
  return {
    message: `this ${mark} is never closed`,
    hint: `Close it with ${closing} where what it holds ends.`,
    offset: opened,
  };
}

/** The mark that begins a text and that no other one closes. */
function lastQuote(text: string, mark: string): number | undefined {
  const tokens = /(?<=^|[\s,:[{])(?:"(?:[^"\\]|\\.)*"|'(?:[^']|'')*'|#[^\n]*|["'])/g;
  for (const { 0: token, index } of text.matchAll(tokens)) if (token === mark) return index;
  return undefined;
}

/** The last brace or bracket of a text that nothing closes; undefined if all are closed. */
function lastOpened(text: string): number | undefined {
  const open: number[] = [];
  const tokens = /"(?:[^"\\\n]|\\.)*"|'(?:[^'\n]|'')*'|(?<=^|\s)#[^\n]*|[{}[\]]/g;
  for (const { 0: token, index } of text.matchAll(tokens)) {
    if (token === "{" || token === "[") open.push(index);
    if (token === "}" || token === "]") open.pop();
  }
  return open.at(-1);
}
