// npm run accept: rewrites the reports of the scenarios, then shows what changed.
import { build, run } from "./prepare.mjs";

build();
run("npx", ["vitest", "run", "test/generator/scenarios.test.ts"], { OPWRIGHT_ACCEPT: "1" });
run("git", ["--no-pager", "diff", "--stat", "--", "test/generator/scenarios"]);
