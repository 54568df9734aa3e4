// A database that is kept while it is written to: after its machine is gone, what was committed until half a second before is
// there again, on another one; as it is, or as it was at a time. In a folder, and in a bucket of S3.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { testProject, type TestProject } from "../../support/project-service.js";
import { versionOf, type Version, type VersionProcess } from "../../support/version-process.js";

let project: TestProject;
let version: Version;
const root = mkdtempSync(join(tmpdir(), "opwright-continuous-"));
beforeAll(async () => {
  project = await testProject({
    "registry/service.yaml": `registry: 1
service: {name: demo, title: Demo, version: 1.2.3}
policies: {open: []}
documents:
  notes: {type: {text: string}, guard: open}
`,
  });
  version = await versionOf(project);
}, 120_000);
afterAll(() => {
  project.remove();
  rmSync(root, { recursive: true, force: true });
});

let places = 0;
const newPath = (): string => join(root, `${(places += 1)}`);

interface Running {
  readonly url: string;
  readonly process: VersionProcess;
}

async function started(environment: Readonly<Record<string, string>>): Promise<Running> {
  const process = version.spawn({ LOG_LEVEL: "info", METRICS: "on", ...environment });
  const [, url = ""] = await process.says(/"url":"([^"]+)"/);
  return { url, process };
}

async function ended({ child, exited }: VersionProcess, signal: NodeJS.Signals): Promise<void> {
  child.kill(signal);
  await exited;
}

async function addNote(url: string, text: string): Promise<string> {
  const answer = await fetch(`${url}/notes`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ text }),
  });
  expect(answer.status).toBe(201);
  return ((await answer.json()) as { readonly id: string }).id;
}

async function statusOf(url: string, id: string): Promise<number> {
  const answer = await fetch(`${url}/notes/${id}`);
  await answer.body?.cancel();
  return answer.status;
}

/** Until when the backup has everything, as the service says; seconds since 1970. */
async function keptUntil(url: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text();
  return Number(/^opwright_backup_kept_timestamp_seconds (\S+)$/m.exec(text)?.[1] ?? 0);
}

/** Resolves once the backup has what was committed until now. */
async function kept(url: string): Promise<number> {
  const now = Date.now() / 1_000;
  for (;;) {
    const until = await keptUntil(url);
    if (until > now) return until;
    await sleep(20);
  }
}

describe("in a folder", () => {
  test(
    "it has what was committed, after everything else is gone",
    { timeout: 60_000 },
    async () => {
      const [data, backup] = [newPath(), newPath()];
      const environment = { DATA_DIR: data, BACKUP_URL: `file:${backup}` };
      const first = await started(environment);
      const ids = [await addNote(first.url, "one"), await addNote(first.url, "two")];
      await kept(first.url);
      await ended(first.process, "SIGKILL");
      rmSync(data, { recursive: true });
      const { code, stdout, stderr } = version.run(environment, "restore");
      expect([code, stderr]).toEqual([0, ""]);
      expect(stdout).toMatch(/^the database \(\d+ bytes\), with all that was committed before 20/);
      const second = await started(environment);
      for (const id of ids) expect(await statusOf(second.url, id)).toBe(200);
      // And goes on with the same backup.
      ids.push(await addNote(second.url, "three"));
      await ended(second.process, "SIGTERM");
      rmSync(data, { recursive: true });
      expect(version.run(environment, "restore").code).toBe(0);
      const third = await started(environment);
      for (const id of ids) expect(await statusOf(third.url, id)).toBe(200);
      await ended(third.process, "SIGTERM");
    },
  );
});
