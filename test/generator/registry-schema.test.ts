// The schema for editors: every node says what it is, and has an example that it accepts; the examples of whole sections are
// declarations that the loader takes.
import { Ajv2020 } from "ajv/dist/2020.js";
import { expect, test } from "vitest";
import { registryFormat } from "../../generator/expand/registry-shape.js";
import { emitRegistrySchema } from "../../generator/emit/registry-schema.js";
import { loadRegistry } from "../../generator/load/load.js";
import type { RegistryNames } from "../../generator/load/registry-names.js";
import { writeProject } from "./scenario.js";

type Node = Readonly<Record<string, unknown>>;

const none: RegistryNames = { policies: [], hooks: [], errors: [], types: [], namespaces: [] };
const some: RegistryNames = {
  policies: ["admin", "open"],
  hooks: ["noted"],
  errors: ["gone"],
  types: ["Note"],
  namespaces: ["notes"],
};

/** All schemas of a schema, by their pointers. */
function nodesOf(schema: Node, at = "#"): readonly (readonly [string, Node])[] {
  const inner = (keyword: string): readonly (readonly [string, Node])[] => {
    const value = schema[keyword] as Node | undefined;
    return typeof value === "object" ? nodesOf(value, `${at}/${keyword}`) : [];
  };
  const each = (keyword: string): readonly (readonly [string, Node])[] =>
    Object.entries((schema[keyword] ?? {}) as Readonly<Record<string, Node>>).flatMap(
      ([key, value]) => nodesOf(value, `${at}/${keyword}/${key}`),
    );
  return [
    [at, schema],
    ...["items", "additionalProperties", "propertyNames"].flatMap(inner),
    ...["properties", "patternProperties", "anyOf", "oneOf", "$defs"].flatMap(each),
  ];
}

test.each([
  ["no names", none],
  ["names", some],
])(
  "each node has a description and an example that it accepts, in a registry with %s",
  (_, names) => {
    const schema = JSON.parse(emitRegistrySchema(names).text) as Node;
    const nodes = nodesOf(schema);
    expect(nodes.length).toBeGreaterThan(500);
    const silent = nodes.filter(
      ([, node]) => typeof node["description"] !== "string" || !Array.isArray(node["examples"]),
    );
    expect(silent.map(([at]) => at)).toEqual([]);
    // Without `strictTypes`, because `required` of an alternative stands beside `properties` of what it is in.
    const ajv = new Ajv2020({
      strictTypes: false,
      strictRequired: false,
      code: { optimize: false },
    });
    expect(ajv.validateSchema(schema)).toBe(true);
    ajv.opts.validateSchema = false;
    const met = new Set<string>();
    const refused = nodes.flatMap(([at, node]) => {
      // Shapes stand in several places.
      const text = JSON.stringify(node);
      if (met.has(text)) return [];
      met.add(text);
      const accepts = ajv.compile({ ...node, $defs: schema["$defs"] });
      return (node["examples"] as unknown[])
        .filter((example) => !accepts(example))
        .map((example) => `${at} ${JSON.stringify(example)}`);
    });
    expect(refused).toEqual([]);
  },
);

test("the examples of all sections are declarations that the loader takes", () => {
  const { properties } = JSON.parse(emitRegistrySchema(none).text) as {
    readonly properties: Readonly<Record<string, { readonly examples: readonly unknown[] }>>;
  };
  const sections = Object.entries(properties).map(
    ([section, { examples }]) => [section, examples[0]] as const,
  );
  expect(sections.length).toBeGreaterThan(10);
  const { root, remove } = writeProject({
    "registry/all.yaml": JSON.stringify(Object.fromEntries(sections)),
  });
  const faults: string[] = [];
  const { declarations } = loadRegistry(root, "registry", registryFormat, ({ code, message, at }) =>
    faults.push(`${code} ${at.path.join(".")} ${message}`),
  );
  remove();
  expect(faults).toEqual([]);
  expect(Object.keys(declarations.documents)).toEqual(["tasks", "articles"]);
});
