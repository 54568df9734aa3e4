// Excerpts of files on a terminal: cut to a width, and without control characters.
import { obeyed } from "../project/markdown.js";
import type { SourcePosition } from "../load/locate.js";

/** The widest line of an excerpt. */
const widest = 200;

/** A line of the same length, in which a mark replaces each control character. */
export function visible(line: string): string {
  return line.replaceAll("\t", " ").replaceAll(obeyed, "\ufffd");
}

/** A text cut to so many characters. */
export function cut(text: string, most: number): string {
  return text.length <= most ? text : `${text.slice(0, most)}…`;
}

/**
 * The lines of a code frame: the line before, the line of the place, and below it what marks the
 * place.
 */
export function codeFrame(
  { line, col, length }: SourcePosition,
  text: string | undefined,
  paintMarker: (marker: string) => string,
): readonly string[] {
  const written = text?.split(/\r?\n/) ?? [];
  const marked = written[line - 1];
  if (marked === undefined) return [];
  // A place far to the right is shown with the text around it.
  const start = col + length > widest && marked.length > widest ? col - widest / 2 : 0;
  const before = start === 0 ? "" : "…";
  const shown = (whole: string): string =>
    before + cut(visible(whole.slice(start, start + widest + 1)), widest);
  const number = String(line);
  const indent = " ".repeat(before.length + col - 1 - start);
  const wide = Math.max(1, Math.min(length, marked.length - col + 1, start + widest - col + 1));
  const gutter = (of: string): string => `  ${of.padStart(number.length)} |`;
  return [
    ...(line > 1 ? [`${gutter(String(line - 1))} ${shown(written[line - 2] ?? "")}`] : []),
    `${gutter(number)} ${shown(marked)}`,
    `${gutter("")} ${paintMarker(indent + "^".repeat(wide))}`,
  ].map((one) => one.trimEnd());
}
