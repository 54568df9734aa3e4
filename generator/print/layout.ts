// Printing TypeScript as the formatter would: what fits on a line stays on it, the rest is one item
// a line.

/** Columns of a line, as the formatter has it. */
export const width = 100;

/** `prefix[item, item]suffix`, broken over lines where it is wider than a line. */
export function listLayout(
  indent: string,
  prefix: string,
  items: readonly string[],
  [open, close]: readonly [string, string],
  suffix: string,
): string {
  const gap = open === "{" ? " " : "";
  const line = `${indent}${prefix}${open}${items.length === 0 ? "" : gap}${items.join(", ")}${items.length === 0 ? "" : gap}${close}${suffix}`;
  if (line.length <= width) return line;
  const separator = open === "<" ? "" : ",";
  const inner = items
    .map((item, index) => `${indent}  ${item}${index < items.length - 1 ? "," : separator}`)
    .join("\n");
  return `${indent}${prefix}${open}\n${inner}\n${indent}${close}${suffix}`;
}

/**
 * `name(before, { members }, after)` as the value of a member, without its final comma. A call that
 * is too wide hugs an object that stands last, and has one argument a line otherwise.
 */
export function callLayout(
  indent: string,
  prefix: string,
  name: string,
  before: readonly string[],
  members: readonly string[],
  after: readonly string[],
): string {
  const object = members.length === 0 ? [] : [`{ ${members.join(", ")} }`];
  const args = [...before, ...object, ...after];
  const line = `${name}(${args.join(", ")})`;
  if (indent.length + prefix.length + line.length + 1 <= width) return line;
  if (members.length > 0 && after.length === 0) {
    const inner = members.map((member) => `${indent}  ${member},`).join("\n");
    return `${name}(${[...before, "{"].join(", ")}\n${inner}\n${indent}})`;
  }
  const lines = args.map((argument) => `${indent}  ${argument},`).join("\n");
  return `${name}(\n${lines}\n${indent})`;
}

/** Members in braces, a line each. */
export function blockLayout(members: readonly string[], indent = ""): string {
  return members.length === 0 ? "{}" : `{\n${members.join("\n")}\n${indent}}`;
}

/** One name that a module imports: `name`, `name as other` or `* as name`. */
export interface Import {
  readonly name: string;
  readonly from: string;
  readonly isType: boolean;
}

export function importOf(name: string, from: string, isType: boolean): Import {
  return { name, from, isType };
}

/** The statements of imports, one a module, in the order in which modules are met first. */
export function importStatements(imports: readonly Import[]): readonly string[] {
  const statements = new Map<string, { readonly names: string[]; readonly one: Import }>();
  for (const one of imports) {
    const isWhole = one.name.startsWith("*");
    const key = JSON.stringify([one.from, one.isType, isWhole ? one.name : ""]);
    const known = statements.get(key);
    if (known === undefined) statements.set(key, { names: [one.name], one });
    else known.names.push(one.name);
  }
  return [...statements.values()].map(({ names, one: { from, isType, name } }) => {
    const keyword = isType ? "import type" : "import";
    if (name.startsWith("*")) return `${keyword} ${name} from "${from}";`;
    // One name alone stays on its line.
    if (names.length === 1) return `${keyword} { ${name} } from "${from}";`;
    return listLayout("", `${keyword} `, sortedUnique(names), ["{", "}"], ` from "${from}";`);
  });
}

/** A TypeScript object key: bare where it is an identifier. */
export function propertyKey(name: string): string {
  // Otherwise it would be the prototype.
  if (name === "__proto__") return `["__proto__"]`;
  return /^[A-Za-z_$][A-Za-z0-9_$]*$/.test(name) ? name : JSON.stringify(name);
}

/** A text in the quotes that need fewer escapes, double ones where it makes no difference. */
function textLiteral(text: string): string {
  const doubles = text.split('"').length;
  const singles = text.split("'").length;
  const json = JSON.stringify(text);
  if (doubles <= singles) return json;
  return `'${json.slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")}'`;
}

/** A plain value as a TypeScript literal, on one line. */
export function literal(value: unknown): string {
  if (typeof value === "string") return textLiteral(value);
  if (value === null || typeof value !== "object") return JSON.stringify(value) ?? "undefined";
  if (Array.isArray(value)) return `[${value.map(literal).join(", ")}]`;
  const members = Object.entries(value).map(
    ([key, member]) => `${propertyKey(key)}: ${literal(member)}`,
  );
  return members.length === 0 ? "{}" : `{ ${members.join(", ")} }`;
}

/** A member whose value is a map: one entry a line, so that adding one touches one line. */
export function mapMember(
  indent: string,
  name: string,
  entries: Readonly<Record<string, unknown>>,
): string {
  const members = Object.entries(entries);
  if (members.length === 0) return `${indent}${name}: {},`;
  const lines = members.map(([key, value]) => valueMember(`${indent}  `, propertyKey(key), value));
  return `${indent}${name}: {\n${lines.join("\n")}\n${indent}},`;
}

function valueMember(indent: string, key: string, value: unknown): string {
  if (Array.isArray(value) && value.some(hasMembers)) {
    const items = value.map((item) => itemLines(`${indent}  `, item));
    return `${indent}${key}: [\n${items.join("\n")}\n${indent}],`;
  }
  if (Array.isArray(value))
    return listLayout(indent, `${key}: `, value.map(literal), ["[", "]"], ",");
  if (typeof value === "object" && value !== null && Object.keys(value).length > 0) {
    return mapMember(indent, key, value as Readonly<Record<string, unknown>>);
  }
  const line = `${indent}${key}: ${literal(value)},`;
  return line.length <= width ? line : `${indent}${key}:\n${indent}  ${literal(value)},`;
}

function hasMembers(value: unknown): value is Readonly<Record<string, unknown>> {
  return (
    typeof value === "object" &&
    value !== null &&
    !Array.isArray(value) &&
    Object.keys(value).length > 0
  );
}

/** An element of a list of objects: its members a line each. */
function itemLines(indent: string, item: unknown): string {
  if (!hasMembers(item)) return `${indent}${literal(item)},`;
  const lines = Object.entries(item).map(([key, value]) =>
    valueMember(`${indent}  `, propertyKey(key), value),
  );
  return `${indent}{\n${lines.join("\n")}\n${indent}},`;
}

/** A JSDoc comment of one or more lines, without anything that could end it. */
export function docComment(indent: string, text: string): string {
  const lines = text
    .trim()
    .replaceAll("*/", "*\\/")
    .split(/\r?\n/)
    .map((line) => line.trimEnd());
  if (lines.length === 1) return `${indent}/** ${lines[0]} */`;
  return [
    `${indent}/**`,
    ...lines.map((line) => `${indent} * ${line}`.trimEnd()),
    `${indent} */`,
  ].join("\n");
}

/** Sorted, without repetition, in code-unit order. */
export function sortedUnique(texts: Iterable<string>): readonly string[] {
  return [...new Set(texts)].sort();
}
