// Keys that a map of a YAML document has twice, found in linear time: the parser compares each key with all before it.
import { isMap, isNode, isScalar, isSeq, type Document } from "yaml";

/** Where each repeated key begins, in characters from the start of the text. */
export function repeatedKeys(document: Document): readonly number[] {
  const found: number[] = [];
  const visit = (node: unknown): void => {
    if (isSeq(node)) for (const item of node.items) visit(item);
    if (!isMap(node)) return;
    const known = new Set<unknown>();
    for (const { key, value } of node.items) {
      if (isScalar(key) && known.has(key.value)) found.push(key.range?.[0] ?? 0);
      if (isScalar(key)) known.add(key.value);
      if (isNode(key)) visit(key);
      visit(value);
    }
  };
  visit(document.contents);
  return found;
}
