// JSON Schema files beside the registry: `$ref: schemas/task.json#/$defs/x`.
import { posix } from "node:path";
import type { Origin, Report } from "../diagnostics/diagnostics.js";
import { notRead, projectEntry, readProjectText } from "./project-file.js";
import { parseYaml } from "./source-tree.js";

/** A reference to a file and a pointer in it, or undefined if the value is none. */
export function fileReference(
  value: unknown,
): { readonly path: string; readonly pointer: string } | undefined {
  const match = typeof value === "string" ? /^([\w./-]+\.json)(?:#(.*))?$/.exec(value) : null;
  return match === null ? undefined : { path: match[1] ?? "", pointer: match[2] ?? "" };
}

/** Reads schema files of a project, each once. */
export class SchemaFiles {
  readonly texts = new Map<string, string>();
  readonly #options: { readonly project: string; readonly folder: string; readonly report: Report };

  constructor(options: {
    readonly project: string;
    readonly folder: string;
    readonly report: Report;
  }) {
    this.#options = options;
  }

  /** The file relative to the one that names it, or to the registry folder. */
  resolve(path: string, at: Origin): string | undefined {
    const { project, folder } = this.#options;
    const candidates = [posix.join(posix.dirname(at.file), path), posix.join(folder, path)];
    // From the project's root nothing leads up.
    if (!path.startsWith("..")) candidates.push(path);
    return candidates.find((candidate) => projectEntry(project, candidate).kind !== "absent");
  }

  /**
   * The value of a file. Undefined where it is not read, which is reported at `at`, or does not
   * parse, which is too.
   */
  read(path: string, at: Origin): unknown {
    const text = this.texts.get(path) ?? this.#textOf(path, at);
    if (text === undefined) return undefined;
    this.texts.set(path, text);
    return parseYaml(path, text, this.#options.report);
  }

  #textOf(path: string, at: Origin): string | undefined {
    const { project, report } = this.#options;
    const read = readProjectText(project, path);
    if (read.kind === "text") return read.text;
    report({ ...notRead(path, read.kind === "refused" ? read.why : "is gone"), at });
    return undefined;
  }
}

/** Percent-decoded, or as it is where it cannot be. */
export function decodeText(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
