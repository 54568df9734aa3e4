// `server.js backup` beside a service that goes on writing, and `server.js restore` where there is nothing: what was
// acknowledged before is there, with its files; and what isn't whole, or would overwrite something, is refused.
import { execFileSync } from "node:child_process";
import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { testProject, type TestProject } from "../../support/project-service.js";
import { versionOf, type Version, type VersionProcess } from "../../support/version-process.js";

const files = {
  "registry/service.yaml": `registry: 1
service: {name: demo, title: Demo, version: 1.2.3}
policies: {open: []}
documents:
  notes: {type: {text: string}, guard: open}
storage:
  files: {guard: open, mount: {at: /files, style: rest}}
`,
};

let project: TestProject;
let version: Version;
const root = mkdtempSync(join(tmpdir(), "opwright-backup-"));
beforeAll(async () => {
  project = await testProject(files);
  version = await versionOf(project);
}, 120_000);
afterAll(() => {
  project.remove();
  rmSync(root, { recursive: true, force: true });
});

let places = 0;
const newPath = (): string => join(root, `${(places += 1)}`);

/** Starts the service on a folder of data; resolves once it listens. */
async function started(
  data: string,
): Promise<{ readonly url: string; readonly process: VersionProcess }> {
  const process = version.spawn({ DATA_DIR: data, LOG_LEVEL: "info" });
  const [, url = ""] = await process.says(/"url":"([^"]+)"/);
  return { url, process };
}

async function stopped({ child, exited }: VersionProcess, signal: NodeJS.Signals = "SIGTERM") {
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

async function upload(url: string, text: string): Promise<string> {
  const form = new FormData();
  form.set("file", new File([text], "a.txt", { type: "text/plain" }));
  const answer = await fetch(`${url}/files/files`, { method: "POST", body: form });
  expect(answer.status).toBe(201);
  return ((await answer.json()) as { readonly key: string }).key;
}

async function listOf(url: string): Promise<readonly string[]> {
  const answer = await fetch(`${url}/files/files/list`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ prefix: "", size: 1_000 }),
  });
  const body = (await answer.json()) as { readonly hits: readonly { readonly key: string }[] };
  return body.hits.map(({ key }) => key);
}

const textOf = async (url: string, path: string): Promise<readonly [number, string]> => {
  const answer = await fetch(`${url}${path}`);
  return [answer.status, await answer.text()];
};

