import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/** What takes longest comes first, so that nothing is waited for at the end. */
const longest = [
  "server/data.test",
  "property/version-pairs",
  "property/generated-code",
  "generator/diff.test",
  "faults/bus-losses",
  "generator/cli.test",
  "evolution/rollout.test",
  "generator/interrupted-writes",
  "generator/merges",
  "realtime-scenario",
  "realtime-attacks",
  "object-index",
  "no-loss.test",
  "property/writers",
  "generator/dev.test",
  "crowded-tabs",
  "contract/objects",
  "storage.test",
  "database-network",
  "models/lago",
  "page-design",
  "property/query",
];

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification): number => {
      const at = longest.findIndex((name) => moduleId.includes(name));
      return at === -1 ? longest.length : at;
    };
    return (await super.sort(files)).sort((one, other) => rank(one) - rank(other));
  }
}

/** Tests that measure a process: beside others they would measure those. */
const measuring = [
  "test/acceptance/storage/large-transfers.test.ts",
  "test/faults/neighbours.test.ts",
  "test/faults/restarts.test.ts",
];

/** Tests that need a process of their own: they replace modules, measure the heap, or rely on what nobody has touched before. */
const isolated = [
  "test/contract/tenant-predicate.test.ts",
  "test/acceptance/http/held-memory.test.ts",
  "runtime/ports/uuid.test.ts",
  // Answers of others in the process say for how long those of a turn wait for each other.
  "runtime/http/answer-writes.test.ts",
  // Ajv as it is: our compiler changes how Ajv prints errors, for its whole process.
  "test/property/schema-diff.test.ts",
];

export default defineConfig({
  resolve: {
    alias: [
      {
        find: /^opwright\/testing$/,
        replacement: new URL("runtime/testing/index.ts", import.meta.url).pathname,
      },
      {
        find: /^opwright\/runtime$/,
        replacement: new URL("runtime/index.ts", import.meta.url).pathname,
      },
    ],
  },
  test: {
    globalSetup: ["test/support/global-setup.ts"],
    pool: "forks",
    // A test that hangs ends; one that is slow where others use the machine does not.
    testTimeout: 180_000,
    // Faults of networks and disks are timed on machines that others use too: what fails there once is tried again, and named.
    retry: process.env["CI"] === undefined ? 0 : 1,
    // What is waited for comes in its time also where the machine is busy.
    expect: { poll: { timeout: 10_000 } },
    hookTimeout: 180_000,
    reporters: ["default"],
    sequence: { sequencer: LongestFirst },
    projects: [
      {
        extends: true,
        test: {
          name: "alone",
          include: measuring,
          maxWorkers: 1,
          sequence: { groupOrder: 0 },
        },
      },
      {
        extends: true,
        test: {
          name: "together",
          include: ["{runtime,generator,test}/**/*.test.ts"],
          exclude: [...measuring, ...isolated],
          // Each process loads the code under test once, not for each of two hundred files.
          isolate: false,
          // Most of them wait more than they compute, also where there is one core.
          maxWorkers: 3,
          sequence: { groupOrder: 1 },
        },
      },
      {
        extends: true,
        test: {
          name: "isolated",
          include: isolated,
          maxWorkers: 3,
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
});
