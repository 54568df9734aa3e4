// Annotations, which GitHub Actions reads from stdout (workflow commands).
import type { SourcePosition } from "../load/locate.js";

/**
 * One annotation, with its newline. Lines and columns count from 1; `endCol` is the column after
 * the last character.
 */
export function githubAnnotation(
  command: "error" | "warning" | "notice",
  { file, line, col, endCol }: Omit<SourcePosition, "length"> & { readonly endCol?: number },
  title: string,
  message: string,
): string {
  const end = endCol === undefined ? "" : `,endColumn=${endCol}`;
  const place = `file=${property(file)},line=${line},col=${col}${end}`;
  return `::${command} ${place},title=${property(title)}::${escapeProperty(message)}\n`;
}

function escapeProperty(text: string): string {
  return text.replaceAll("%", "%25").replaceAll("\r", "%0D").replaceAll("\n", "%0A");
}

function property(text: string): string {
  return escapeProperty(text).replaceAll(":", "%3A").replaceAll(",", "%2C");
}
