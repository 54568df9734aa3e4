// A thousand people on one topic with presence: they come at once, all fall and come back, and the service stops under them
// (attack 160). Counts are compared; the only times are bounds that the service promises.
import { spawn, type ChildProcessWithoutNullStreams } from "node:child_process";
import { createInterface } from "node:readline";
import { afterAll, beforeAll, expect, test } from "vitest";
import { identitySpec } from "../../../generated/identity.js";
import { uuidv7 } from "../../../runtime/ports/uuid.js";
import { issueSession } from "../../../runtime/families/identity/operations.js";
import { identityStore } from "../../../runtime/ports/identity.js";
import { tenantStore } from "../../../runtime/ports/tenants.js";
import { engines } from "../../support/engines.js";
import { peopleOf } from "../../support/people.js";
import { startTestService, type TestService } from "../../support/service.js";

const many = 1_000;
const drainSeconds = 10;
/** Frames that each may hear while all come: one a second, and its own first one. */
const mostFrames = 40;

let service: TestService;
let child: ChildProcessWithoutNullStreams;
let lines: AsyncIterator<string>;
let isStopped = false;

interface Counted {
  readonly error?: string;
  readonly open?: number;
  readonly frames?: number;
  readonly least?: number;
  readonly most?: number;
  readonly told?: number;
}

async function ask(line: "open" | "kill" | "count"): Promise<Counted> {
  child.stdin.write(`${line}\n`);
  const { value } = await lines.next();
  return JSON.parse(value as string) as Counted;
}

/** People without a password, whose hashes would take most of the time. */
async function herdOf(tenantId: string): Promise<string[]> {
  return service.running.connection.write("test.herd", async (context) => {
    const identities = context.transaction.of(identityStore);
    const tenants = context.transaction.of(tenantStore);
    const tokens: string[] = [];
    for (let made = 0; made < many; made += 1) {
      const id = uuidv7();
      const login = `herd${made}@example.test`;
      await identities.addPrincipal({ id, login, passwordHash: "none", isActive: true });
      await tenants.addMember(tenantId, id);
      await tenants.grant(tenantId, id, "projects.read");
      const { access_token: token } = await issueSession(identitySpec, context, {
        principalId: id,
        tenant: tenantId,
      });
      tokens.push(token);
    }
    return tokens;
  });
}

beforeAll(async () => {
  const [sqlite] = engines;
  if (sqlite === undefined) throw new Error("there is no SQLite");
  const environment = { DRAIN_SECONDS: String(drainSeconds) };
  service = await startTestService(sqlite, { signsIn: false, environment });
  const people = peopleOf(service);
  const ann = await people.member("", "projects.read", "projects.write");
  const project = await people.by(ann.token).make("projects", { name: "P", key: "PP" });
  const tokens = await herdOf(ann.tenantId);
  const tool = new URL("../../tools/realtime-herd.mjs", import.meta.url).pathname;
  child = spawn(process.execPath, [tool, service.url, `project:${project}`]);
  child.stderr.pipe(process.stderr);
  lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  child.stdin.write(`${JSON.stringify(tokens)}\n`);
});
afterAll(async () => {
  child.kill("SIGKILL");
  if (!isStopped) await service.stop();
});

/** All are there, each was told of all, and the frames grew with their number. */
async function expectAll(): Promise<void> {
  const state = { isOver: false };
  let alive = 0;
  const opening = ask("open").finally(() => {
    state.isOver = true;
  });
  while (!state.isOver) {
    const { status } = await fetch(`${service.url}/livez`);
    expect(status).toBe(200);
    alive += 1;
  }
  expect(alive).toBeGreaterThan(1);
  expect(await opening).toEqual({});
  const all = { open: many, least: many, most: many, told: many };
  await expect.poll(() => ask("count"), { timeout: 20_000, interval: 500 }).toMatchObject(all);
  const { frames = Infinity } = await ask("count");
  expect(frames).toBeGreaterThanOrEqual(many);
  expect(frames).toBeLessThan(many * mostFrames);
}

test("a thousand come at once, and each is told a few times who is there", expectAll, 120_000);

test("all fall and come back, and all are there again", async () => {
  await ask("kill");
  await expectAll();
}, 120_000);

test("a stop under a thousand connections ends within its bound", async () => {
  const begun = performance.now();
  isStopped = true;
  await service.stop();
  expect(performance.now() - begun).toBeLessThan((drainSeconds + 5) * 1_000);
  await expect.poll(() => ask("count")).toMatchObject({ open: 0 });
}, 60_000);
