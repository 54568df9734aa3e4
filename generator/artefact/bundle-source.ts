// What an artefact is bundled from.
import type { Package } from "./packages.js";

export interface BundleSource {
  /** The project's folder. */
  readonly root: string;
  /** The compiled server entry; absolute. */
  readonly entry: string;
  /**
   * The module that was compiled for this, where a file is one that the project had compiled
   * before; otherwise the file.
   */
  readonly compiledAnew: (file: string) => string;
  /** Where a compiled module would be in the project, relative to it. */
  readonly placeOf: (file: string) => string;
  /** Packages to copy whole, besides those that need it, by the names that ask for them. */
  readonly whole: readonly (readonly [name: string, one: Package])[];
}
