import { defineConfig } from "vitest/config";

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
    include: ["{runtime,generator,test}/**/*.test.ts"],
    globalSetup: ["test/global-setup.ts"],
    pool: "forks",
    testTimeout: 60_000,
    hookTimeout: 60_000,
    reporters: ["default"],
  },
});
