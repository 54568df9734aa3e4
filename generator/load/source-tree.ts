// Reading registry files: YAML 1.2 as data only, united by section and name, each name remembering
// its file.
import { parseDocument, type Document } from "yaml";
import type { Finding, Origin, Report } from "../diagnostics/diagnostics.js";
import { conflictAt } from "./conflict-marks.js";
import { inexactNumbers } from "./inexact-numbers.js";
import { readPlainYaml } from "./plain-yaml.js";
import { notRead, readProjectText } from "./project-file.js";
import { folderContent } from "./project-folder.js";
import { repeatedKeys } from "./repeated-keys.js";
import { isMap } from "./shape.js";
import { yamlFaults } from "./yaml-faults.js";

type Json = Readonly<Record<string, unknown>>;

/** Values of the tree at one path that are written at another one. */
export interface MovedPath {
  readonly from: readonly string[];
  readonly to: readonly string[];
}

/**
 * All registry files as one tree. A path in the tree is also the path in the file that declares it.
 */
export class SourceTree {
  /** Sections by name; the entries of each in the order of files and keys. */
  readonly root: Readonly<Record<string, unknown>>;
  /** Texts of the YAML files, by path relative to the project. */
  readonly texts: ReadonlyMap<string, string>;
  readonly #files: ReadonlyMap<string, string>;
  readonly #fallback: string;
  readonly #moved: readonly MovedPath[];

  constructor(
    root: Readonly<Record<string, unknown>>,
    texts: ReadonlyMap<string, string>,
    files: ReadonlyMap<string, string>,
    fallback: string,
    moved: readonly MovedPath[] = [],
  ) {
    this.root = root;
    this.texts = texts;
    this.#files = files;
    this.#fallback = fallback;
    // The longest path says most.
    this.#moved = moved.toSorted((left, right) => right.from.length - left.from.length);
  }

  /** The tree with other sections, some of whose values are written elsewhere. */
  with(sections: Readonly<Record<string, unknown>>, moved: readonly MovedPath[]): SourceTree {
    const root = { ...this.root, ...sections };
    return new SourceTree(root, this.texts, this.#files, this.#fallback, moved);
  }

  /** The entries of a section, or none. */
  section(name: string): Readonly<Record<string, unknown>> {
    const section = this.root[name];
    return isMap(section) ? section : {};
  }

  /** Where a value of the tree stands. */
  at(...path: readonly (string | number)[]): Origin {
    const written = this.#written(path);
    return { file: this.#fileOf(written), path: written };
  }

  /** Where a key of the tree stands. */
  keyAt(...path: readonly (string | number)[]): Origin {
    return { ...this.at(...path), isKey: true };
  }

  #written(path: readonly (string | number)[]): readonly (string | number)[] {
    const moved = this.#moved.find(({ from }) => from.every((step, at) => path[at] === step));
    return moved === undefined ? path : [...moved.to, ...path.slice(moved.from.length)];
  }

  #fileOf(path: readonly (string | number)[]): string {
    return (
      this.#files.get(fileKey(path[0], path[1])) ??
      this.#files.get(fileKey(path[0])) ??
      this.#fallback
    );
  }
}

const fileKey = (...parts: readonly unknown[]): string => JSON.stringify(parts);

/**
 * Reads every `.yaml` and `.yml` file below `folder`. Reports syntax errors, duplicate names,
 * missing versions.
 */
export function readSourceTree(project: string, folder: string, report: Report): SourceTree {
  const names = registryFiles(project, folder, report);
  const texts = new Map<string, string>();
  const files = new Map<string, string>();
  const root: Record<string, unknown> = Object.create(null) as Record<string, unknown>;
  const service = `${folder}/service.yaml`;
  const fallback = names.includes(service) ? service : (names[0] ?? service);
  if (names.length === 0) {
    report({
      code: "OPW006",
      message: `no YAML file in ${folder}/`,
      at: { file: folder, path: [] },
    });
  }
  for (const file of names) {
    const read = readProjectText(project, file);
    if (read.kind !== "text") {
      report(notRead(file, read.kind === "absent" ? "is gone" : read.why));
      continue;
    }
    const { text } = read;
    texts.set(file, text);
    const value = parseYaml(file, text, report);
    if (value === undefined) continue;
    if (value["registry"] !== 1) {
      const has = Object.hasOwn(value, "registry");
      report({
        code: "OPW007",
        message: has
          ? `the only registry version is 1, not ${JSON.stringify(value["registry"])}`
          : "the file does not begin with `registry: 1`",
        at: { file, path: has ? ["registry"] : [] },
      });
    }
    unite(root, files, file, value, report);
  }
  return new SourceTree(root, texts, files, fallback);
}

/**
 * The YAML files of a registry, in order; hidden ones are none. Reports what could be one and is
 * not read.
 */
