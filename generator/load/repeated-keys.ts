// Keys that a map of a YAML document has twice, found in linear time: the parser compares each key
// with all before it.
import { isMap, isNode, isScalar, isSeq, type Document } from "yaml";

/** A repeated key, and where it begins in the text, in characters. */
export interface RepeatedKey {
  readonly key: string;
  readonly offset: number;
  readonly length: number;
}

/** Each key that a map has already. */
export function repeatedKeys(document: Document): readonly RepeatedKey[] {
  const found: RepeatedKey[] = [];
  const visit = (node: unknown): void => {
    if (isSeq(node)) for (const item of node.items) visit(item);
    if (!isMap(node)) return;
    const known = new Set<unknown>();
    for (const { key, value } of node.items) {
      if (isScalar(key) && known.has(key.value)) {
        const [offset = 0, end = 0] = key.range ?? [];
        found.push({ key: String(key.value), offset, length: end - offset });
      }
      if (isScalar(key)) known.add(key.value);
      if (isNode(key)) visit(key);
      visit(value);
    }
  };
  visit(document.contents);
  return found;
}
