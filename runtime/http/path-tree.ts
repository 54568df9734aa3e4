// Which path of many a request has: literal segments first, then a placeholder, then one that takes the rest.

/** Characters that a placeholder takes at most. */
const maxValue = 2048;

interface Node<T> {
  readonly literals: Map<string, Node<T>>;
  placeholder: Node<T> | undefined;
  /** What takes the rest of the path from here. */
  rest: Leaf<T> | undefined;
  end: Leaf<T> | undefined;
}

interface Leaf<T> {
  readonly value: T;
  /** Names of the placeholders on the way, in their order. */
  readonly names: readonly string[];
}

/** What a path leads to, with the decoded values of its placeholders. */
export interface PathMatch<T> {
  readonly value: T;
  readonly path: Readonly<Record<string, string | undefined>>;
}

/** Paths with placeholders as whole segments: `{name}`, and at the end `{+name}`, which takes slashes too (RFC 6570 §3.2.3). */
export class PathTree<T> {
  readonly #root: Node<T> = empty();

  /** Adds a path that begins with a slash. */
  add(path: string, value: T): void {
    const names: string[] = [];
    let node = this.#root;
    for (const segment of path.slice(1).split("/")) {
      const name = /^\{\+?(\w+)\}$/.exec(segment)?.[1];
      if (name !== undefined) names.push(name);
      if (segment.startsWith("{+")) {
        node.rest ??= { value, names };
        return;
      }
      node = name === undefined ? literal(node, segment) : (node.placeholder ??= empty());
    }
    node.end ??= { value, names };
  }

  /** Finds a path that begins with a slash, still encoded; null where there is none. Throws `URIError` for bad encoding. */
  find(path: string): PathMatch<T> | null {
    const isEncoded = path.includes("%");
    // All of it, whatever part of it would have to be looked at.
    if (isEncoded) decodeURIComponent(path);
    const values: string[] = [];
    const leaf = walk(this.#root, path, 1, isEncoded, values);
    if (leaf === undefined) return null;
    const { value, names } = leaf;
    const found: Record<string, string> = {};
    for (let index = 0; index < names.length; index += 1)
      found[names[index] ?? ""] = values[index] ?? "";
    return { value, path: found };
  }
}

function empty<T>(): Node<T> {
  return { literals: new Map(), placeholder: undefined, rest: undefined, end: undefined };
}

function literal<T>(node: Node<T>, segment: string): Node<T> {
  const known = node.literals.get(segment);
  if (known !== undefined) return known;
  const made = empty<T>();
  node.literals.set(segment, made);
  return made;
}

/** The leaf below a node for what follows `start`, the beginning of a segment. Leaves the values on the way in `values`. */
function walk<T>(
  node: Node<T>,
  path: string,
  start: number,
  isEncoded: boolean,
  values: string[],
): Leaf<T> | undefined {
  const slash = path.indexOf("/", start);
  const raw = slash < 0 ? path.slice(start) : path.slice(start, slash);
  const next = (child: Node<T>): Leaf<T> | undefined =>
    slash < 0 ? child.end : walk(child, path, slash + 1, isEncoded, values);

  // Reserved characters are not the same when they are encoded (RFC 3986 §2.2).
  const same = node.literals.get(isEncoded ? decodeURI(raw) : raw);
  const found = same === undefined ? undefined : next(same);
  if (found !== undefined) return found;
  if (node.placeholder !== undefined) {
    const value = isEncoded ? decodeURIComponent(raw) : raw;
    if (value.length <= maxValue) {
      values.push(value);
      const below = next(node.placeholder);
      if (below !== undefined) return below;
      values.pop();
    }
  }
  if (node.rest === undefined) return undefined;
  const rest = path.slice(start);
  values.push(isEncoded ? decodeURIComponent(rest) : rest);
  return node.rest;
}
