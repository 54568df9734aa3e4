// npm run test:long: the property of generated code with thousands of random registries. Arguments: how many, and a seed; a new one where left out.
import { build, install, run } from "./prepare.mjs";

const [count = "3000", seed] = process.argv.slice(2);
install();
build();
run("npx", ["vitest", "run", "test/property/generated-code.test.ts"], {
  OPWRIGHT_TEST_REGISTRIES: count,
  OPWRIGHT_TEST_SEED: seed ?? String(Math.floor(Math.random() * 1e9)),
});
