// Findings: what is wrong in a registry, with its code and its place.
import type { DiagnosticCode } from "./catalogue.js";

/** Where a value stands: a file and the path of keys to it. The line is looked up only when a finding is shown. */
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
  readonly suggestion?: string | undefined;
  /** A sentence with the right way, if it takes more than another text in this place. */
  readonly hint?: string | undefined;
}

/** Something wrong in the registry, as a rule reports it. */
export interface Finding extends Advice {
  readonly code: DiagnosticCode;
  readonly message: string;
  readonly at: Origin;
  readonly related?: readonly { readonly message: string; readonly at: Origin }[];
}

/** Takes findings as they are made. */
export type Report = (finding: Finding) => void;
