// npm run test:long: the properties with thousands of cases: random registries, requests that the document describes, random
// queries and aggregates, handlers that forget, schedules of realtime, histories of registries and of writers, pairs of
// versions, worlds of other tenants, texts of YAML; lives of databases that are kept; drills of machines that are lost; a rollout over a million rows; files of 1 GiB; commands that are
// interrupted; axe at every page, width and scheme; the acceptance tests behind a pooler, and without one; the service as it is built; every bench in brief.
// Arguments: how many registries, and a seed; a new one where left out.
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build, buildService, install, run } from "./prepare.mjs";

const [count = "3000", seed] = process.argv.slice(2);
install();
build();
buildService();
const settings = {
  OPWRIGHT_TEST_REGISTRIES: count,
  OPWRIGHT_TEST_CASES: String(Math.max(42, Math.ceil(Number(count) / 10))),
  OPWRIGHT_TEST_HISTORIES: String(Math.max(3, Math.ceil(Number(count) / 30))),
  OPWRIGHT_TEST_WRITERS: String(Math.max(2, Math.ceil(Number(count) / 30))),
  OPWRIGHT_TEST_PAIRS: String(Math.max(40, Math.ceil(Number(count) / 10))),
  OPWRIGHT_TEST_WORLDS: String(Math.max(3, Math.ceil(Number(count) / 30))),
  OPWRIGHT_SEEDS: String(Math.max(60, Math.ceil(Number(count) / 10))),
  OPWRIGHT_QUERY_RUNS: String(Math.max(2_500, Number(count) * 10)),
  OPWRIGHT_AGGREGATE_RUNS: String(Math.max(1_000, Number(count))),
  OPWRIGHT_TEST_TEXTS: String(Math.max(5_000, Number(count) * 10)),
  OPWRIGHT_TEST_INTERRUPTIONS: String(Math.max(30, Math.ceil(Number(count) / 15))),
  OPWRIGHT_TEST_KILLS: String(Math.max(20, Math.ceil(Number(count) / 15))),
  OPWRIGHT_TEST_DRILLS: String(Math.max(100, Math.ceil(Number(count) / 30))),
  OPWRIGHT_TEST_LIVES: String(Math.max(60, Math.ceil(Number(count) / 50))),
  OPWRIGHT_TEST_ROLLOUT_ROWS: "1000000",
  OPWRIGHT_TEST_SUITES: "2",
  OPWRIGHT_TEST_MEBIBYTES: "1024",
  OPWRIGHT_TEST_TRANSFERS: "2000",
  OPWRIGHT_TEST_DOWNLOADS: String(Math.max(3_000, Number(count))),
  OPWRIGHT_TEST_SEED: seed ?? String(Math.floor(Math.random() * 1e9)),
};
run("npx", ["vitest", "run", "test/acceptance/published/document-"], settings);
run("npx", ["vitest", "run", "test/acceptance/evolution/histories.test.ts"], settings);
run("npx", ["vitest", "run", "test/property/writers.test.ts"], settings);
run("npx", ["vitest", "run", "test/property/version-pairs.test.ts"], settings);
run("npx", ["vitest", "run", "test/acceptance/guarantees/non-interference"], settings);
run("npx", ["vitest", "run", "test/acceptance/jobs/kills.test.ts"], settings);
run("npx", ["vitest", "run", "test/faults/drill.test.ts"], settings);
run("npx", ["vitest", "run", "test/faults/continuous-drill.test.ts"], settings);
run("npx", ["vitest", "run", "test/contract/continuous-backup.test.ts"], settings);
run("npx", ["vitest", "run", "test/acceptance/evolution/rollout.test.ts"], settings);
run("npx", ["vitest", "run", "test/acceptance/guarantees/no-loss.test.ts"], settings);
run("npx", ["vitest", "run", "test/acceptance/storage/large-transfers.test.ts"], settings);
run("npx", ["vitest", "run", "test/generator/interrupted-writes.test.ts"], settings);
run("npx", ["vitest", "run", "test/generator/cli.test.ts", "-t", "passes on PostgreSQL"], settings);
run("npx", ["vitest", "run", "test/property/query.test.ts"], settings);
run("npx", ["vitest", "run", "test/property/download.test.ts"], settings);
run("npx", ["vitest", "run", "test/property/aggregate.test.ts"], settings);
run("npx", ["vitest", "run", "test/property/plain-yaml.test.ts"], settings);
run("npx", ["vitest", "run", "test/property/forgetful-handlers.test.ts"], settings);
run("npx", ["vitest", "run", "test/property/generated-code.test.ts"], settings);
run("npx", ["vitest", "run", "test/browser"], { OPWRIGHT_TEST_PAGES: "all" });
// Every service of the acceptance tests behind a pooler in transaction mode, then none.
for (const pooled of ["all", "none"])
  run("npx", ["vitest", "run", "test/acceptance"], { OPWRIGHT_TEST_POOLED: pooled });
// Every test that starts the reference service as a process of its own starts what `opwright build` writes.
const artefact = join(mkdtempSync(join(tmpdir(), "opwright-long-")), "artefact");
run("node", ["bin/opwright.mjs", "build", "--to", artefact]);
const built = { OPWRIGHT_TEST_ARTEFACT: artefact };
run("npx", ["vitest", "run", "test/acceptance/server"], built);
run("npx", ["vitest", "run", "test/acceptance/identity/provisioning.test.ts"], built);
run("npx", ["vitest", "run", "test/acceptance/outbox"], built);
run("npx", ["vitest", "run", "test/faults"], built);
// A bench that no longer runs is a figure that nobody can measure again.
run("node", ["scripts/bench.mjs"], { BENCH_BRIEF: "1" });
