// Failovers alone: `npm run test:ha`.
import { defineConfig } from "vitest/config";

export default defineConfig({
  resolve: {
    alias: [
      {
        find: /^opwright\/runtime$/,
        replacement: new URL("../../runtime/index.ts", import.meta.url).pathname,
      },
    ],
  },
  test: {
    include: ["test/ha/failover.ts"],
    pool: "forks",
    testTimeout: 400_000,
    reporters: ["default"],
  },
});
