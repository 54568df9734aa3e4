// JSON Schema files beside the registry: `$ref: schemas/task.json#/$defs/x`.
import { existsSync, readFileSync } from "node:fs";
import { join, posix } from "node:path";
import type { Origin, Report } from "../diagnostics.js";
import { parseYaml } from "./source-tree.js";

/** A reference to a file and a pointer in it, or undefined where the value is none. */
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
    const candidates = [posix.join(posix.dirname(at.file), path), posix.join(folder, path), path];
    return candidates.find((candidate) => existsSync(join(project, candidate)));
  }

  /** The value of a file; undefined where it does not parse, which has been reported. */
  read(path: string): unknown {
    const text = this.texts.get(path) ?? readFileSync(join(this.#options.project, path), "utf8");
    this.texts.set(path, text);
    return parseYaml(path, text, this.#options.report);
  }
}
