// The parts of a code, so that it can have colours. One pattern does for what pages show: JSON,
// TypeScript and commands of a shell.

export interface CodePart {
  /** `name` of a member, `text`, `value`, `word` of the language; null for all the rest. */
  readonly kind: "name" | "text" | "value" | "word" | null;
  readonly text: string;
}

/** Characters up to which a code is looked through. */
const mostCharacters = 50_000;

const pattern = new RegExp(
  [
    String.raw`(?<name>"(?:\\.|[^"\\\n])*"(?=\s*:)|^\s*[A-Za-z_]\w*(?=: ))`,
    String.raw`(?<text>"(?:\\.|[^"\\\n])*"|'[^']*')`,
    String.raw`\b(?<word>await|const|curl|export|from|import|new)\b(?! *:)`,
    String.raw`(?<value>(?<![\w.-])-?\d+(?:\.\d+)?(?![\w.-])|\b(?:true|false|null)\b)`,
  ].join("|"),
  "gm",
);

/** The parts of a code in their order; together they are the code. */
export function partsOf(code: string): readonly CodePart[] {
  if (code.length > mostCharacters) return [{ kind: null, text: code }];
  const parts: CodePart[] = [];
  let end = 0;
  for (const found of code.matchAll(pattern)) {
    const [kind = null] = Object.entries(found.groups ?? {}).find(([, one]) => one) ?? [];
    if (found.index > end) parts.push({ kind: null, text: code.slice(end, found.index) });
    parts.push({ kind: kind as CodePart["kind"], text: found[0] });
    end = found.index + found[0].length;
  }
  if (end < code.length) parts.push({ kind: null, text: code.slice(end) });
  return parts;
}
