// Modules of the project that ask where they are: they hear of the place that they had before they
// were bundled, seen from the artefact as it was from the project.
import { dirname, join } from "node:path";
import type { Plugin } from "rolldown";
import type { BundleSource } from "./bundle-source.js";
import { placePrefix, type Sides } from "./sides.js";

/**
 * What stands for `import.meta`: a name as long as that, so that no column moves, and errors are
 * still mapped to the right place.
 */
const meta = "import$meta";

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
 * names beside itself, as `new URL("…", import.meta.url)`, are added to `beside`.
 */
export function modulePlaces(source: BundleSource, sides: Sides, beside: Set<string>): Plugin {
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
        const nodes = id.endsWith(".json") ? [] : nodesOf(this.parse(code) as unknown as Node);
        for (const path of nodes.flatMap(besideOf)) beside.add(join(dirname(place), path));
        const module = JSON.stringify(placePrefix + place + ending);
        const asked = nodes.filter(({ type }) => type === "MetaProperty");
        // On the first line, and first, since others may call it before it is run.
        if (asked.length > 0)
          return { code: `import ${meta} from ${module}; ${replaceAt(code, asked)}`, map: null };
        const isModule = nodes.some(({ type }) => /^(?:Import|Export)\w*Declaration$/.test(type));
        const isAsked = nodes.some(
          ({ type, name }) => type === "Identifier" && /^__(?:dir|file)name$/.test(String(name)),
        );
        if (isModule || !isAsked) return null;
        const taken = `const { dirname: __dirname, filename: __filename } = require(${module}).default;`;
        return { code: `${taken} ${code}`, map: null };
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
  return isBeside && typeof text === "string" && !/^(?:\w+:|\/|[./]*$)/.test(text) ? [text] : [];
}

/** Puts the name in place of each `import.meta`. */
function replaceAt(code: string, nodes: readonly Node[]): string {
  const parts: string[] = [];
  let end = 0;
  for (const node of nodes.toSorted((left, right) => left.start - right.start)) {
    parts.push(code.slice(end, node.start), meta);
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
