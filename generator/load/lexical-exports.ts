// Exports that plain text already tells: `export const name = (…) =>` and `export function name(…)`
// at the start of a line. Loading a compiler for these costs more than the whole of a large
// generation.
import type { ExportFacts } from "./module-facts.js";

/**
 * The functions that the text surely exports. A name that is missing here may still be exported in
 * another way.
 */
export function lexicalExports(text: string): readonly ExportFacts[] {
  const declaration =
    /^export (?:(?:async )?function (\w+)|const (\w+)(?:: (\w+))? = (?:async )?)(?=\()/dgm;
  return [...text.matchAll(declaration)].flatMap((match): readonly ExportFacts[] => {
    const name = match[1] ?? match[2] ?? "";
    const open = match.index + match[0].length;
    const parameters = parametersAt(text, open);
    const isArrow = match[2] !== undefined;
    if (parameters === undefined || (isArrow && !/^\s*(?::|=>)/.test(text.slice(parameters.end))))
      return [];
    return [
      {
        name,
        kind: "function",
        requiredParameters: parameters.texts.filter(isRequired).length,
        annotation: match[3] ?? null,
        offset: (match.indices?.[1] ?? match.indices?.[2])?.[0] ?? match.index,
      },
    ];
  });
}

/**
 * The parameters of the list that opens at `open`, and where the text goes on; undefined if it
 * does not close.
 */
function parametersAt(
  text: string,
  open: number,
): { readonly texts: readonly string[]; readonly end: number } | undefined {
  const texts: string[] = [];
  let depth = 0;
  let start = open + 1;
  for (let index = open; index < text.length; index += 1) {
    const character = text.charAt(index);
    if ("\"'`/".includes(character)) return undefined;
    if ("([{<".includes(character)) depth += 1;
    if (")]}".includes(character) || (character === ">" && text.charAt(index - 1) !== "="))
      depth -= 1;
    if (depth === 0 || (depth === 1 && character === ",")) {
      texts.push(text.slice(start, index).trim());
      start = index + 1;
    }
    if (depth === 0)
      return { texts: texts.filter((parameter) => parameter !== ""), end: index + 1 };
  }
  return undefined;
}

function isRequired(parameter: string): boolean {
  const name = /^(?:\w+|\{[^]*?\}|\[[^]*?\])/.exec(parameter)?.[0] ?? parameter;
  return (
    !parameter.startsWith("...") &&
    !parameter.slice(name.length).startsWith("?") &&
    !/(?<![=<>!])=(?![=>])/.test(parameter.slice(name.length))
  );
}
