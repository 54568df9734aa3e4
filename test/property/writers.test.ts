// References and unique values hold, and what was answered is stored, whoever writes beside whom: callers of several
// processes and of two versions of the registry, one of which is killed meanwhile. A failing history is replayed by
// OPWRIGHT_TEST_SEED; OPWRIGHT_TEST_WRITERS says how many there are (`npm run test:long`).
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { benchOf, type Bench } from "../support/bench-database.js";
import { peopleOf } from "../support/people.js";
import { testProject, type TestProject } from "../support/project-service.js";
import { startTestService, type TestService } from "../support/service.js";
import { versionOf, type VersionProcess } from "../support/version-process.js";
import { engines, sharedDatabase, type TestEngine } from "../support/engines.js";
import { drawn } from "./registries/draw.js";
import { brokenRules, inForce, type InForce } from "./writers/invariants.js";
import { emptyLedger } from "./writers/ledger.js";
import { firstVersion, nextVersion, registryOf, type Version } from "./writers/world.js";
import { callers, write, type Node } from "./writers/writers.js";

const seed = Number(process.env["OPWRIGHT_TEST_SEED"] ?? 1);
const numRuns = Number(process.env["OPWRIGHT_TEST_WRITERS"] ?? 2);

/** Versions that follow each other, what callers do while each is the newest, and after how many answers a process is killed. */
const history = drawn((draw) => {
  const first = firstVersion(draw);
  const second = nextVersion(draw, first, 2);
  return [first, second, nextVersion(draw, second, 3)].slice(0, 2 + draw.below(2));
}).chain((versions) =>
  fc.tuple(
    ...versions.map((version) =>
      fc.record({
        version: fc.constant(version),
        actions: callers(12, 25),
        killedAfter: fc.integer({ min: 10, max: 80 }),
      }),
    ),
  ),
);
type Step = typeof history extends fc.Arbitrary<readonly (infer One)[]> ? One : never;

/** A version at work: a service in this process, and one that is killed. */
interface Running {
  readonly version: Version;
  readonly project: TestProject;
  readonly service: TestService;
  readonly victim: VersionProcess;
  readonly nodes: readonly Node[];
}

async function started(
  engine: TestEngine,
  url: string,
  version: Version,
  before: Running | undefined,
  data: string,
): Promise<Running> {
  const project = await testProject(registryOf(version, before?.version), before?.project);
  const { service: definition } = await project.load("generated/service.ts");
  const environment = { DATA_DIR: data, LOG_LEVEL: "warn" };
  const folder = join(project.root, "generated");
  const service = await startTestService(engine, {
    definition,
    folder,
    environment,
    signsIn: false,
  });
  const built = await versionOf(project);
  const victim = built.spawn({ ...environment, DATABASE_URL: url, LOG_LEVEL: "info" });
  const [, at = ""] = await victim.says(/"url":"([^"]+)"/);
  const nodes = [service.url, at].map((one) => ({ url: one, version }));
  return { version, project, service, victim, nodes };
}

/** Nothing that a killed process has begun is under way any more. */
async function settled({ name }: TestEngine, bench: Bench): Promise<void> {
  if (name === "sqlite") return;
  const busy = `SELECT count(*)::int AS "count" FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid() AND state <> 'idle'`;
  await expect.poll(async () => (await bench.query(busy))[0]?.["count"]).toBe(0);
}

