// Lists of objects by index, on every database and every engine of objects: what a list says is what the engine has, whoever wrote
// it, whatever died in between (decisions.md "Object storage").
import { storageResources } from "../../../runtime/families/storage/resources.js";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { filesSpec } from "../../../generated/storage/files.js";
import { vaultSpec } from "../../../generated/storage/vault.js";
import { expectedChanges } from "../../../runtime/families/storage/expected.js";
import { sweepOf } from "../../../runtime/families/storage/rebuild.js";
import { changeOf, notingOf } from "../../../runtime/families/storage/changes.js";
import { objectIndex } from "../../../runtime/ports/object-index.js";
import type { ObjectStore } from "../../../runtime/ports/objects.js";
import { ServiceError } from "../../../runtime/contract/errors.js";
import { engines } from "../../support/engines.js";
import { objectEngines, type FreshObjects } from "../../support/object-engines.js";
import { peopleOf, type Member, type People } from "../../support/people.js";
import { runCommand } from "../../support/process.js";
import { startTestService, type Answer, type TestService } from "../../support/service.js";

const pairs = engines.flatMap((database) =>
  objectEngines.map((objects) => ({
    database,
    objects,
    name: `${database.name} and ${objects.name}`,
    isAvailable: database.isAvailable && objects.isAvailable,
  })),
);
const never = new AbortController().signal;
const described = { contentType: "text/plain", filename: "x.txt", description: null };
async function* bytes(text: string): AsyncGenerator<Buffer> {
  yield Buffer.from(text);
}

