// Files outlive the version that has stored them: under another name of their storage, encrypted or not, beside and back
// (decisions.md "What is stored knows its shape and its name").
import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { storageFamily } from "../../../runtime/families/storage/index.js";
import { engines, sharedDatabase } from "../../support/engines.js";
import { objectEngines, type FreshObjects } from "../../support/object-engines.js";
import { testProject, type TestProject } from "../../support/project-service.js";
import type { TestService } from "../../support/service.js";

const [sqlite] = engines;

const registry = (parts: string): Readonly<Record<string, string>> => ({
  "registry/service.yaml": `registry: 1
service: {name: demo, title: Demo, version: 1.0.0}
policies: {open: []}
${parts}
`,
});
const storage = (name: string, members = ""): Readonly<Record<string, string>> =>
  registry(`storage:\n  ${name}: {guard: open, mount: {at: ""}${members}}`);
const composite = (name: string, members = ""): Readonly<Record<string, string>> =>
  registry(`composites:
  ${name}:
    type: {title: string}
    guard: open
    search: {text: [title]}
    storage: {}
    mount: {at: /things}${members}`);

for (const engine of objectEngines) {
  describe.skipIf(!engine.isAvailable)(engine.name, () => {
    let objects: FreshObjects;
    const secret = (): string => randomBytes(32).toString("base64url");
    const secrets = { SECRETS_OBJECTS: secret(), SECRETS_SIGNING: secret() };
    beforeAll(async () => {
      objects = await engine.create();
    });
    afterAll(() => objects.drop());

    /** Versions of a project, each generated on top of the one before, over the same rows and the same files. */
    const versions = async (
      ...registries: readonly Readonly<Record<string, string>>[]
    ): Promise<readonly (() => Promise<TestService>)[]> => {
      if (sqlite === undefined) throw new Error("SQLite is always there");
      const { same, drop } = await sharedDatabase(sqlite);
      onTestFinished(drop);
      const started: (() => Promise<TestService>)[] = [];
      let before: TestProject | undefined;
      for (const files of registries) {
        const project = await testProject(files, before);
        onTestFinished(() => project.remove());
        before = project;
        const environment = { OBJECTS_URL: objects.url, ...objects.environment, ...secrets };
        started.push(async () => {
          const service = await project.start(same, { environment });
          onTestFinished(() => service.stop());
          return service;
        });
      }
      return started;
    };
    /** Uploads a text, and gives the key that it is under. */
    const put = async (service: TestService, text: string, at = "/files"): Promise<string> => {
      const form = new FormData();
      form.set("file", new File([text], "a.txt", { type: "text/plain" }));
      const { status, body } = await service.call("POST", at, { body: form });
      expect([status, body.code]).toEqual([201, undefined]);
      return body.key;
    };
    const textOf = async (service: TestService, key: string, at = "/files"): Promise<string> => {
      const response = await fetch(`${service.url}${at}/${key}`);
      return response.status === 200 ? response.text() : `status ${response.status}`;
    };

    test("files are there under the new name of their storage", async () => {
      const [first, second] = await versions(
        storage("files"),
        storage("papers", ", was: files, presign: true"),
      );
      const old = await first?.();
      if (old === undefined) throw new Error("no first version");
      const a = await put(old, "of old");
      const next = await second?.();
      if (next === undefined) throw new Error("no second version");
      expect(await textOf(next, a)).toBe("of old");
      const b = await put(next, "of new");
      expect(await textOf(old, b)).toBe("of new");
      const list = await next.post("/files/list", {});
      expect(list.body.hits.map(({ key }: { key: string }) => key)).toEqual([a, b].sort());
      const asked = { key: "signed", expires_in: 60, content_type: "text/plain" };
      const { url, method, headers } = (await next.post("/files/presign/upload", asked)).body;
      expect((await fetch(url, { method, headers, body: "by address" })).status).toBe(200);
      expect(await textOf(next, "signed")).toBe("by address");
    });

    test("what began before a storage scanned is scanned, or refused", async () => {
      const direct = ", presign: true, multipart: true, accept: [text/plain]";
      const scan = `
jobs:
  files.scan: {in: {upload: string}, run: registry/scan.ts#scan}
`;
      const code = {
        "registry/scan.ts": `import { objects } from "opwright/runtime";
import { filesSpec } from "../generated/storage/files.js";
export const scan = async ({ upload }, context) => {
  const files = objects(filesSpec, context);
  await files.release(await files.quarantined(upload));
};
`,
      };
      const scanning = registry(
        `storage:\n  files: {guard: open, mount: {at: ""}, scan: files.scan${direct}}${scan}`,
      );
      const [first, second] = await versions(storage("files", direct), { ...scanning, ...code });
      const old = await first?.();
      if (old === undefined) throw new Error("no first version");
      const asked = { key: "signed.txt", expires_in: 60, content_type: "text/plain" };
      const signed = (await old.post("/files/presign/upload", asked)).body;
      const session = (
        await old.post("/files/uploads", { key: "parts.txt", content_type: "text/plain" })
      ).body;
      const next = await second?.();
      if (next === undefined) throw new Error("no second version");
      if (engine.name === "folder") {
        const { pathname } = new URL(signed.url);
        const { method, headers } = signed;
        const late = await fetch(next.url + pathname, { method, headers, body: "unscanned" });
        expect(late.status).toBe(403);
      }
      const part = { session, part_number: 1, expires_in: 60 };
      const { url } = (await next.post("/files/uploads/parts/url", part)).body;
      const etag = (await fetch(url, { method: "PUT", body: "parts" })).headers.get("etag");
      const parts = [{ part_number: 1, etag }];
      const done = await next.post("/files/uploads/complete", { session, parts });
      expect(done.status).toBe(200);
      await expect.poll(() => textOf(next, "parts.txt")).toBe("parts");
      expect(await textOf(next, "signed.txt")).toBe("status 404");
    });

    test("a composite that is called otherwise keeps its files, and its search what it has found", async () => {
      const [first, second] = await versions(
        composite("notes"),
        composite("memos", "\n    was: notes"),
      );
      const old = await first?.();
      if (old === undefined) throw new Error("no first version");
      const a = await put(old, "of old", "/things/blobs/files");
      expect((await old.post("/things", { title: "walnut" })).status).toBe(201);
      const next = await second?.();
      if (next === undefined) throw new Error("no second version");
      expect(await textOf(next, a, "/things/blobs/files")).toBe("of old");
      const found = await next.post("/things/typed", { query: "walnut" });
      expect(found.body.hits.map(({ title }: { title: string }) => title)).toEqual(["walnut"]);
      // The version before goes on beside it, and each finds what the other has written.
      expect((await old.post("/things", { title: "walnut tree" })).status).toBe(201);
      expect((await next.post("/things", { title: "walnut oil" })).status).toBe(201);
      for (const service of [old, next])
        expect((await service.post("/things/typed", { query: "walnut" })).body.count).toBe(3);
    });

    test("files are read as what they are, after encryption has come and gone", async () => {
      const sealed = ", encryption: client";
      const [plain, client, again] = await versions(
        storage("kept"),
        storage("kept", sealed),
        storage("kept"),
      );
      const first = await plain?.();
      if (first === undefined) throw new Error("no first version");
      const long = "x".repeat(100_000);
      const open = await put(first, `plain ${long}`);
      const empty = await put(first, "");
      const second = await client?.();
      if (second === undefined) throw new Error("no second version");
      expect(await textOf(second, open)).toBe(`plain ${long}`);
      expect(await textOf(second, empty)).toBe("");
      const key = await put(second, `sealed ${long}`);
      const third = await again?.();
      if (third === undefined) throw new Error("no third version");
      expect(await textOf(third, key)).toBe(`sealed ${long}`);
      expect(await textOf(third, open)).toBe(`plain ${long}`);
      const range = await fetch(`${third.url}/files/${key}`, { headers: { range: "bytes=0-5" } });
      expect([range.status, await range.text()]).toEqual([206, "sealed"]);
      const copied = await third.post("/files/copy", { from: key, to: "copy" });
      expect(copied.status).toBe(200);
      expect(await textOf(third, "copy")).toBe(`sealed ${long}`);
    });

    test("a file that looks encrypted is refused where it could be taken for one", async () => {
      const [, client, again] = await versions(
        storage("looks"),
        storage("looks", ", encryption: client"),
        storage("looks"),
      );
      await client?.();
      const service = await again?.();
      if (service === undefined) throw new Error("no version");
      const form = new FormData();
      form.set("file", new File([`OPWAEAD1${"\0".repeat(600)}`], "x.bin"));
      const { status, body } = await service.call("POST", "/files", { body: form });
      expect([status, body.code]).toEqual([415, "upload_type_unsupported"]);
      expect((await service.post("/files/list", {})).body.count).toBe(0);
    });

    test("two releases let both versions read what either stores", async () => {
      const [prepared, client] = await versions(
        storage("both", ", also_reads: [client]"),
        storage("both", ", encryption: client"),
      );
      const first = await prepared?.();
      const second = await client?.();
      if (first === undefined || second === undefined) throw new Error("no versions");
      const sealed = await put(second, "of the next version");
      const plain = await put(first, "of the version before");
      for (const service of [first, second]) {
        expect(await textOf(service, sealed)).toBe("of the next version");
        expect(await textOf(service, plain)).toBe("of the version before");
      }
    });
  });
}

test("periodic work on files has one lease, whatever each version calls their storage", async () => {
  if (sqlite === undefined) throw new Error("SQLite is always there");
  const first = await testProject(storage("files"));
  onTestFinished(() => first.remove());
  const second = await testProject(storage("papers", ", was: files"), first);
  onTestFinished(() => second.remove());
  const service = await first.start(sqlite);
  onTestFinished(() => service.stop());
  const leases = async (project: TestProject): Promise<readonly string[]> => {
    const { service: definition } = await project.load("generated/service.ts");
    const jobs = storageFamily.jobs(definition.storage, service.running.connection);
    return jobs.map(({ name }) => name);
  };
  expect(await leases(first)).toContain("uploads.files");
  expect(await leases(second)).toEqual(await leases(first));
});
