// Ajv's code as it is committed: as short as it can be said, and with few names that are numbered, so that a change of one
// member is a change of a few lines.

/** Shortens the text of Ajv's functions. What is not as expected stays as it is. */
export function shortened(text: string): string {
  const functions = namesInsteadOfSchemas(text.replaceAll(emptyBlock, ""))
    .split(/^(?=function )/m)
    .map((code) => withNamesByDepth(withoutUnused(code)));
  return withoutUnusedConstants(functions.join(""))
    .replaceAll(guardedFault, "{ $1 errors++; }")
    .replaceAll(guardedGuard, "$1{ $2 }")
    .replaceAll(guardedValue, "$1 $2");
}

/** What formats do with numbers. */
const emptyBlock = /^if\(typeof data\d* == "number"\)\{\n\}\n/gm;

/** A fault that is all that a condition leads to. */
const guardedFault = /\{\n(\(vErrors \?\?= \[\]\)\.push\(.*\);)\nerrors\+\+;\n\}$/gm;

/** A condition that is all that another leads to. */
const guardedGuard = /^(if\(.*\))\{\n(if\(.*\)\{ .* \})\n\}$/gm;

/** A member that is looked at where it is there. */
const guardedValue = /^(if\(data.* !== undefined\)\{)\n(let data\d+ = .*;)$/gm;

/** Names of members are looked up among themselves, instead of in a schema with all that it says. */
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

/** A function without the values that it keeps and never looks at. */
function withoutUnused(code: string): string {
  const uses = new Map<string, number>();
  note(code, 1, uses);
  return unread.reduce((rest, lines) => withoutLines(rest, lines, uses), code);
}

/** Verdicts on whole lists, on single values, and what they begin with: each is looked at by those before. */
const unread = [
  /^(?:let (valid\d+) = true;|if\(!valid\d+\)\{\n(valid\d+) = false;\n\})\n/gm,
  /^(?:var|let) (valid\d+) = (?:_errs\d+ === errors|true|false);\n/gm,
  /^(?:const|let) (_errs\d+|vSchema\d+) = .*;\n/gm,
];

/** A part of a line that is a string, or a name of a value or an end of a block, which count where they are in no string. */
const names = /"[^"\\]*(?:\\.[^"\\]*)*"|(?<![.\w])data\d+\b|[{}]/g;

/** A function whose values are numbered by how deep they lie, and not by how many stand before them. */
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

/** The module without constants of which nothing is left to be used. */
function withoutUnusedConstants(code: string): string {
  const uses = new Map<string, number>();
  note(code, 1, uses);
  return withoutLines(code, /^const (schema\d+|func\d+|formats\d+) = .*;\n/gm, uses);
}

/** Counts names that a line may give a value to. */
function note(code: string, more: 1 | -1, uses: Map<string, number>): void {
  for (const name of code.match(/\b(?:_errs|valid|vSchema|schema|func|formats)\d+\b/g) ?? [])
    uses.set(name, (uses.get(name) ?? 0) + more);
}

/** Without those lines that give a value to a name that stands in no other line. What goes is no use any more. */
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
