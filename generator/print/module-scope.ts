// The names in one emitted module: what it declares comes first, and whatever it imports gets out
// of the way.
import type { Code, CodeName } from "../model/code.js";
import { importPath, moduleNames, type ModulePaths } from "./module-path.js";
import { importOf, literal, type Import } from "./layout.js";
import { posix } from "node:path";

const runtimePackage = "opwright/runtime";

export interface ModuleOptions {
  readonly paths: ModulePaths;
  /** Its path below the generated folder. */
  readonly path: string;
  /** The names that it declares. */
  readonly declares: Iterable<string>;
  /** The files of the author's that it imports. */
  readonly authored: Iterable<string>;
}

/**
 * Prints names and code as one module refers to them, and remembers what it must import for that.
 */
export class ModuleScope {
  readonly #path: string;
  readonly #taken: Set<string>;
  readonly #authored: ReadonlyMap<string, string>;
  readonly #paths: ModulePaths;
  /** Imports by module and name, and the local name of each. */
  readonly #imported = new Map<string, { readonly local: string; readonly line: Import }>();

  /** Where modules of the generated folder are, seen from here. */
  readonly #places = new Map<string, string>();

  constructor({ paths, path, declares, authored }: ModuleOptions) {
    this.#paths = paths;
    this.#path = path;
    this.#taken = new Set(declares);
    this.#authored = moduleNames(paths, authored, (name) => this.#taken.has(name));
    for (const name of this.#authored.values()) this.#taken.add(name);
  }

  /** Something of the runtime by its name there, or a member of it: `documents.create`. */
  runtime(name: string): string {
    return this.#named(name, runtimePackage);
  }

  /** A type of the runtime by its name there. */
  runtimeType(name: string): string {
    return this.#local(name, name, runtimePackage, true);
  }

  /** A type of a module of the generated folder. */
  generatedType(module: string, name: string): string {
    return this.#local(name, name, this.#relative(module), true);
  }

  /** What a module of the generated folder exports. */
  generated(module: string, name: string): string {
    if (`${module}.ts` === this.#path) return name;
    return this.#named(name, this.#relative(module));
  }

  /** A whole module of the generated folder under a name. */
  module(module: string, name: string): string {
    return this.#local(`* as ${name}`, name, this.#relative(module));
  }

  /** A piece of code. */
  code(code: Code): string {
    if ("literal" in code) return literal(code.literal);
    if ("call" in code)
      return `${this.#name(code.call)}(${code.with.map((one) => this.code(one)).join(", ")})`;
    return this.#name(code);
  }

  /** What the module imports: of the runtime, of the author's files, of other modules. */
  get imports(): readonly Import[] {
    const lines = [...this.#imported.values()].map(({ line }) => line);
    const authors = [...this.#authored].map(([file, name]) =>
      importOf(`* as ${name}`, importPath(this.#paths, this.#path, file), false),
    );
    const placeOf = ({ from, isType, name }: Import): string => `${from} ${isType ? 1 : 0} ${name}`;
    const byPlace = (left: Import, right: Import): number =>
      placeOf(left) < placeOf(right) ? -1 : 1;
    return [
      ...lines.filter(({ from }) => from === runtimePackage).sort(byPlace),
      ...authors,
      ...lines.filter(({ from }) => from !== runtimePackage).sort(byPlace),
    ];
  }

  #name({ name, from }: CodeName): string {
    if (from === "runtime") return this.runtime(name);
    if ("generated" in from) return this.generated(from.generated, name);
    return `${this.#authored.get(from.authored) ?? ""}.${name}`;
  }

  #named(path: string, from: string): string {
    const [name = "", ...members] = path.split(".");
    return [this.#local(name, name, from), ...members].join(".");
  }

  #local(imported: string, wished: string, from: string, isType = false): string {
    const key = `${from}#${imported}`;
    const known = this.#imported.get(key);
    if (known !== undefined) return known.local;
    let local = wished;
    for (let number = 2; this.#taken.has(local); number += 1) local = `${wished}${number}`;
    this.#taken.add(local);
    const isWhole = imported.startsWith("*");
    const name = isWhole
      ? `* as ${local}`
      : local === imported
        ? imported
        : `${imported} as ${local}`;
    this.#imported.set(key, { local, line: importOf(name, from, isType) });
    return local;
  }

  #relative(module: string): string {
    const known = this.#places.get(module);
    if (known !== undefined) return known;
    const path = posix.relative(posix.dirname(this.#path), `${module}.js`);
    const place = path.startsWith(".") ? path : `./${path}`;
    this.#places.set(module, place);
    return place;
  }
}