function registryFiles(project: string, folder: string, report: Report): readonly string[] {
  const { files, folders, refused } = folderContent(project, folder);
  const isYaml = (path: string): boolean =>
    /\.ya?ml$/.test(path) && !path.slice(folder.length).includes("/.");
  for (const { path, why, isFolder } of refused)
    if (isFolder || isYaml(path)) report(notRead(path, why));
  const misnamed = folders.filter(isYaml);
  for (const path of misnamed) report(notRead(path, "is a folder, not a file"));
  return files.filter(
    (path) => isYaml(path) && !misnamed.some((folder) => path.startsWith(`${folder}/`)),
  );
}

function unite(
  root: Record<string, unknown>,
  files: Map<string, string>,
  file: string,
  value: Json,
  report: Report,
): void {
  for (const [section, content] of Object.entries(value)) {
    if (section === "registry") continue;
    if (!files.has(fileKey(section))) files.set(fileKey(section), file);
    const known = root[section];
    if (known === undefined && !isMap(content)) {
      root[section] = content;
      continue;
    }
    if (!isMap(content) || (known !== undefined && !isMap(known))) {
      report({
        code: "OPW011",
        message: `${section} is a map in one file and something else in another`,
        at: { file, path: [section], isKey: true },
      });
      continue;
    }
    const united = (root[section] ??= Object.create(null) as object) as Record<string, unknown>;
    for (const [name, declaration] of Object.entries(content)) {
      const earlier = files.get(fileKey(section, name));
      if (earlier !== undefined) {
        report({
          code: "OPW003",
          message: `${section}.${name} is declared in two files`,
          at: { file, path: [section, name], isKey: true },
          related: [
            {
              message: "first declared here",
              at: { file: earlier, path: [section, name], isKey: true },
            },
          ],
        });
        continue;
      }
      files.set(fileKey(section, name), file);
      united[name] = declaration;
    }
  }
}

const parseOptions = {
  version: "1.2",
  schema: "core",
  // repeated-keys.ts does it.
  uniqueKeys: false,
  prettyErrors: false,
} as const;

/** Parses one file to plain data, or reports why it cannot be. */
export function parseYaml(file: string, text: string, report: Report): Json | undefined {
  return readPlainYaml(text) ?? wholeYaml(file, text, report);
}

/** The same by the whole parser of YAML. */
function wholeYaml(file: string, text: string, report: Report): Json | undefined {
  const offset = conflictAt(text);
  if (offset !== undefined) {
    // The parser would complain about each of the marks.
    const message = "a merge left a conflict here: keep what is right, and remove its marks";
    report({ code: "OPW001", message, at: { file, path: [], offset } });
    return undefined;
  }
  const document = parseDocument(text, parseOptions);
  const syntax = yamlFaults(file, text, document);
  // What can't be read says nothing of its keys and numbers.
  const isRead = syntax.every(({ code }) => code !== "OPW001");
  const ofValues = (): readonly Finding[] => [
    ...repeatedKeys(document).map(({ key, ...place }): Finding => ({
      code: "OPW002",
      message: `this map already has the key ${key}`,
      at: { file, path: [], ...place },
    })),
    ...inexactNumbers(document).map(({ written, becomes, offset }): Finding => ({
      code: "OPW013",
      message: `${written} would become ${becomes}: numbers are doubles, whose integers are exact up to ±${Number.MAX_SAFE_INTEGER}`,
      at: { file, path: [], offset },
    })),
  ];
  const faults = [...syntax, ...(isRead ? ofValues() : [])];
  for (const finding of faults) report(finding);
  if (faults.length > 0) return undefined;
  try {
    const value: unknown = document.toJS({ maxAliasCount: 100 });
    const fault = plainFault(value);
    if (fault !== undefined) {
      report({ code: fault.code, message: fault.message, at: { file, path: fault.path } });
      return undefined;
    }
    if (isMap(value)) return value;
    report({
      code: "OPW011",
      message: value === null ? "the file is empty" : "a registry file is a map of sections",
      at: { file, path: [] },
      hint: "Begin it with `registry: 1`, and write sections below, such as `documents:`; or remove the file.",
    });
  } catch (error) {
    report({
      code: "OPW004",
      message: error instanceof Error ? error.message.toLowerCase() : "aliases cannot be resolved",
      at: { file, path: [] },
    });
  }
  return undefined;
}

/**
 * What plain data cannot be although YAML can: a value inside itself, a number that is none in
 * JSON.
 */
function plainFault(
  value: unknown,
  path: readonly (string | number)[] = [],
  around: readonly unknown[] = [],
):
  | {
      readonly code: "OPW004" | "OPW013";
      readonly message: string;
      readonly path: readonly (string | number)[];
    }
  | undefined {
  if (typeof value === "number" && !Number.isFinite(value)) {
    return { code: "OPW013", message: "numbers are finite", path };
  }
  if (typeof value !== "object" || value === null) return undefined;
  if (around.includes(value))
    return { code: "OPW004", message: "an alias leads to a value that contains it", path };
  const entries = Array.isArray(value) ? [...value.entries()] : Object.entries(value);
  for (const [key, inner] of entries) {
    const fault = plainFault(inner, [...path, key], [...around, value]);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

/** The document of a text with positions, for looking up a finding. */
export function documentWithPositions(text: string): Document {
  return parseDocument(text, { ...parseOptions, keepSourceTokens: false });
}
