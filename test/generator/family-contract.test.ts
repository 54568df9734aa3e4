// What every family owes: one name each, mounts that are obeyed, changes that are told, facts that are said, a row of the reference page.
import { readFileSync } from "node:fs";
import { afterAll, describe, expect, test } from "vitest";
import { compareRegistries } from "../../generator/diff/compare.js";
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
  /** The namespaces that it makes, each with the key of its mount in the YAML, which can be `false`. */
  readonly mounted?: Readonly<Record<string, string>>;
}

/** A registry of each family. A family without one fails the suite. */
const samples: Readonly<Record<string, Sample>> = {
  identity: {
    yaml: "identity: {methods: [password, token, api_key], ingress: [{bearer: Authorization}, {api_key: X-API-Key}], MOUNT, api_keys: {}, provisioning: {guard: staff}}",
    mounted: { authn: "MOUNT" },
  },
  tenancy: {
    yaml: "tenancy: {selector: {MOUNT}, admin: {guard: staff}}",
    beside: "identity: {}",
    mounted: { tenants: "MOUNT" },
  },
  documents: {
    yaml: "documents: {notes: {type: {text: string}, tenant: false, guard: open, MOUNT}}",
    mounted: { notes: "MOUNT" },
  },
  search: {
    yaml: "search: {finds: {of: notes, text: [text], guard: open, MOUNT}}",
    beside: "documents: {notes: {type: {text: string}, tenant: false, guard: open}}",
    mounted: { finds: "MOUNT" },
  },
  storage: {
    yaml: "storage: {files: {guard: open, presign: true, multipart: true, MOUNT}}",
    mounted: { files: "MOUNT" },
  },
  composites: {
    yaml: "composites: {papers: {type: {text: string}, tenant: false, search: {text: [text]}, storage: {}, guard: open, MOUNT}}",
    mounted: { papers: "MOUNT", papers_search: "MOUNT", papers_blobs: "MOUNT" },
  },
  custom: {
    yaml: "operations: {shop.open: {post: /shop, in: {at: date-time}, out: {ok: boolean}, run: registry/shop.ts#open, guard: open}}",
  },
  errors: {
    yaml: "errors: {sold_out: {kind: conflict, detail: None are left., context: {left: integer}}}",
  },
  outbox: {
    yaml: "outbox: {events: {shop.opened: {destination: shop, data: {at: date-time}}}}",
  },
  webhooks: {
    yaml: "webhooks: {guard: staff, MOUNT}",
    beside:
      "identity: {}\noutbox: {events: {shop.opened: {destination: shop, data: {at: date-time}}}}",
    mounted: { webhooks: "MOUNT" },
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

const text = ({ yaml, beside = "" }: Sample, mount = ""): string =>
  `${beside}\n${yaml.replaceAll(/, MOUNT|MOUNT/g, (hole) =>
    mount === "" ? "" : hole.replace("MOUNT", mount),
  )}`;

test("every family has a sample here, and no two the same name or section", () => {
  const names = families.map(({ name }) => name);
  expect(Object.keys(samples).sort()).toEqual([...names].sort());
  const sections = families.flatMap(({ format }) => Object.keys(format));
  expect(sections.length).toBe(new Set(sections).size);
});

describe.each(families.map((family) => [family.name, family] as const))("%s", (name, family) => {
  const sample = samples[name] ?? { yaml: "" };

  test("says each key of its sections in a line", () => {
    for (const { description } of Object.values(family.format))
      expect(description.length).toBeGreaterThan(10);
  });

  test("has a row on the page of the registry for each section", () => {
    const page = readFileSync(new URL("../../docs/registry.md", import.meta.url), "utf8");
    for (const section of Object.keys(family.format)) expect(page).toContain(`| \`${section}`);
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
      if (operation.effect === "reads") expect(operation.transaction).toBe("read");
    }
  });

  test("tells what it adds as additive and what it takes away as breaking", async () => {
    const [before, after] = [await modelOf(sample.beside ?? ""), await modelOf(text(sample))];
    const added = compareRegistries(before, after);
    const gone = compareRegistries(after, before);
    const hasOperations =
      Object.keys(after.operations).length > Object.keys(before.operations).length;
    const isTold = hasOperations || after.outbox !== null || after.realtime !== null;
    expect(added.length > 0).toBe(isTold);
    expect(added.filter(({ level }) => level === "breaking")).toEqual([]);
    expect(gone.some(({ level }) => level === "breaking")).toBe(isTold);
  });

  test.each(Object.keys(sample.mounted ?? {}))("owns the name %s alone", async (namespace) => {
    const taken = `storage: {${namespace}: {guard: open}}`;
    const yaml = text(sample);
    const { found } = await checked(
      yaml.includes("storage: {") && name === "storage"
        ? `${yaml}\nsearch: {${namespace}: {of: ${namespace}, text: [text], guard: open}}\ndocuments: {${namespace}: {type: {text: string}, guard: open}}`
        : `${yaml}\n${taken}`,
    );
    expect(found.findings.map(({ code }) => code)).toContain("OPW041");
  });

  test.each(Object.keys(sample.mounted ?? {}))(
    "leaves %s off HTTP, the client and the documents where its mount is false",
    async (namespace) => {
      const { project, found } = await checked(text(sample, "mount: false"));
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

  test.each(Object.keys(sample.mounted ?? {}))(
    "mounts %s where it is told to",
    async (namespace) => {
      const model = await modelOf(text(sample, 'mount: {at: "/elsewhere"}'));
      const routes = Object.values(model.operations)
        .filter((one) => one.namespace === namespace)
        .flatMap(({ route }) => (route === null ? [] : [route.path]));
      expect(routes.length).toBeGreaterThan(0);
      for (const path of routes) expect(path).toMatch(/^\/elsewhere(?:\/|$)/);
    },
  );
});
