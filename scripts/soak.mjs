// npm run soak -- [hostile] [MINUTES]: ten minutes on each engine of mixed load, or beside an author who makes every mistake;
// prints a table of what it took, fails where it grows, and beside the author where anything restarts, is lost or is late.
import { build, buildService, install, run } from "./prepare.mjs";

install();
build();
buildService();
const args = process.argv.slice(2);
const isHostile = args[0] === "hostile";
const [minutes = "10"] = isHostile ? args.slice(1) : args;
process.env.SOAK_MINUTES = minutes;
const file = isHostile ? "test/soak/hostile.ts" : "test/soak/soak.ts";
run("npx", ["vitest", "run", "--config", "test/soak/vitest.config.ts", "--root", ".", file]);