async function live(engine: TestEngine, steps: readonly Step[]): Promise<void> {
  const { url, same, drop } = await sharedDatabase(engine);
  const data = mkdtempSync(join(tmpdir(), "opwright-writers-"));
  const ledger = emptyLedger();
  const ends: (() => unknown)[] = [];
  let older: Running | undefined;
  let rules: InForce | undefined;
  let tokens: readonly string[] = [];
  try {
    for (const { version, actions, killedAfter } of steps) {
      const newer = await started(same, url, version, older, data);
      ends.push(
        () => newer.project.remove(),
        () => newer.service.stop(),
        () => newer.victim.child.kill("SIGKILL"),
      );
      rules = inForce(version, rules);
      const { identitySpec } = await newer.project.load("generated/identity.ts");
      const people = peopleOf(newer.service, identitySpec);
      if (tokens.length === 0)
        tokens = [(await people.member("")).token, (await people.member("")).token];
      const setting = {
        nodes: [...newer.nodes, ...(older === undefined ? [] : [older.nodes[0] as Node])],
        tokens,
        ledger,
        answered: () => {
          if ((answers += 1) === killedAfter) newer.victim.child.kill("SIGKILL");
        },
      };
      let answers = 0;
      await Promise.all(actions.map((some) => write(setting, some)));
      newer.victim.child.kill("SIGKILL");
      await newer.victim.exited;
      await older?.service.stop();
      const bench = await benchOf(engine, url);
      ends.push(() => bench.close());
      await settled(engine, bench);
      expect(await brokenRules(engine, bench, version, rules, ledger)).toEqual([]);
      older = newer;
    }
  } finally {
    for (const end of ends.toReversed()) await end();
    rmSync(data, { recursive: true, force: true });
    await drop();
  }
}

/** Two types, the rows of which are broken by hand. */
const plain: Version = ["alphas", "betas"].map((name) => ({
  name,
  softDelete: true,
  members: { note: "string", code: "integer" },
  references:
    name === "alphas"
      ? []
      : [{ member: "one", target: "alphas", onDelete: "restrict", isNullable: true }],
  unique: [{ fields: ["code"], isOfLive: false, isGlobal: false }],
  called: {},
}));

async function tellsWhatIsBroken(engine: TestEngine): Promise<void> {
  const { url, same, drop } = await sharedDatabase(engine);
  const project = await testProject(registryOf(plain));
  const service = await project.start(same);
  const bench = await benchOf(engine, url);
  try {
    const ledger = emptyLedger();
    const made = async (type: string, body: object): Promise<string> => {
      const note = `made${ledger.told.length}`;
      const { body: document } = await service.post(`/${type}`, { note, ...body });
      const { tenantId: tenant } = service.tester;
      const { id, rev } = document;
      ledger.told.push({ type, tenant, id, rev, note, isDeleted: false });
      return id;
    };
    const broken = async (): Promise<readonly string[]> =>
      (await brokenRules(engine, bench, plain, inForce(plain), ledger)).map((fault) =>
        fault.replaceAll(/[0-9a-f]{8}-[-0-9a-f]{27}/g, "…"),
      );
    const named = await made("alphas", { code: 1 });
    await made("alphas", { code: 2 });
    const naming = await made("betas", { code: 1, one: named });
    expect(await broken()).toEqual([]);
    const id = engine.name === "sqlite" ? "$1" : "$1::uuid";
    await bench.query(`UPDATE "alphas" SET "is_deleted" = true WHERE "id" = ${id}`, [named]);
    expect(await broken()).toContain("one of betas … leads nowhere: …");
    await bench.query(`DELETE FROM "betas" WHERE "id" = ${id}`, [naming]);
    const gone = await broken();
    expect(gone).toContain("betas … is gone, and nobody removed it");
    expect(gone).toContainEqual(expect.stringContaining("betas has a history of none"));
    expect(gone).toContainEqual(expect.stringContaining("betas_search has"));
    await bench.query(`DROP INDEX "alphas_unique_code"`);
    const body =
      engine.name === "sqlite"
        ? `json_set("body", '$.code', 1)`
        : `jsonb_set("body", '{code}', '1')`;
    await bench.query(`UPDATE "alphas" SET "body" = ${body}`);
    expect(await broken()).toContainEqual(expect.stringContaining("twice, by code"));
  } finally {
    await bench.close();
    await service.stop();
    project.remove();
    await drop();
  }
}

for (const engine of engines) {
  describe.skipIf(!engine.isAvailable)(engine.name, () => {
    test("rows that are broken by hand are told", () => tellsWhatIsBroken(engine));

    test.each(Array.from({ length: numRuns }, (_one, at) => seed + at))(
      "history %i",
      async (one) => {
        const [steps = []] = fc.sample(history, { numRuns: 1, seed: one });
        await live(engine, steps);
      },
      120_000,
    );
  });
}
