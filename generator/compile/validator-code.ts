// Ajv's code as it is committed: shortened, and with fewer numbered names, so that changing one
// member changes only a few lines.

import { limits } from "../../runtime/contract/limits.js";

/** Shortens the text of Ajv's functions. Text that doesn't look as expected stays as it is. */
export function shortenCode(text: string): string {
  const functions = namesInsteadOfSchemas(text.replaceAll(emptyBlock, ""))
    .split(/^(?=function )/m)
    .map((code) => withNamesByDepth(withoutUnused(code)));
  return withBounds(withoutUnusedConstants(functions.join("")))
    .replaceAll(guardedFault, "{ $1 errors++; }")
    .replaceAll(guardedGuard, "$1{ $2 }")
    .replaceAll(guardedValue, "$1 $2");
}

/** How Ajv's functions take over the errors of others: by copying all that there are. */
const copiedErrors = /^vErrors = vErrors === null \? ([\w.]+\.errors) : vErrors\.concat\(\1\);$/gm;

const loopOverItems = /^(for\(let i\d+=\d+; i\d+<len\d+); (i\d+\+\+\)\{)$/gm;
const loopOverMembers = /^for\(const key\d+ in data\d*\)\{$/gm;

/**
 * The functions without quadratic copies of errors, and with loops that end once there are as many
 * as are reported. A branch of a union begins without errors of its siblings, so a loop only ends
 * early where the value is refused anyway.
 */
function withBounds(code: string): string {
  return code
    .replaceAll(copiedErrors, "vErrors = joinErrors(vErrors, $1);")
    .replaceAll(loopOverItems, `$1 && errors < ${limits.maxReportedErrors}; $2`)
    .replaceAll(loopOverMembers, `$& if(errors >= ${limits.maxReportedErrors}) break;`);
}

/** The empty block that Ajv prints for formats of numbers. */
const emptyBlock = /^if\(typeof data\d* == "number"\)\{\n\}\n/gm;

/** A block that only appends one error. */
const guardedFault = /\{\n(\(vErrors \?\?= \[\]\)\.push\(.*\);)\nerrors\+\+;\n\}$/gm;

/** A block that only contains another condition, on one line. */
const guardedGuard = /^(if\(.*\))\{\n(if\(.*\)\{ .* \})\n\}$/gm;

/** The beginning of a block that checks a member if it is present. */
const guardedValue = /^(if\(data.* !== undefined\)\{)\n(let data\d+ = .*;)$/gm;

/** Looks up names of members in a set of names, so that whole schemas needn't be printed for it. */
function namesInsteadOfSchemas(text: string): string {
  const schemas = new Map(
    [...text.matchAll(/^const (schema\d+) = (\{.*\});$/gm)].map(([, name = "", json = ""]) => [
      name,
      json,
    ]),
  );
  const constants = new Map<string, string>();
  const shorter = text.replaceAll(
    /\bfunc\d+\.call\((schema\d+)((?:\.\w+)*), (key\d+)\)/g,
    (whole, schema: string, path: string, key: string) => {
      const map = memberAt(JSON.parse(schemas.get(schema) ?? "null"), path.split(".").slice(1));
      if (typeof map !== "object" || map === null) return whole;
      const set = `new Set(${JSON.stringify(Object.keys(map))})`;
      const name = constants.get(set) ?? `names${constants.size}`;
      constants.set(set, name);
      return `${name}.has(${key})`;
    },
  );
  const declared = [...constants].map(([set, name]) => `const ${name} = ${set};\n`);
  return declared.join("") + shorter;
}

function memberAt(value: unknown, path: readonly string[]): unknown {
  const [first, ...rest] = path;
  if (first === undefined || typeof value !== "object" || value === null) return value;
  return memberAt((value as Readonly<Record<string, unknown>>)[first], rest);
}

/** The function without variables that it sets and never reads. */
function withoutUnused(code: string): string {
  const uses = new Map<string, number>();
  note(code, 1, uses);
  return unread.reduce((rest, lines) => withoutLines(rest, lines, uses), code);
}

/**
 * Verdicts on whole lists, verdicts on single values, and what these start from. Each is read only
 * by those before it.
 */
const unread = [
  /^(?:let (valid\d+) = true;|if\(!valid\d+\)\{\n(valid\d+) = false;\n\})\n/gm,
  /^(?:var|let) (valid\d+) = (?:_errs\d+ === errors|true|false);\n/gm,
  /^(?:const|let) (_errs\d+|vSchema\d+) = .*;\n/gm,
];

/**
 * A string, the name of a value, or a brace. Strings match as a whole, so that names and braces in
 * them don't count.
 */
const names = /"[^"\\]*(?:\\.[^"\\]*)*"|(?<![.\w])data\d+\b|[{}]/g;

/**
 * The function with values numbered by nesting depth, so that a new member doesn't renumber those
 * after it.
 */
function withNamesByDepth(code: string): string {
  if (!code.includes("let data")) return code;
  const live: { readonly from: string; readonly to: string; readonly depth: number }[] = [];
  let depth = 0;
  return code.replaceAll(names, (part, at: number) => {
    if (part === "{") depth += 1;
    else if (part === "}") {
      depth -= 1;
      while ((live.at(-1)?.depth ?? 0) > depth) live.pop();
    } else if (part.startsWith("data")) {
      if (code.startsWith("let ", at - 4))
        live.push({ from: part, to: `data${live.length}`, depth });
      return live.findLast(({ from }) => from === part)?.to ?? part;
    }
    return part;
  });
}

/** The module without constants that nothing uses any more. */
function withoutUnusedConstants(code: string): string {
  const uses = new Map<string, number>();
  note(code, 1, uses);
  return withoutLines(code, /^const (schema\d+|func\d+|formats\d+) = .*;\n/gm, uses);
}

/** Adds `more` to `uses` for each occurrence of a name that `withoutLines` may remove. */
function note(code: string, more: 1 | -1, uses: Map<string, number>): void {
  for (const name of code.match(/\b(?:_errs|valid|vSchema|schema|func|formats)\d+\b/g) ?? [])
    uses.set(name, (uses.get(name) ?? 0) + more);
}

/**
 * Removes lines that set a name which no other line contains. Names in removed lines no longer
 * count in `uses`.
 */
function withoutLines(code: string, lines: RegExp, uses: Map<string, number>): string {
  const given = new Map<string, number>();
  const found = [...code.matchAll(lines)].map((match) => {
    const name = match[1] ?? match[2] ?? "";
    given.set(name, (given.get(name) ?? 0) + 1);
    return { name, line: match[0], at: match.index };
  });
  const unused = new Set([...given.keys()].filter((name) => uses.get(name) === given.get(name)));
  if (unused.size === 0) return code;
  let rest = "";
  let from = 0;
  for (const { name, line, at } of found) {
    if (!unused.has(name)) continue;
    note(line, -1, uses);
    rest += code.slice(from, at);
    from = at + line.length;
  }
  return rest + code.slice(from);
}
