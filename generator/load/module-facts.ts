// What is known of an author's module without compiling it.

/** One export of a module. */
export interface ExportFacts {
  readonly name: string;
  /**
   * A function with its number of required parameters, another value, or something only a compiler
   * could tell.
   */
  readonly kind: "function" | "value" | "unknown";
  readonly requiredParameters: number;
  /** The name of the type that the export is declared with, where it is a plain name. */
  readonly annotation: string | null;
  /** Characters from the start of the file. */
  readonly offset: number;
}

/** A statement that starts a call which answers with a promise, and doesn't await it. */
export interface FloatingCall {
  /** What it calls, such as `notes.create`. */
  readonly what: string;
  /** Characters from the start of the file. */
  readonly offset: number;
}

export interface ModuleFacts {
  readonly exports: readonly ExportFacts[];
  /** Whether the module re-exports everything of another, so that a missing name proves nothing. */
  readonly isOpen: boolean;
  readonly floating: readonly FloatingCall[];
}
