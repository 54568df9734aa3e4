// What opwright diff tells between two texts of a registry, without git.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect } from "vitest";
import { causesOf } from "../../generator/diff/causes.js";
import { compareRegistries } from "../../generator/diff/compare.js";
import { rolloutOf, type Rollout } from "../../generator/diff/rollout.js";
import { databaseOf, emptyDatabase } from "../../generator/database/schema.js";
import { checkRegistry } from "../../generator/pipeline/generate.js";
import { modelParts } from "../../generator/families/index.js";
import { freezeRegistry, thawRegistry } from "../../generator/model/frozen.js";
import type { RegistryModel } from "../../generator/model/registry.js";
import { writeProject } from "./scenario.js";

const service = `registry: 1
service: {name: shop, title: Shop, version: 1.2.3}
`;

interface Telling {
  /** Level and text of each change: `opens, breaks` where it is both. */
  changes(before: string, after: string): Promise<readonly string[]>;
  /** Level and text of each cause. */
  causes(before: string, after: string): Promise<readonly string[]>;
  /** What rolling it out takes. */
  rollout(before: string, after: string): Promise<Rollout>;
}

/**
 * Compares registries, each with a service of its own or the usual one, in a project with the code `registry/code.ts`, which is
 * there while the tests of a file run.
 */
export function tellingWith(code: string): Telling {
  let root = "";
  let remove: () => void = () => undefined;
  beforeAll(() => {
    ({ root, remove } = writeProject({
      "registry/service.yaml": service,
      "registry/code.ts": code,
    }));
  });
  afterAll(() => remove());

  /** The registry that a text declares, as it is committed and read again. */
  async function modelOf(text: string): Promise<RegistryModel> {
    const isWhole = /^service:/m.test(text);
    writeFileSync(join(root, "registry/service.yaml"), isWhole ? "registry: 1\n" : service);
    writeFileSync(join(root, "registry/rules.yaml"), text);
    const { expanded, findings } = await checkRegistry({
      root,
      paths: { out: "generated", registry: "registry" },
      client: { package: null, queries: false, mocks: false },
    });
    // What is open to administrators is warned of, and serves.
    expect(findings.filter(({ code: found }) => found !== "OPW079")).toEqual([]);
    return thawRegistry(
      JSON.parse(JSON.stringify(freezeRegistry(expanded.model, modelParts))) as object,
      modelParts,
    );
  }
  const modelsOf = async (
    before: string,
    after: string,
  ): Promise<readonly [RegistryModel, RegistryModel]> => [
    await modelOf(before),
    await modelOf(after),
  ];
  return {
    changes: async (before, after) =>
      compareRegistries(...(await modelsOf(before, after)), "2026-01-01").map(lineOf),
    causes: async (before, after) => {
      const models = await modelsOf(before, after);
      return causesOf(compareRegistries(...models, "2026-01-01"), ...models).map(lineOf);
    },
    async rollout(before, after) {
      const [was, is] = await modelsOf(before, after);
      const database = databaseOf(was, emptyDatabase);
      return rolloutOf({ model: was, database }, { model: is, database: databaseOf(is, database) });
    },
  };
}

function lineOf({
  level,
  breaks,
  text,
}: {
  readonly level: string;
  readonly breaks?: true;
  readonly text: string;
}): string {
  return `${level}${breaks === true ? ", breaks" : ""} ${text}`;
}
