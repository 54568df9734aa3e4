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
}

/** A place inside another. */
export function inside(at: Origin, step: string | number): Origin {
  return { file: at.file, path: [...at.path, step] };
}

/** Something wrong in the registry, as a rule reports it. */
export interface Finding {
  readonly code: DiagnosticCode;
  readonly message: string;
  readonly at: Origin;
  readonly related?: readonly { readonly message: string; readonly at: Origin }[];
  /** What to write instead, where one thing is likely. */
  readonly suggestion?: string | undefined;
}

/** Takes findings as they are made. */
export type Report = (finding: Finding) => void;
