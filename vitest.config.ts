import { defineConfig } from "vitest/config";

/** Tests that measure a process: beside others they would measure those. */
const measuring = ["test/acceptance/large-transfers.test.ts"];

export default defineConfig({
  resolve: {
    alias: [
      {
        find: /^opwright\/runtime$/,
        replacement: new URL("runtime/index.ts", import.meta.url).pathname,
      },
    ],
  },
  test: {
    globalSetup: ["test/global-setup.ts"],
    pool: "forks",
    testTimeout: 60_000,
    hookTimeout: 60_000,
    reporters: ["default"],
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
          exclude: measuring,
          // Most of them wait more than they compute, also where there is one core.
          maxWorkers: 2,
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
});