for (const pair of pairs) {
  describe.skipIf(!pair.isAvailable)(pair.name, () => {
    let service: TestService;
    let people: People;
    let member: Member;
    let objects: FreshObjects;
    let store: ObjectStore;
    beforeAll(async () => {
      objects = await pair.objects.create();
      service = await startTestService(pair.database, {
        signsIn: false,
        environment: { OBJECTS_URL: objects.url, ...objects.environment },
      });
      people = peopleOf(service);
      member = await people.member("", "files.read", "files.write");
      store = service.running.connection.of(storageResources).of(filesSpec);
    });
    afterAll(async () => {
      await service.stop();
      await objects.drop();
    });

    const post = (path: string, body: object, who = member): Promise<Answer> =>
      people.as(who.token, "POST", path, body);
    const list = async (
      body: object = {},
      who = member,
      path = "/files/list",
    ): Promise<Answer["body"]> => {
      const answer = await post(path, { size: 100, ...body }, who);
      expect(answer.status).toBe(200);
      return answer.body;
    };
    const keysOf = ({ hits }: Answer["body"]): readonly string[] =>
      hits.map(({ key }: { readonly key: string }) => key);
    const upload = async (
      content: string,
      name: string,
      fields: Readonly<Record<string, string>> = {},
      who = member,
      path = "/files",
    ): Promise<Answer> => {
      const data = new FormData();
      for (const [field, value] of Object.entries(fields)) data.set(field, value);
      data.set("file", new Blob([content]), name);
      return service.call("POST", path, {
        body: data,
        headers: { authorization: `Bearer ${who.token}` },
      });
    };
    const physical = (key: string, who = member): string => `files/${who.tenantId}/${key}`;
    /** The periodic look at what may have changed, until nothing is due. */
    const look = async (): Promise<void> => {
      const job = expectedChanges([filesSpec, vaultSpec], service.running.connection);
      while (await job.step());
    };
    /** The walk over all objects, which is not good for long here. */
    const sweep = async (): Promise<void> => {
      await service.running.connection.write("test.anew", async ({ transaction: { leases } }) => {
        await leases.take("objects.walk.files", "test", 0, 0);
        await leases.note("objects.walk.files", "test", null);
      });
      const job = sweepOf(filesSpec, service.running.connection);
      while (await job.step());
    };
    /** Every note is due. */
    const letTimePass = (): Promise<void> =>
      service.running.connection.write("test.time", async ({ transaction }) => {
        const index = transaction.of(objectIndex);
        for (const change of await index.due(Number.MAX_SAFE_INTEGER, 1_000))
          await index.postpone(change, 0);
      });

    test("an upload is listed with its tags, by type and by tag", async () => {
      const who = await people.member("", "files.read", "files.write");
      const made = await upload("a,b", "t.csv", { tags: "stage=draft&project=apollo 11" }, who);
      expect([made.status, made.body.tags]).toEqual([
        201,
        { stage: "draft", project: "apollo 11" },
      ]);
      const plain = (await upload("text", "t.txt", { prefix: "z", tags: "stage=draft" }, who)).body;
      const late = new FormData();
      late.set("file", new Blob(["text"]), "l.txt");
      late.set("tags", "stage=done");
      const done = await service.call("POST", "/files", {
        body: late,
        headers: { authorization: `Bearer ${who.token}` },
      });
      expect([done.status, done.body.tags]).toEqual([201, { stage: "done" }]);
      expect((await list({}, who)).count).toBe(3);
      expect((await list({ content_type: "text/csv" }, who)).hits).toEqual([
        { ...made.body, tags: { project: "apollo 11", stage: "draft" } },
      ]);
      expect((await list({ content_type: "text/*" }, who)).count).toBe(3);
      expect((await list({ content_type: "image/*" }, who)).count).toBe(0);
      expect(await list({ tags: { stage: "draft" } }, who)).toMatchObject({ count: 2 });
      expect(keysOf(await list({ tags: { stage: "draft" }, prefix: "z/" }, who))).toEqual([
        plain.key,
      ]);
      expect((await list({ tags: { stage: "draft", project: "apollo" } }, who)).hits).toEqual([]);
      const page = await list({ size: 2 }, who);
      expect(page.count).toBe(3);
      expect(await list({ size: 2, after: page.next_cursor }, who)).toMatchObject({
        count: null,
        next_cursor: null,
      });
      const other = { size: 2, after: page.next_cursor, tags: { stage: "draft" } };
      expect((await post("/files/list", other, who)).body.code).toBe("invalid_cursor");
    });

    test.each([
      ["a&b=1&a=2", "a name twice"],
      [`x=${"y".repeat(65)}`, "a long value"],
      ["not/so=1", "a name with other signs"],
      [Array.from({ length: 11 }, (_, at) => `t${at}=`).join("&"), "eleven"],
      [Array.from({ length: 10 }, (_, at) => `t${at}=${"v".repeat(30)}`).join("&"), "too much"],
    ])("tags %s are refused: %s", async (tags) => {
      const { status, body } = await upload("x", "x.txt", { tags });
      expect([status, body.code, body.context.errors[0].path]).toEqual([
        422,
        "core.validation",
        "/tags",
      ]);
    });

    test("copies, moves and metadata are listed as they are", async () => {
      const who = await people.member("", "files.read", "files.write");
      const { body: made } = await upload("content", "a.txt", { tags: "stage=draft" }, who);
      const copy = await post("/files/copy", { from: made.key, to: "copies/ü &+%?" }, who);
      expect(copy.body).toEqual({
        ...made,
        key: "copies/ü &+%?",
        etag: copy.body.etag,
        created_at: copy.body.created_at,
      });
      const moved = await post("/files/move", { from: copy.body.key, to: "moved" }, who);
      expect([moved.status, moved.body.key]).toEqual([200, "moved"]);
      expect(keysOf(await list({}, who))).toEqual([made.key, "moved"].sort());
      const read = await people.as(who.token, "GET", "/files/moved");
      expect([read.body, read.headers.get("content-type")]).toEqual(["content", "text/plain"]);
      const changed = await post(
        "/files/metadata/update",
        {
          key: "moved",
          content_type: "text/markdown",
          filename: "b.md",
          description: "said",
          tags: { stage: "done" },
        },
        who,
      );
      expect(changed.body).toMatchObject({
        key: "moved",
        size: 7,
        content_type: "text/markdown",
        filename: "b.md",
        description: "said",
        tags: { stage: "done" },
      });
      expect((await post("/files/metadata", { key: "moved" }, who)).body).toEqual(changed.body);
      expect((await list({ tags: { stage: "done" } }, who)).hits).toEqual([changed.body]);
      const bare = { key: "moved", description: null, tags: {} };
      const bared = (await post("/files/metadata/update", bare, who)).body;
      expect([bared.description, bared.tags, bared.filename]).toEqual([
        undefined,
        undefined,
        "b.md",
      ]);
      for (const [path, body] of [
        ["copy", { from: "none", to: "x" }],
        ["move", { from: "none", to: "x" }],
        ["metadata", { key: "none" }],
        ["metadata/update", { key: "none", tags: {} }],
      ] as const)
        expect((await post(`/files/${path}`, body, who)).status).toBe(404);
      expect((await post("/files/copy", { from: "moved", to: "../x" }, who)).status).toBe(422);
      expect((await people.as(who.token, "DELETE", "/files/moved")).status).toBe(204);
      expect(keysOf(await list({}, who))).toEqual([made.key]);
    });

    test("a copy of what is encrypted opens at its new place alone", async () => {
      const who = await people.member("", "vault.read", "vault.write");
      const made = (await upload("sealed", "a.txt", { tags: "a=b" }, who, "/vault/files/upload"))
        .body;
      const copy = await post("/vault/files/copy", { from: made.key, to: "copy" }, who);
      expect([copy.status, copy.body.size, copy.body.tags]).toEqual([200, 6, { a: "b" }]);
      expect((await people.as(who.token, "GET", "/vault/files/download/copy")).body).toBe("sealed");
      const told = await post(
        "/vault/files/metadata/update",
        { key: "copy", tags: { c: "d" } },
        who,
      );
      expect([told.body.size, told.body.tags]).toEqual([6, { c: "d" }]);
      expect((await people.as(who.token, "GET", "/vault/files/download/copy")).body).toBe("sealed");
      const { hits } = await list({}, who, "/vault/files/list");
      expect(
        hits.map(({ key, size }: { readonly key: string; readonly size: number }) => [key, size]),
      ).toEqual(
        [
          [made.key, 6],
          ["copy", 6],
        ].sort(),
      );
    });

    test("a signed upload is listed once somebody reads its metadata, or once it was looked for", async () => {
      const who = await people.member("", "files.read", "files.write");
      for (const key of ["signed/one", "signed/two"]) {
        const asked = { key, expires_in: 60, content_type: "text/plain" };
        const { body: signed } = await post("/files/presign/upload", asked, who);
        const answer = await fetch(signed.url, {
          method: signed.method,
          headers: signed.headers,
          body: "direct",
        });
        expect(answer.status).toBe(200);
      }
      const { body } = await post("/files/metadata", { key: "signed/one" }, who);
      expect(body.size).toBe(6);
      expect(keysOf(await list({ prefix: "signed/one" }, who))).toEqual(["signed/one"]);
      await letTimePass();
      await look();
      expect(keysOf(await list({}, who))).toEqual(["signed/one", "signed/two"]);
    });

    test("an upload in parts is listed when it is complete", async () => {
      const who = await people.member("", "files.read", "files.write");
      const { body: session } = await post("/files/uploads", { key: "parts" }, who);
      const signing = { session, part_number: 1, expires_in: 60 };
      const { body: signed } = await post("/files/uploads/parts/url", signing, who);
      const sent = await fetch(signed.url, {
        method: "PUT",
        headers: signed.headers,
        body: "part",
      });
      const parts = [{ part_number: 1, etag: sent.headers.get("etag") ?? "" }];
      expect((await list({}, who)).hits).toEqual([]);
      const { status } = await post("/files/uploads/complete", { session, parts }, who);
      expect(status).toBe(200);
      expect(keysOf(await list({}, who))).toEqual(["parts"]);
    });

    test("a process that dies between the engine and the index leaves a note, by which the list is mended", async () => {
      const who = await people.member("", "files.read", "files.write");
      const noting = notingOf(service.running.connection, filesSpec);
      // It dies behind the engine's part of a write, and of a removal.
      const written = changeOf(noting, physical("written", who));
      await store.write(physical("written", who), written.noted(bytes("x")), described, never);
      const kept = changeOf(noting, physical("kept", who));
      await kept.settle(
        await store.write(physical("kept", who), kept.noted(bytes("x")), described, never),
      );
      await changeOf(noting, physical("kept", who)).begin();
      await store.remove(physical("kept", who));
      expect(keysOf(await list({}, who))).toEqual(["kept"]);
      await look();
      expect(keysOf(await list({}, who))).toEqual(["kept"]);
      await letTimePass();
      await look();
      expect(keysOf(await list({}, who))).toEqual(["written"]);
      // What came to its end has left nothing.
      await upload("x", "x.txt", {}, who);
      await people.as(who.token, "DELETE", "/files/written");
      const notes = await service.running.connection.database.reader
        .of(objectIndex)
        .due(Number.MAX_SAFE_INTEGER, 1_000);
      const own = notes.filter((note) => note.key.startsWith(physical("", who)));
      expect(own.map((note) => note.key.slice(physical("", who).length)).sort()).toEqual([
        "kept",
        "written",
      ]);
    });

    test("the walk finds what came and went past the service, and the command does", async () => {
      const who = await people.member("", "files.read", "files.write");
      const gone = (await upload("x", "x.txt", {}, who)).body;
      await store.remove(physical(gone.key, who));
      for (let at = 0; at < 5; at += 1)
        await store.write(physical(`past/${at}`, who), bytes("past"), described, never);
      expect(keysOf(await list({}, who))).toEqual([gone.key]);
      await sweep();
      const past = [0, 1, 2, 3, 4].map((at) => `past/${at}`);
      expect(keysOf(await list({}, who))).toEqual(past);
      await store.write(physical("past/2", who), bytes("longer"), described, never);
      await store.write(physical("past/9", who), bytes("new"), described, never);
      await sweep();
      expect((await list({}, who)).hits.map(({ size }: { readonly size: number }) => size)).toEqual(
        [4, 4, 6, 4, 4, 3],
      );
    });

    test("whatever is done side by side, dies or comes past, a list says in the end what the engine has", async () => {
      const who = await people.member("", "files.read", "files.write");
      const noting = notingOf(service.running.connection, filesSpec);
      const key = fc.constantFrom("a", "b", "c");
      const step = fc.oneof(
        fc.record({ kind: fc.constantFrom("remove", "metadata", "dies", "look"), key, to: key }),
        fc.record({ kind: fc.constantFrom("write", "copy", "move"), key, to: key }),
      );
      /** What loses against another change may be told so. */
      const act = (one: { kind: string; key: string; to: string }): Promise<void> =>
        done(one).catch((error: unknown) => {
          if (!(error instanceof ServiceError && error.code === "core.concurrency")) throw error;
        });
      const done = async ({ kind, key: at, to }: { kind: string; key: string; to: string }) => {
        switch (kind) {
          case "write": {
            const change = changeOf(noting, physical(at, who));
            const head = await store.write(
              physical(at, who),
              change.noted(bytes(to)),
              described,
              never,
            );
            return change.settle(head);
          }
          case "dies": {
            const change = changeOf(noting, physical(at, who));
            return void (await store.write(
              physical(at, who),
              change.noted(bytes(to)),
              described,
              never,
            ));
          }
          case "remove":
            return void (await people.as(who.token, "DELETE", `/files/${at}`));
          case "metadata":
            return void (await post("/files/metadata/update", { key: at, tags: { to } }, who));
          case "look":
            await letTimePass();
            return look();
          default:
            return void (await post(`/files/${kind}`, { from: at, to }, who));
        }
      };
      await fc.assert(
        fc.asyncProperty(
          fc.array(fc.array(step, { maxLength: 5 }), { maxLength: 6 }),
          async (rounds) => {
            for (const round of rounds) await Promise.all(round.map(act));
            await letTimePass();
            await look();
            const there: unknown[] = [];
            for await (const { key: one } of store.list(physical("", who), null)) {
              const head = await store.head(one);
              there.push([one.slice(physical("", who).length), head?.etag, head?.tags]);
            }
            const listed = (await list({}, who)).hits;
            expect(listed.map((one: Answer["body"]) => [one.key, one.etag, one.tags])).toEqual(
              there,
            );
          },
        ),
        { numRuns: 15, endOnFailure: true },
      );
    }, 120_000);
  });
}

test("the command fills the index of a store that was there before it", async () => {
  const [sqlite] = engines;
  const [folder] = objectEngines;
  if (sqlite === undefined || folder === undefined) throw new Error("engines are missing");
  const objects = await folder.create();
  const database = await sqlite.create();
  const environment = {
    OBJECTS_URL: objects.url,
    ...database.environment,
    DATA_DIR: mkdtempSync(join(tmpdir(), "opwright-data-")),
  };
  const service = await startTestService(sqlite, { environment });
  const store = await objects.open();
  const tenant = service.tester.tenantId;
  for (const at of [1, 2, 3])
    await store.write(`files/${tenant}/old/${at}`, bytes("old"), described, never);
  const command = await runCommand(environment, ["objects-rebuild", "files"]);
  expect([command.status, command.stdout]).toEqual([0, "3\n"]);
  const { body } = await service.post("/files/list", {});
  expect(body.count).toBe(3);
  expect((await runCommand(environment, ["objects-rebuild", "nothing"])).status).toBe(2);
  await service.stop();
  await objects.drop();
  await database.drop();
});
