// What every family owes: one name each, mounts that are obeyed, changes that are told, facts that are said, a row of the reference page.
import { existsSync, readFileSync } from "node:fs";
import { afterAll, describe, expect, test } from "vitest";
import { compareRegistries } from "../../generator/diff/compare.js";
import { namespaceName } from "../../generator/emit/client/functions.js";
import { families, modelParts } from "../../generator/families/index.js";
import { checkRegistry, planGeneration, type Project } from "../../generator/pipeline/generate.js";
import type { OperationModel, RegistryModel } from "../../generator/model/registry.js";
import { filesOf, samples, textOf } from "./family-samples.js";
import { writeProject } from "./scenario.js";

const remove: (() => void)[] = [];
afterAll(() => {
  for (const one of remove) one();
});

function projectOf(yaml: string): Project {
  const { root, remove: drop } = writeProject(filesOf(yaml));
  remove.push(drop);
  return {
    root,
    paths: { out: "generated", registry: "registry" },
    client: { package: null, queries: true, mocks: true },
  };
}

async function checked(yaml: string) {
  const project = projectOf(yaml);
  return { project, found: await checkRegistry(project) };
}

async function modelOf(yaml: string): Promise<RegistryModel> {
  const { found } = await checked(yaml);
  expect(found.findings).toEqual([]);
  return found.expanded.model;
}

/** The names in the first column of a page's tables. */
const rowsOf = (page: string): readonly string[] =>
  [...page.matchAll(/^\| `(\w+)/gm)].map(([, name = ""]) => name);

test("every family has a sample here, and no two the same name or section", () => {
  const names = families.map(({ name }) => name);
  expect(Object.keys(samples).sort()).toEqual([...names].sort());
  const sections = families.flatMap(({ format }) => Object.keys(format));
  expect(sections.length).toBe(new Set(sections).size);
});

test("CONTRIBUTING says what each member of a family is", () => {
  const page = readFileSync(new URL("../../CONTRIBUTING.md", import.meta.url), "utf8");
  const [, walkthrough = ""] = page.split("## A family\n");
  const members = new Set(families.flatMap((family) => Object.keys(family)));
  expect([...members].filter((member) => !walkthrough.includes(`\`${member}\``))).toEqual([]);
});

