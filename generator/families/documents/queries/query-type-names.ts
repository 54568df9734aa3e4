// Names of the types that queries of a document use.
import { pascalCase } from "../../../model/names.js";

/** Names of the types that queries of a document use. */
export function queryTypeNames(document: string): {
  readonly filter: string;
  readonly comparison: string;
  readonly sorts: string;
  readonly field: string;
} {
  const name = pascalCase(document);
  return {
    filter: `${name}Filter`,
    comparison: `${name}Comparison`,
    sorts: `${name}Sorts`,
    field: `${name}Field`,
  };
}
