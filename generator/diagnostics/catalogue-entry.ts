// One entry of the catalogue of diagnostics.

export interface CatalogueEntry {
  readonly title: string;
  readonly cause: string;
  readonly fix: string;
  /** A warning is told, and keeps nothing from being generated. */
  readonly severity: Severity;
}

export type Severity = "error" | "warning";

/** An entry; an error unless it says otherwise. */
export const entry = (
  title: string,
  cause: string,
  fix: string,
  severity: Severity = "error",
): CatalogueEntry => ({
  severity,
  title,
  cause,
  fix,
});
