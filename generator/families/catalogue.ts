// The catalogue of diagnostics: those of all families, and what they have in common.
import { ofAll, type DiagnosticCode } from "../diagnostics/catalogue.js";
import type { CatalogueEntry } from "../diagnostics/catalogue-entry.js";
import { mergeRecords } from "../model/records.js";
import { families } from "./index.js";

// Codes are declared beside their entries; family-contract.test.ts holds that families give theirs.
export const catalogue = mergeRecords<CatalogueEntry>([
  ofAll,
  ...families.map(({ diagnostics }) => diagnostics),
]) as Readonly<Record<DiagnosticCode, CatalogueEntry>>;

/** Whether the text is a code of the catalogue. */
export function isDiagnosticCode(text: string): text is DiagnosticCode {
  return Object.hasOwn(catalogue, text);
}
