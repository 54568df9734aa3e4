// What every family owes: one name each, mounts that are obeyed, changes that are told, facts that are said, a row of the reference page.
import { readFileSync } from "node:fs";
import { afterAll, describe, expect, test } from "vitest";
import { compareRegistries } from "../../generator/diff/compare.js";
import { namespaceName } from "../../generator/emit/client/functions.js";
import { families } from "../../generator/families/index.js";
import { checkRegistry, planGeneration, type Project } from "../../generator/generate.js";
import type { OperationModel, RegistryModel } from "../../generator/model/registry.js";
import { writeProject } from "./scenario.js";

const remove: (() => void)[] = [];
afterAll(() => {
  for (const one of remove) one();
});

interface Sample {
  /** Its sections, as YAML. */
  readonly yaml: string;
  /** What else they need. */
  readonly beside?: string;
  /** The namespaces that it makes, each with the hole in the YAML that its mount can fill. */
  readonly mounted?: Readonly<Record<string, string>>;
  /** Whether nothing changes for clients until an operation names what it declares. */
  readonly isSilent?: true;
}

/** A registry of each family. A family without one fails the suite. */
const samples: Readonly<Record<string, Sample>> = {
  identity: {
    yaml: "identity: {methods: [password, token, api_key], ingress: [{bearer: Authorization}, {api_key: X-API-Key}], <one>, api_keys: {<two>}, provisioning: {guard: staff, <three>}}",
    mounted: { authn: "<one>", api_keys: "<two>", principals: "<three>" },
  },
  tenancy: {
    yaml: "tenancy: {selector: {<one>}, admin: {guard: staff, <two>}}",
    beside: "identity: {}",
    mounted: { tenants: "<one>", tenant_admin: "<two>" },
  },
  documents: {
    yaml: "documents: {notes: {type: {text: string}, tenant: false, guard: open, <one>}}",
    mounted: { notes: "<one>" },
  },
  search: {
    yaml: "search: {finds: {of: notes, text: [text], guard: open, <one>}}",
    beside: "documents: {notes: {type: {text: string}, tenant: false, guard: open}}",
    mounted: { finds: "<one>" },
  },
  storage: {
    yaml: "storage: {files: {guard: open, presign: true, multipart: true, <one>}}",
    mounted: { files: "<one>" },
  },
  composites: {
    yaml: "composites: {papers: {type: {text: string}, tenant: false, search: {text: [text]}, storage: {}, guard: open, <one>}}",
    mounted: { papers: "<one>", papers_search: "<one>", papers_blobs: "<one>" },
  },
  custom: {
    yaml: "operations: {shop.open: {post: /shop, in: {at: date-time}, out: {ok: boolean}, run: registry/shop.ts#open, guard: open}}",
  },
  errors: {
    yaml: "errors: {sold_out: {kind: conflict, detail: None are left., context: {left: integer}}}",
    isSilent: true,
  },
  outbox: {
    yaml: "outbox: {events: {shop.opened: {destination: shop, data: {at: date-time}}}}",
  },
  webhooks: {
    yaml: "webhooks: {guard: staff, <one>}",
    beside:
      "identity: {}\noutbox: {events: {shop.opened: {destination: shop, data: {at: date-time}}}}",
    mounted: { webhooks: "<one>" },
  },
  realtime: {
    yaml: "realtime: {events: {shop.opened: {data: {at: date-time}, audience: [topic], delivery: ephemeral}}}",
    beside: "identity: {}",
  },
};

