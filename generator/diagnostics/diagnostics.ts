// Findings: what is wrong in a registry, with its code and its place.
import type { DiagnosticCode } from "./catalogue.js";

/**
 * Where a value stands: a file and the path of keys to it. The line is looked up only when a
 * finding is shown.
 */
export interface Origin {
  /** Relative to the project, with forward slashes. */
  readonly file: string;
  readonly path: readonly (string | number)[];
  /** Whether the key itself is meant, not its value. */
  readonly isKey?: boolean;
  /** A position known already, in characters from the start of the file. */
  readonly offset?: number;
  /** How many characters are meant from there; one if it isn't said. */
  readonly length?: number;
}

/** A place inside another. */
export function inside(at: Origin, step: string | number): Origin {
  return { file: at.file, path: [...at.path, step] };
}

/** How to write what was likely meant. */
export interface Advice {
  /** The text that would be right in this place, if one is likely. */
  readonly suggestion?: string | NearestName | undefined;
  /** A sentence with the right way, if it takes more than another text in this place. */
  readonly hint?: string | undefined;
}

/** Something wrong in the registry, as a rule reports it. */
export interface Finding extends Advice {
  readonly code: DiagnosticCode;
  readonly message: string;
  readonly at: Origin;
  readonly related?: readonly { readonly message: string; readonly at: Origin }[];
  /** The edits that mend it, if there is one right answer. They don't overlap. */
  readonly fix?: Fix;
}

/** The name that is most likely meant by another one. */
export interface NearestName {
  readonly wrote: string;
  readonly name: string;
  /** Whether no other name can be meant. */
  readonly isOnly: boolean;
}

/**
 * A place between two characters: line and column count from 1, the offset from 0, in UTF-16 code
 * units.
 */
export interface TextPoint {
  readonly line: number;
  readonly col: number;
  readonly offset: number;
}

/** A text to write instead of what a range of a file has; the end is behind its last character. */
export interface TextEdit {
  readonly file: string;
  readonly range: { readonly start: TextPoint; readonly end: TextPoint };
  readonly text: string;
}

/** Edits that belong together: all of them are made, or none. */
export type Fix = readonly TextEdit[];

/** The suggestion in words. */
export function suggestionText(suggestion: Finding["suggestion"]): string | undefined {
  return typeof suggestion === "object" ? suggestion.name : suggestion;
}

/** Takes findings as they are made. */
export type Report = (finding: Finding) => void;
