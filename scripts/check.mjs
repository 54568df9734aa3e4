// npm run check: everything that CI checks and a person can wait for.
import { build, buildService, install, run } from "./prepare.mjs";

install();
build();
run("node", ["bin/opwright.mjs", "check"]);
run("npm", ["run", "--silent", "lint"]);
buildService();
run("npx", [
  "vitest",
  "run",
  "test/contract",
  "test/architecture",
  "test/generator/scenarios.test.ts",
  "test/acceptance/documents/documents.test.ts",
  "test/acceptance/documents/lists.test.ts",
  "runtime",
  "generator",
]);