function projectOf(yaml: string): Project {
  const { root, remove: drop } = writeProject({
    "registry/service.yaml": `registry: 1
service: {name: demo, title: Demo, version: 1.0.0}
policies: {open: [], staff: [principal, {authorize: platform.admin}]}
${yaml}
`,
    "registry/shop.ts": "export const open = async () => ({ ok: true });\n",
  });
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

/** The YAML of a sample, with a mount in one of its holes. */
const text = ({ yaml, beside = "" }: Sample, hole = "", mount = ""): string =>
  `${beside}\n${yaml.replaceAll(/(, )?(<\w+>)/g, (_all, comma: string | undefined, found: string) =>
    found === hole ? `${comma ?? ""}${mount}` : "",
  )}`;

/** The names in the first column of a page's tables. */
const rowsOf = (page: string): readonly string[] =>
  [...page.matchAll(/^\| `(\w+)/gm)].map(([, name = ""]) => name);

test("every family has a sample here, and no two the same name or section", () => {
  const names = families.map(({ name }) => name);
  expect(Object.keys(samples).sort()).toEqual([...names].sort());
  const sections = families.flatMap(({ format }) => Object.keys(format));
  expect(sections.length).toBe(new Set(sections).size);
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

  test("comes after the families that it reads", () => {
    const order = families.indexOf(family);
    for (const earlier of family.after) expect(families.indexOf(earlier)).toBeLessThan(order);
  });

  test("has operations that say all about themselves", async () => {
    const { operations } = await modelOf(text(sample));
    for (const operation of Object.values(operations)) {
      const unsaid = Object.entries(operation).filter(([, fact]) => fact === undefined);
      expect([operation.key, unsaid]).toEqual([operation.key, []]);
      expect(operation.output.isBytes && operation.isTool).toBe(false);
      expect(families.map((one) => one.name)).toContain(operation.family);
      if (operation.effect === "reads") expect(operation.transaction).toBe("read");
    }
  });

  test("asks whom its policy names before each operation", async () => {
    const guarded = text(sample).replaceAll("guard: open", "guard: staff");
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
    const [before, after] = [await modelOf(sample.beside ?? ""), await modelOf(text(sample))];
    const common = ["operations", "namespaces", "types", "homes"];
    const isEmpty = (part: unknown): boolean =>
      part == null || (typeof part === "object" && Object.keys(part).length === 0);
    const parts = before as unknown as Readonly<Record<string, unknown>>;
    const added = Object.entries(after)
      .filter(([part, value]) => !common.includes(part) && isEmpty(parts[part]) && !isEmpty(value))
      .map(([part]) => part);
    // What composites add is of the families that they are rewritten into.
    if (name === "composites") expect(added).toEqual(["documents", "searches", "storages"]);
    else expect([added.length > 0, added]).toEqual([family.compare !== null, added]);
  });

  test("tells what it adds as additive and what it takes away as breaking", async () => {
    const [before, after] = [await modelOf(sample.beside ?? ""), await modelOf(text(sample))];
    const added = compareRegistries(before, after);
    const gone = compareRegistries(after, before);
    const isTold = sample.isSilent !== true;
    expect(added.length > 0).toBe(isTold);
    expect(added.filter(({ level }) => level === "breaking")).toEqual([]);
    expect(gone.some(({ level }) => level === "breaking")).toBe(isTold);
  });

  test("has no namespace that is exported like what its files of the client export", async () => {
    const { exported } = family.client(await modelOf(text(sample)), new Map());
    const names = exported.flatMap((part) => {
      const file = readFileSync(new URL(`../../client/${part}.ts`, import.meta.url), "utf8");
      const found = file.matchAll(/^export (?:async )?(?:function\*?|const|class) (\w+)/gm);
      return [...found].map(([, one = ""]) => one);
    });
    expect(exported.length > 0).toBe(names.length > 0);
    for (const one of names) expect(namespaceName(one)).not.toBe(one);
  });

  test("makes the namespaces whose mounts are tried here, and no others", async () => {
    const [before, after] = [await modelOf(sample.beside ?? ""), await modelOf(text(sample))];
    const made = Object.keys(after.namespaces).filter((one) => !(one in before.namespaces));
    const own = Object.values(after.operations).filter((one) => made.includes(one.namespace));
    if (name !== "composites") expect(own.filter((one) => one.family !== name)).toEqual([]);
    expect(made.sort()).toEqual(Object.keys(sample.mounted ?? {}).sort());
  });

  test.each(mounted)("owns the name %s alone", async (namespace) => {
    const taken = `storage: {${namespace}: {guard: open}}`;
    const yaml = text(sample);
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
      const { project, found } = await checked(text(sample, hole, "mount: false"));
      expect(found.findings).toEqual([]);
      const ofIt = Object.values(found.expanded.model.operations).filter(
        (one: OperationModel) => one.namespace === namespace,
      );
      expect(ofIt.length).toBeGreaterThan(0);
      expect(ofIt.map(({ route }) => route)).toEqual(ofIt.map(() => null));
      const { files } = await planGeneration(project, found);
      const textOf = (wanted: string) => files.find(({ path }) => path === wanted)?.text ?? "";
      for (const { key } of ofIt) {
        expect(textOf("openapi.json")).not.toContain(`"operationId": "${key}"`);
        expect(textOf("tools.json")).not.toContain(`"${key}"`);
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
    const model = await modelOf(text(sample, hole, 'mount: {at: "/elsewhere"}'));
    const routes = routesOf(model, namespace);
    expect(routes.length).toBeGreaterThan(0);
    for (const path of routes) expect(path).toMatch(/^\/elsewhere(?:\/|$)/);
  });

  test.each(mounted)("mounts the rest of %s by its prefix", async (namespace, hole) => {
    const { operations } = await modelOf(text(sample));
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
    const routes = routesOf(await modelOf(`${text(sample, hole, own)}\n${further}`), namespace);
    expect(routes).toHaveLength(attached.length);
    expect(routes.filter((path) => path.startsWith("/elsewhere"))).toHaveLength(isShared ? 0 : 1);
    expect(routes.filter((path) => path.startsWith("/further"))).toHaveLength(others.length);
  });
});