describe("a backup", () => {
  test("beside writers has what was acknowledged before it, with its files", async () => {
    const [data, folder, elsewhere] = [newPath(), newPath(), newPath()];
    const { url, process } = await started(data);
    const notes = new Map<string, string>();
    const objects = new Map<string, string>();
    for (let at = 0; at < 20; at += 1) {
      notes.set(await addNote(url, `before ${at}`), `before ${at}`);
      objects.set(await upload(url, `content ${at}`), `content ${at}`);
    }
    const over = new AbortController();
    const writing = (async () => {
      for (let at = 0; !over.signal.aborted; at += 1) {
        await addNote(url, `beside ${at}`);
        await upload(url, `beside ${at}`);
      }
    })();
    const made = version.spawn({ DATA_DIR: data }, "backup", folder);
    expect([await made.exited, made.output()]).toEqual([
      0,
      expect.stringMatching(
        /^the database \(\d+ bytes\) and \d+ files, as they were after .*Z; secrets are not/,
      ),
    ]);
    over.abort();
    await writing;
    // As when the machine fails: nothing is flushed.
    await stopped(process, "SIGKILL");
    const names = readdirSync(folder);
    expect(names.toSorted()).toEqual(["SHA256SUMS", "backup.json", "objects", "service.db"]);
    for (const name of names)
      expect([name, (statSync(join(folder, name)).mode & 0o777).toString(8)]).toEqual([
        name,
        name === "objects" ? "700" : "600",
      ]);

    execFileSync("sha256sum", ["--check", "--quiet", "SHA256SUMS"], { cwd: folder });
    const back = version.run({ DATA_DIR: elsewhere }, "restore", folder);
    expect([back.code, back.stderr]).toEqual([0, ""]);
    const again = await started(elsewhere);
    for (const [id, text] of notes) {
      const [status, body] = await textOf(again.url, `/notes/${id}`);
      expect([status, JSON.parse(body).text]).toEqual([200, text]);
    }
    for (const [key, content] of objects)
      expect(await textOf(again.url, `/files/files/${key}`)).toEqual([200, content]);
    expect((await textOf(again.url, "/readyz"))[0]).toBe(200);
    // What the list of files names is there, also what came beside the backup.
    const listed = await listOf(again.url);
    expect(listed.length).toBeGreaterThanOrEqual(20);
    for (const key of listed)
      expect([key, (await textOf(again.url, `/files/files/${key}`))[0]]).toEqual([key, 200]);
    await addNote(again.url, "goes on");
    await stopped(again.process);
  });

  test("of a service that was killed has what is still in the log", async () => {
    const [data, folder, elsewhere] = [newPath(), newPath(), newPath()];
    const { url, process } = await started(data);
    const id = await addNote(url, "in the log");
    await stopped(process, "SIGKILL");
    expect(existsSync(join(data, "service.db-wal"))).toBe(true);
    expect(version.run({ DATA_DIR: data }, "backup", folder).code).toBe(0);
    expect(version.run({ DATA_DIR: elsewhere }, "restore", folder).code).toBe(0);
    const again = await started(elsewhere);
    expect((await textOf(again.url, `/notes/${id}`))[0]).toBe(200);
    await stopped(again.process);
  });

  describe("is refused", () => {
    let data: string;
    let folder: string;
    beforeEach(async () => {
      [data, folder] = [newPath(), newPath()];
      const { url, process } = await started(data);
      await addNote(url, "one");
      await upload(url, "two");
      await stopped(process);
      expect(version.run({ DATA_DIR: data }, "backup", folder).code).toBe(0);
    });
    const restored = (from = folder, to = newPath()) => {
      const { code, stderr } = version.run({ DATA_DIR: to }, "restore", from);
      return [code, stderr.trim(), existsSync(join(to, "service.db"))];
    };
    const object = (): string => {
      const inside = readdirSync(join(folder, "objects"), { recursive: true, withFileTypes: true });
      const file = inside.find((entry) => entry.isFile());
      if (file === undefined) throw new Error("there is no object");
      return join(file.parentPath, file.name);
    };

    test("where something is already", () => {
      const again = version.run({ DATA_DIR: data }, "backup", folder);
      expect([again.code, again.stderr]).toEqual([1, expect.stringContaining("isn't empty")]);
      expect(restored(folder, data)).toEqual([
        1,
        expect.stringMatching(/core\.conflict: .*service\.db is there: stop the service/),
        true,
      ]);
      rmSync(join(data, "service.db"));
      expect(restored(folder, data)).toEqual([
        1,
        expect.stringMatching(/core\.conflict: .*objects.* is there: move .* away/),
        false,
      ]);
    });

    test("where there is no database, or PostgreSQL has it", () => {
      const none = version.run({ DATA_DIR: newPath() }, "backup", newPath());
      expect([none.code, none.stderr]).toEqual([1, expect.stringContaining("no database yet")]);
      const environment = { DATABASE_URL: "postgres://a/b" };
      const other = version.run(environment, "backup", newPath());
      expect([other.code, other.stderr]).toEqual([
        1,
        expect.stringMatching(/^core\.configuration: the database is PostgreSQL.*pg_dump/),
      ]);
    });

    test("where a file was changed, is missing, or is one too many", () => {
      appendFileSync(object(), "x");
      expect(restored()).toEqual([1, expect.stringMatching(/is not what was copied/), false]);
      rmSync(object());
      expect(restored()).toEqual([1, expect.stringMatching(/is missing/), false]);
    });

    test("where a file is not of it, or its list leads elsewhere", () => {
      writeFileSync(join(folder, "objects/more"), "");
      expect(restored()).toEqual([1, expect.stringMatching(/more is not of the backup/), false]);
      rmSync(join(folder, "objects/more"));
      appendFileSync(join(folder, "SHA256SUMS"), `${"0".repeat(64)}  objects/../../stolen\n`);
      expect(restored()).toEqual([1, expect.stringMatching(/stolen is missing/), false]);
    });

    test("where it is another service's, unfinished, or none", () => {
      const other = newPath();
      cpSync(folder, other, { recursive: true });
      writeFileSync(join(other, "backup.json"), JSON.stringify({ format: 1, service: "shop" }));
      expect(restored(other)).toEqual([1, expect.stringMatching(/is a backup of shop/), false]);
      rmSync(join(other, "backup.json"));
      expect(restored(other)).toEqual([1, expect.stringMatching(/is no backup/), false]);
      expect(restored(newPath())).toEqual([1, expect.stringMatching(/is no backup/), false]);
    });

    test("but what a restore has left that was killed is replaced", () => {
      const to = newPath();
      mkdirSync(join(to, "objects/objects.restoring/half"), { recursive: true });
      mkdirSync(to, { recursive: true });
      writeFileSync(join(to, "service.db.restoring"), "half");
      // It may have been killed between the files and the database.
      mkdirSync(join(to, "objects/objects"));
      writeFileSync(join(to, "objects/objects/there"), "already");
      expect(restored(folder, to)).toEqual([0, "", true]);
      expect(existsSync(join(to, "service.db.restoring"))).toBe(false);
      expect(existsSync(join(to, "objects/objects.restoring"))).toBe(false);
      expect(existsSync(join(to, "objects/objects/there"))).toBe(false);
    });
  });
});
