// Modules of the project that ask where they are: they hear of the place that they had before they
// were bundled, seen from the artefact as it was from the project.
import { dirname, join } from "node:path";
import type { Plugin } from "rolldown";
import type { BundleSource } from "./bundle-source.js";
import { placePrefix, type Sides } from "./sides.js";

/**
 * What stands for `import.meta`, `__dirname` and `__filename`. The names are as long as what they
 * stand for, so that no column moves: errors are still mapped to the right place.
 */
const meta = "import$meta";
const dirnameOf = "$$dirname";
const filenameOf = "$$filename";

/** Tells the bundler that the module which says a place is ECMAScript, whatever is there. */
const ending = ".mjs";

/** What is read of a syntax tree (https://github.com/estree/estree). */
interface Node {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly [member: string]: unknown;
}

/**
 * The project's own modules; those of packages are copied whole if they ask. Files that a module
 * names beside itself, as `new URL("…", import.meta.url)`, are added to `named`.
 */
export function modulePlaces(source: BundleSource, sides: Sides, named: Set<string>): Plugin {
  return {
    name: "opwright:places",
    resolveId: {
      handler: (specifier) => (specifier.startsWith(placePrefix) ? specifier : null),
    },
    load: {
      handler(id) {
        if (!id.startsWith(placePrefix)) return null;
        return placeModule(id.slice(placePrefix.length, -ending.length));
      },
    },
    transform: {
      handler(code, id) {
        if (id.startsWith("\0") || sides.of(id) !== "project") return null;
        if (!/\bimport\.meta\b|\b__(?:dirname|filename)\b/.test(code)) return null;
        const place = source.placeOf(id);
        const nodes = nodesOf(this.parse(code) as unknown as Node);
        for (const path of nodes.flatMap(besideOf)) named.add(join(dirname(place), path));
        const module = JSON.stringify(placePrefix + place + ending);
        const asked = nodes.filter(({ type }) => type === "MetaProperty");
        if (asked.length > 0) {
          const text = replaceAt(code, asked, () => meta);
          return { code: `${text}\nimport ${meta} from ${module};\n`, map: null };
        }
        const names = nodes.filter(
          ({ type, name }) =>
            type === "Identifier" && (name === "__dirname" || name === "__filename"),
        );
        // Where a module of ECMAScript has such a name, it has declared it.
        if (
          names.length === 0 ||
          nodes.some(({ type }) => /^(?:Import|Export)\w+Declaration$/.test(type))
        )
          return null;
        const text = replaceAt(code, names, ({ name }) =>
          name === "__dirname" ? dirnameOf : filenameOf,
        );
        const taken = `const { dirname: ${dirnameOf}, filename: ${filenameOf} } = require(${module}).default;`;
        return { code: `${taken} ${text}`, map: null };
      },
    },
  };
}

/** All nodes of a tree. */
function nodesOf(tree: Node): readonly Node[] {
  const nodes: Node[] = [];
  const walk = (value: unknown): void => {
    if (Array.isArray(value)) value.forEach(walk);
    else if (isNode(value)) {
      nodes.push(value);
      Object.values(value).forEach(walk);
    }
  };
  walk(tree);
  return nodes;
}

function isNode(value: unknown): value is Node {
  return typeof value === "object" && value !== null && "type" in value && "start" in value;
}

/** The path in `new URL("…", import.meta.url)`. */
function besideOf({ type, callee, arguments: given }: Node): readonly string[] {
  if (type !== "NewExpression" || !isNode(callee) || callee["name"] !== "URL") return [];
  const [path, base] = given as readonly Node[];
  const isBeside =
    base?.type === "MemberExpression" &&
    isNode(base["object"]) &&
    base["object"].type === "MetaProperty";
  const text = path?.["value"];
  return isBeside && typeof text === "string" && /^\.{1,2}\//.test(text) ? [text] : [];
}

function replaceAt(code: string, nodes: readonly Node[], by: (node: Node) => string): string {
  const parts: string[] = [];
  let end = 0;
  for (const node of nodes.toSorted((left, right) => left.start - right.start)) {
    parts.push(code.slice(end, node.start), by(node));
    end = node.end;
  }
  return [...parts, code.slice(end)].join("");
}

/** Says where a module was: chunks of the project are in the artefact's root. */
function placeModule(place: string): string {
  const url = (to: string): string => `new URL(${JSON.stringify(to)}, import.meta.url)`;
  return [
    'import { fileURLToPath } from "node:url";',
    `const url = ${url(`./${place}`)}.href;`,
    "const resolve = (specifier) =>",
    "  /^[./]/.test(specifier) ? new URL(specifier, url).href : import.meta.resolve(specifier);",
    `const dirname = fileURLToPath(${url(`./${dirname(place)}`)});`,
    "export default { url, filename: fileURLToPath(url), dirname, resolve };",
    "",
  ].join("\n");
}
