// Functions of the author's in the specs of documents, whose modules may import these specs.
import { functionReference, ofAuthor } from "../../model/code.js";
import type { ModuleScope } from "../../print/module-scope.js";

/**
 * Code that names a function of the author's, held to a type, once it is called: an author's module
 * that imports two specs is evaluated after the first of them.
 */
export function nameLater(reference: string, type: string, scope: ModuleScope): string {
  return `() => ${scope.code(ofAuthor(functionReference(reference)))} satisfies ${type}`;
}
