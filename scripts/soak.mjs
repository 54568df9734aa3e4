// npm run soak -- [MINUTES]: ten minutes of mixed load on each engine; prints a table of what it took, fails where it grows.
import { build, buildService, install, run } from "./prepare.mjs";

install();
build();
buildService();
const [minutes = "10"] = process.argv.slice(2);
process.env.SOAK_MINUTES = minutes;
run("npx", ["vitest", "run", "--config", "test/soak/vitest.config.ts", "--root", "."]);
