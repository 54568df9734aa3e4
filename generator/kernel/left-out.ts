// Declarations that were left out for a fault of their own, which has been reported: that they are
// missing is no other fault.
import type { Declarations } from "../load/declarations.js";
import { isMap } from "../load/shape.js";
import type { SourceTree } from "../load/source-tree.js";
import { own } from "../model/records.js";

interface Read {
  readonly tree: SourceTree;
  readonly declarations: Declarations;
}

/** Whether a section that is one declaration was left out. */
export function isSectionLeftOut({ tree, declarations }: Read, section: string): boolean {
  return tree.root[section] !== undefined && readSection(declarations, section) === undefined;
}

/** Whether an entry of a section, or of any, was left out. */
export function isLeftOut({ tree, declarations }: Read, name: string, section?: string): boolean {
  const sections = section === undefined ? Object.keys(tree.root) : [section];
  return sections.some((one) => {
    const read = readSection(declarations, one);
    return Object.hasOwn(tree.section(one), name) && !(isMap(read) && Object.hasOwn(read, name));
  });
}

function readSection(declarations: Declarations, section: string): unknown {
  return own(declarations as unknown as Readonly<Record<string, unknown>>, section);
}
