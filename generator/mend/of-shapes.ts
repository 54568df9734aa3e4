// Keys and values that don't fit the registry's format, where the format says what is meant.
import type { Finding, Fix } from "../diagnostics/diagnostics.js";
import { didYouMean } from "../diagnostics/did-you-mean.js";
import { own } from "../model/records.js";
import { alternativeOf, isMap, membersOf, type FormatShape, type Member } from "../load/shape.js";
import { keysByWord } from "./foreign-words.js";
import { fits, meant, meantKey } from "./meant.js";
import { mendName } from "./of-names.js";
import { mendNullableReference } from "./of-types.js";
import type { Path, WrittenFile } from "./written-file.js";

type Members = Readonly<Record<string, Member>>;

/** What is needed to tell what a value of the format means. */
export interface ShapeContext {
  readonly shape: FormatShape;
  readonly file: WrittenFile;
  /** Whether something of a section has this name. */
  readonly isDeclared: (section: string, name: string) => boolean;
  /** Types that have a name. */
  readonly declared: ReadonlySet<string>;
}

/** The shape that the format has for a path of a file, as far as what is written there says. */
export function shapeAt({ shape: root, file }: ShapeContext, path: Path): FormatShape | undefined {
  let shape: FormatShape | undefined = root;
  for (const [index, step] of path.entries()) {
    if (shape === undefined) return undefined;
    // Only an alternative depends on what is written.
    if (shape.kind === "either") shape = chooseShape(shape, file.value(path.slice(0, index)));
    if (shape?.kind === "list" || shape?.kind === "map") shape = shape.of;
    else if (shape?.kind === "object" || shape?.kind === "choice")
      shape = own(membersOf(shape), String(step))?.shape;
    else return undefined;
  }
  return shape;
}

function chooseShape(shape: FormatShape | undefined, value: unknown): FormatShape | undefined {
  return shape?.kind === "either" ? chooseShape(alternativeOf(shape, value), value) : shape;
}

/** A value of the wrong type, or spelt in a way that the format doesn't have. */
export function mendValue({ at }: Finding, context: ShapeContext): Fix | undefined {
  const { file } = context;
  const shape = shapeAt(context, at.path);
  const source = file.source(at.path);
  if (shape === undefined || source === undefined) return undefined;
  if (at.isKey === true) return undefined;
  if (shape.kind === "list" && hasSiblings(at.path, file)) return undefined;
  const reading = meant(shape, file.value(at.path), source);
  return reading === undefined ? undefined : single(file.replaced(at.path, reading.text));
}

/** Of `indexes: [a, b]` nobody knows whether it is one index or two. */
function hasSiblings(path: Path, file: WrittenFile): boolean {
  const around = file.value(path.slice(0, -1));
  return typeof path.at(-1) === "number" && Array.isArray(around) && around.length > 1;
}

/** A key that the format doesn't have. */
export function mendKey(finding: Finding, context: ShapeContext): Fix | undefined {
  const { path } = finding.at;
  const { file } = context;
  const around = path.slice(0, -1);
  const map = file.value(around);
  const shape = chooseShape(shapeAt(context, around), map);
  const key = String(path.at(-1));
  if (!isMap(map)) return undefined;
  // Within a type, the rule knows what may stand there.
  if (shape === undefined || shape.kind === "any")
    return mendNullableReference(path, file) ?? mendName(finding, file);
  if (shape.kind === "map") return mendEntryKey(shape, key, path, map, file);
  if (shape.kind !== "object" && shape.kind !== "choice") return undefined;
  const members = membersOf(shape);
  return (
    withSpace(key, members, path, file) ??
    withMethod(key, members, path, map, file) ??
    nearestKey(finding, members, map, file) ??
    counterpart(key, members, path, map, context)
  );
}

function nearestKey(
  finding: Finding,
  members: Members,
  map: Readonly<Record<string, unknown>>,
  file: WrittenFile,
): Fix | undefined {
  const { suggestion, at } = finding;
  // A word of another system is no slip: an operation's `path` is not `patch`.
  if (Object.hasOwn(keysByWord, String(at.path.at(-1)))) return undefined;
  const name = typeof suggestion === "object" ? suggestion.name : undefined;
  const member = name === undefined ? undefined : own(members, name);
  if (name === undefined || member === undefined || Object.hasOwn(map, name)) return undefined;
  const known = Object.keys(members);
  const unknown = Object.keys(map).filter((key) => !Object.hasOwn(members, key));
  const rivals = unknown.filter((key) => didYouMean(key, known)?.name === name);
  if (rivals.length > 1) return undefined;
  const value = file.value(at.path);
  const isOfType = alternativeOf({ kind: "either", of: [member.shape] }, value) !== undefined;
  const source = file.source(at.path) ?? "";
  if (!isOfType && meant(member.shape, value, source) === undefined) return undefined;
  return mendName(finding, file);
}

