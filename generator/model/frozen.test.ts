import { readFileSync, rmSync } from "node:fs";
import { afterAll, expect, test } from "vitest";
import { registryOf } from "../../test/bench/registry-of.mjs";
import { writeProject } from "../../test/generator/scenario.js";
import { checkRegistry } from "../pipeline/generate.js";
import { modelParts } from "../families/index.js";
import { freezeRegistry, thawRegistry } from "./frozen.js";

const large = writeProject(registryOf(100));
afterAll(() => rmSync(large.root, { recursive: true, force: true }));

const repository = new URL("../..", import.meta.url).pathname;

test.each([
  ["the reference service", repository],
  ["many documents and operations", large.root],
])("the registry of %s is read as it was before it was committed", async (_name, root) => {
  const { expanded } = await checkRegistry({
    root,
    paths: { registry: "registry", out: "generated" },
    client: { package: null, queries: false, mocks: false },
  });
  const asJson = (value: object): object => JSON.parse(JSON.stringify(value)) as object;
  const model = asJson(expanded.model);
  const committed = asJson(freezeRegistry(expanded.model, modelParts));
  expect(JSON.stringify(committed).length).toBeLessThan(0.8 * JSON.stringify(model).length);
  expect(thawRegistry(committed, modelParts)).toEqual(model);
  // Earlier versions of opwright left nothing out; such a registry reads the same.
  expect(thawRegistry(model, modelParts)).toEqual(model);
});

test("parts are read under the names that earlier versions gave them", () => {
  const { search, storage, ...rest } = JSON.parse(
    readFileSync(new URL("../../generated/registry.json", import.meta.url), "utf8"),
  ) as Record<string, object>;
  const model = thawRegistry({ ...rest, searches: search, storages: storage }, modelParts);
  expect(model).toEqual(thawRegistry({ ...rest, search, storage }, modelParts));
  expect(Object.keys(model.storage)).toContain("files");
});
