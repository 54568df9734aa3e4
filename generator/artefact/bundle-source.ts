// What an artefact is bundled from.

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
  /** Names of packages to copy whole, besides those that need it. */
  readonly whole: readonly string[];
}