describe.each(families.map((family) => [family.name, family] as const))("%s", (name, family) => {
  const sample = samples[name] ?? { yaml: "" };
  const mounted = Object.entries(sample.mounted ?? {});

  test("says each key of its sections in a line", () => {
    for (const { description } of Object.values(family.format))
      expect(description.length).toBeGreaterThan(10);
  });

  test("has a row on the page of the registry for each section", () => {
    const page = readFileSync(new URL("../../docs/registry.md", import.meta.url), "utf8");
    expect(rowsOf(page)).toEqual(expect.arrayContaining(Object.keys(family.format)));
  });

  test("says how registry.json has its parts of the model", async () => {
    const common = ["format", "service", "types", "homes", "namespaces", "operations"];
    const parts = Object.keys(await modelOf(textOf(sample)));
    expect(Object.keys(modelParts)).toEqual(
      expect.arrayContaining(parts.filter((part) => !common.includes(part))),
    );
  });

  test("gives the codes that it declares", async () => {
    const file = new URL(`../../generator/families/${name}/diagnostics.ts`, import.meta.url);
    const text = existsSync(file) ? readFileSync(file, "utf8") : "";
    const codes = [...text.matchAll(/^ {2}(OPW\d+): entry/gm)].map(([, code]) => code);
    expect(Object.keys(family.diagnostics).sort()).toEqual(codes.sort());
  });

  test("comes after the families that it reads", () => {
    const order = families.indexOf(family);
    for (const earlier of family.after) expect(families.indexOf(earlier)).toBeLessThan(order);
  });

  test("has operations that say all about themselves", async () => {
    const { operations } = await modelOf(textOf(sample));
    for (const operation of Object.values(operations)) {
      const unsaid = Object.entries(operation).filter(([, fact]) => fact === undefined);
      expect([operation.key, unsaid]).toEqual([operation.key, []]);
      expect(operation.output.isBytes && operation.isTool).toBe(false);
      expect(families.map((one) => one.name)).toContain(operation.family);
      if (operation.effect === "reads") expect(operation.transaction).toBe("read");
    }
  });

  test("asks whom its policy names before each operation", async () => {
    const guarded = textOf(sample).replaceAll("guard: open", "guard: staff");
    const needs = guarded.includes("identity:") ? "" : "identity: {}\n";
    const { operations } = await modelOf(`${needs}${guarded}`);
    const own = Object.values(operations).filter((one) => one.guard === "staff");
    expect(own.length > 0).toBe(guarded.includes("guard: staff"));
    for (const { key, hooks } of own) {
      const permissions = hooks.flatMap(({ permission }) => permission ?? []);
      expect([key, permissions]).toEqual([key, ["platform.admin"]]);
    }
  });

  test("says what clients notice of what it adds to the model", async () => {
    const [before, after] = [await modelOf(sample.beside ?? ""), await modelOf(textOf(sample))];
    const common = ["operations", "namespaces", "types", "homes"];
    const isEmpty = (part: unknown): boolean =>
      part == null || (typeof part === "object" && Object.keys(part).length === 0);
    const parts = before as unknown as Readonly<Record<string, unknown>>;
    const added = Object.entries(after)
      .filter(([part, value]) => !common.includes(part) && isEmpty(parts[part]) && !isEmpty(value))
      .map(([part]) => part);
    // What composites add is of the families that they are rewritten into.
    if (name === "composites") expect(added).toEqual(["documents", "search", "storage"]);
    else expect([added.length > 0, added]).toEqual([family.compare !== null, added]);
  });

  test("tells what it adds as additive and what it takes away as breaking", async () => {
    const [before, after] = [await modelOf(sample.beside ?? ""), await modelOf(textOf(sample))];
    const added = compareRegistries(before, after);
    const gone = compareRegistries(after, before);
    const isTold = sample.isSilent !== true;
    expect(added.length > 0).toBe(isTold);
    expect(added.filter(({ level }) => level === "breaking")).toEqual([]);
    expect(gone.some(({ level }) => level === "breaking")).toBe(isTold);
  });

  test("has no namespace that is exported like what its files of the client export", async () => {
    const { exported } = family.client(await modelOf(textOf(sample)), new Map());
    const names = exported.flatMap((part) => {
      const file = readFileSync(new URL(`../../client/${part}.ts`, import.meta.url), "utf8");
      const found = file.matchAll(/^export (?:async )?(?:function\*?|const|class) (\w+)/gm);
      return [...found].map(([, one = ""]) => one);
    });
    expect(exported.length > 0).toBe(names.length > 0);
    for (const one of names) expect(namespaceName(one)).not.toBe(one);
  });

  test("makes the namespaces whose mounts are tried here, and no others", async () => {
    const [before, after] = [await modelOf(sample.beside ?? ""), await modelOf(textOf(sample))];
    const made = Object.keys(after.namespaces).filter((one) => !(one in before.namespaces));
    const own = Object.values(after.operations).filter((one) => made.includes(one.namespace));
    if (name !== "composites") expect(own.filter((one) => one.family !== name)).toEqual([]);
    expect(made.sort()).toEqual(Object.keys(sample.mounted ?? {}).sort());
  });

  test.each(mounted)("owns the name %s alone", async (namespace) => {
    const taken = `storage: {${namespace}: {guard: open}}`;
    const yaml = textOf(sample);
    const { found } = await checked(
      yaml.includes("storage: {") && name === "storage"
        ? `${yaml}\nsearch: {${namespace}: {of: ${namespace}, text: [text], guard: open}}\ndocuments: {${namespace}: {type: {text: string}, guard: open}}`
        : `${yaml}\n${taken}`,
    );
    expect(found.findings.map(({ code }) => code)).toContain("OPW041");
  });

  test.each(mounted)(
    "leaves %s off HTTP, the client and the documents where its mount is false",
    async (namespace, hole) => {
      const { project, found } = await checked(textOf(sample, hole, "mount: false"));
      expect(found.findings).toEqual([]);
      const ofIt = Object.values(found.expanded.model.operations).filter(
        (one: OperationModel) => one.namespace === namespace,
      );
      expect(ofIt.length).toBeGreaterThan(0);
      expect(ofIt.map(({ route }) => route)).toEqual(ofIt.map(() => null));
      const { files } = await planGeneration(project, found);
      const printed = (wanted: string) => files.find(({ path }) => path === wanted)?.text ?? "";
      for (const { key } of ofIt) {
        expect(printed("openapi.json")).not.toContain(`"operationId": "${key}"`);
        expect(printed("tools.json")).not.toContain(`"${key}"`);
      }
      const paths = files.map(({ path }) => path);
      expect(paths).not.toContain(`client/api/${namespace}.ts`);
    },
  );

  const routesOf = ({ operations }: RegistryModel, namespace: string): readonly string[] =>
    Object.values(operations)
      .filter((one) => one.namespace === namespace)
      .flatMap(({ route }) => (route === null ? [] : [route.path]));

  test.each(mounted)("mounts %s where it is told to", async (namespace, hole) => {
    const model = await modelOf(textOf(sample, hole, 'mount: {at: "/elsewhere"}'));
    const routes = routesOf(model, namespace);
    expect(routes.length).toBeGreaterThan(0);
    for (const path of routes) expect(path).toMatch(/^\/elsewhere(?:\/|$)/);
  });

  test.each(mounted)("mounts the rest of %s by its prefix", async (namespace, hole) => {
    const { operations } = await modelOf(textOf(sample));
    const attached = Object.values(operations).flatMap(({ namespace: of, name: verb, route }) =>
      of === namespace && route !== null ? [verb] : [],
    );
    // The mount of a composite is that of all its parts, so it takes no `include`, and others name the part.
    const isShared = mounted.filter(([, of]) => of === hole).length > 1;
    const [first = "", ...others] = isShared ? ["", ...attached] : attached;
    expect(others).not.toEqual([]);
    const own = isShared ? "mount: false" : `mount: {at: "/elsewhere", include: [${first}]}`;
    const of = isShared ? `namespace: ${namespace}` : 'prefix: "/elsewhere"';
    const further = `mounts: {more: {${of}, at: "/further", include: [${others.join(", ")}]}}`;
    const routes = routesOf(await modelOf(`${textOf(sample, hole, own)}\n${further}`), namespace);
    expect(routes).toHaveLength(attached.length);
    expect(routes.filter((path) => path.startsWith("/elsewhere"))).toHaveLength(isShared ? 0 : 1);
    expect(routes.filter((path) => path.startsWith("/further"))).toHaveLength(others.length);
  });
});