/** A key that is spelt otherwise than names of declarations are. */
function mendEntryKey(
  shape: Extract<FormatShape, { kind: "map" }>,
  key: string,
  path: Path,
  map: Readonly<Record<string, unknown>>,
  file: WrittenFile,
): Fix | undefined {
  const name = shape.key.test(key) ? undefined : meantKey(shape, key);
  if (name === undefined || Object.hasOwn(map, name)) return undefined;
  return single(file.renamed(path, name));
}

/**
 * The key that another system calls so, if its value fits and the place has no other key of that
 * kind.
 */
function counterpart(
  key: string,
  members: Members,
  path: Path,
  map: Readonly<Record<string, unknown>>,
  context: ShapeContext,
): Fix | undefined {
  const { file } = context;
  const value = file.value(path);
  const source = file.source(path);
  if (source === undefined) return undefined;
  for (const name of own(keysByWord, key.toLowerCase()) ?? []) {
    const member = own(members, name);
    if (member === undefined || Object.hasOwn(map, name) || hasRival(key, name, map)) continue;
    if (!namesSomething(member.shape, value, context)) continue;
    if (fits(member.shape, value)) return single(file.renamed(path, name));
    const reading = meant(member.shape, value, source);
    const renamed = file.renamed(path, name);
    const replaced = reading === undefined ? undefined : file.replaced(path, reading.text);
    if (renamed !== undefined && replaced !== undefined) return [renamed, replaced];
  }
  return undefined;
}

/** Whether another key of a map is a word for the same. */
function hasRival(key: string, name: string, map: Readonly<Record<string, unknown>>): boolean {
  return Object.keys(map).some(
    (other) => other !== key && own(keysByWord, other.toLowerCase())?.includes(name) === true,
  );
}

/** Where a name is asked for, any text would fit: it has to be one that is declared. */
function namesSomething(
  shape: FormatShape,
  value: unknown,
  { isDeclared, declared }: ShapeContext,
): boolean {
  if (shape.kind === "any") return typeof value !== "string" || declared.has(value);
  const naming = shape.kind === "either" ? alternativeOf(shape, value) : shape;
  return naming?.kind !== "name" || (typeof value === "string" && isDeclared(naming.of, value));
}

const methods = ["get", "post", "put", "patch", "delete"];

/** `method: GET` beside `path: /tasks` is `get: /tasks`. */
function withMethod(
  key: string,
  members: Members,
  path: Path,
  map: Readonly<Record<string, unknown>>,
  file: WrittenFile,
): Fix | undefined {
  const has = (one: string): boolean => Object.hasOwn(map, one);
  const verb = ["method", "verb"].find(has);
  const where = ["path", "url", "route"].find(has);
  if (verb === undefined || where === undefined || ![verb, where].includes(key)) return undefined;
  const method = String(map[verb]).toLowerCase();
  if (!methods.includes(method) || methods.some(has)) return undefined;
  const member = own(members, method);
  if (member === undefined || !fits(member.shape, map[where])) return undefined;
  const around = path.slice(0, -1);
  const removed = file.removed([...around, verb]);
  const renamed = file.renamed([...around, where], method);
  return removed === undefined || renamed === undefined ? undefined : [removed, renamed];
}

/** `{guard:open}` is one key without a value. */
function withSpace(key: string, members: Members, path: Path, file: WrittenFile): Fix | undefined {
  const [, name, value] = /^(\w+):(\S.*)$/.exec(key) ?? [];
  if (name === undefined || value === undefined || !Object.hasOwn(members, name)) return undefined;
  return file.value(path) === null ? single(file.renamed(path, `${name}: ${value}`)) : undefined;
}

function single(edit: Fix[number] | undefined): Fix | undefined {
  return edit === undefined ? undefined : [edit];
}
