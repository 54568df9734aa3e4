// npm run bench [-- NAME …]: everything we claim about speed, measured beside peers in one run, printed as ratios. With
// BENCH_BRIEF=1 each bench only shows that it runs.
import { build, buildService, install, run } from "./prepare.mjs";

install();
build();
buildService();
run("node", ["test/bench/run.mjs", ...process.argv.slice(2)]);
