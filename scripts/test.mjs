// npm test: installs what is missing, builds, runs every test. Arguments go to vitest.
import { build, buildService, install, run } from "./prepare.mjs";

install();
build();
buildService();
run("npx", ["vitest", "run", ...process.argv.slice(2)]);
