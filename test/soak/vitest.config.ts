// The soaks alone: `npm run soak`.
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
    globalSetup: ["test/support/global-setup.ts"],
    include: ["test/soak/soak.ts", "test/soak/hostile.ts"],
    pool: "forks",
    reporters: ["default"],
  },
});
