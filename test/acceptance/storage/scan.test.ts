// `scan:` of a storage: an upload is no object until its job has released it, by whichever way it came; on every database and
// engine of objects.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { quarantineStore } from "../../../runtime/ports/quarantine.js";
import { quarantineJob } from "../../../runtime/families/storage/quarantine-job.js";
import { engines } from "../../support/engines.js";
import { objectEngines, type FreshObjects } from "../../support/object-engines.js";
import { peopleOf, type Member, type People } from "../../support/people.js";
import { testProject, type TestProject } from "../../support/project-service.js";
import type { TestService } from "../../support/service.js";

const files = {
  "registry/service.yaml": `registry: 1
service: {name: demo, title: Demo, version: 1.0.0}
identity: {methods: [token]}
tenancy: {}
policies: {member: [principal, tenant]}
storage:
  files: {guard: member, scan: files.scan, presign: true, multipart: true, mount: {at: "", style: rest}}
  texts: {guard: member, scan: texts.scan, accept: [text/plain], presign: true, multipart: true, mount: {at: /texts, style: rest}}
  vault: {guard: member, scan: vault.scan, encryption: client, mount: {at: /vault, style: rest}}
  plain: {guard: member, mount: {at: /plain, style: rest}}
jobs:
  files.scan: {in: {upload: string}, run: registry/scan.ts#scanFile, retries: 0}
  texts.scan: {in: {upload: string}, run: registry/scan.ts#scanText, retries: 0}
  vault.scan: {in: {upload: string}, run: registry/scan.ts#scanSecret, retries: 0}
job_runs: {guard: member}
operations:
  files.generate: {post: /generate, in: {key: string, text: string, fails: boolean}, out: {etag: string}, run: registry/scan.ts#generate, guard: member}
  files.decide: {post: /decide, in: {upload: string, how: string}, out: {}, run: registry/scan.ts#decide, guard: member}
  files.reach: {post: /reach, in: {upload: string}, out: {sees: boolean, released: string}, run: registry/scan.ts#reach, guard: member}
`,
  "registry/scan.ts": `import { objects } from "opwright/runtime";
import { filesSpec } from "../generated/storage/files.js";
import { textsSpec } from "../generated/storage/texts.js";
import { vaultSpec } from "../generated/storage/vault.js";
export const seen = { uploads: [], isDown: false, between: null };
const scanned = (spec) => async ({ upload }, context) => {
  if (seen.isDown) throw new Error("the scanner is down");
  const stored = objects(spec, context);
  const file = await stored.quarantined(upload);
  if (file === null) return;
  const chunks = [];
  for await (const chunk of file.body) chunks.push(chunk);
  const text = Buffer.concat(chunks).toString();
  seen.uploads.push({ upload, text, key: file.key, name: file.filename, size: file.size, tags: file.tags });
  await seen.between?.();
  if (text.includes("virus")) await stored.reject(file);
  else await stored.release(file);
};
export const scanFile = scanned(filesSpec);
export const scanText = scanned(textsSpec);
export const scanSecret = scanned(vaultSpec);
export const generate = async ({ key, text, fails }, context) => {
  const { etag } = await objects(filesSpec, context).put(key, text);
  if (fails) throw new Error("undone");
  return { etag };
};
export const reach = async ({ upload }, context) => {
  const stored = objects(filesSpec, context);
  const file = await stored.quarantined(upload);
  const released = await stored.release({ upload }).then(() => "released", ({ code }) => code);
  return { sees: file !== null, released };
};
export const decide = async ({ upload, how }, context) => {
  const stored = objects(filesSpec, context);
  if (how === "undone") {
    await stored.release({ upload });
    throw new Error("undone");
  }
  if (how === "both") {
    const releasing = stored.release({ upload });
    await stored.reject({ upload });
    await releasing;
  }
  if (how === "reject") await stored.reject({ upload });
  if (how === "release") await stored.release({ upload });
  return {};
};
`,
};

interface Seen {
  uploads: {
    upload: string;
    text: string;
    key: string;
    name: string;
    size: number;
    tags: object;
  }[];
  isDown: boolean;
  between: (() => Promise<void>) | null;
}

let project: TestProject;
let seen: Seen;
beforeAll(async () => {
  project = await testProject(files);
  ({ seen } = await project.load("registry/scan.ts"));
});
afterAll(() => project?.remove());

const pairs = engines.flatMap((database) =>
  objectEngines.map((objects) => ({
    database,
    objects,
    name: `${database.name} and ${objects.name}`,
    isAvailable: database.isAvailable && objects.isAvailable,
  })),
);

for (const pair of pairs) {
  describe.skipIf(!pair.isAvailable)(pair.name, () => {
    let service: TestService;
    let people: People;
    let member: Member;
    let objects: FreshObjects;
    beforeAll(async () => {
      objects = await pair.objects.create();
      service = await project.start(pair.database, {
        signsIn: false,
        environment: { OBJECTS_URL: objects.url, ...objects.environment },
      });
      people = peopleOf(service);
      member = await people.member("");
    });
    afterAll(async () => {
      await service.stop();
      await objects.drop();
    });

    const post = (path: string, body: object, who = member) =>
      people.as(who.token, "POST", path, body);
    const read = (key: string, path = "") => people.as(member.token, "GET", `${path}/files/${key}`);
    const isHidden = async (key: string, path = ""): Promise<void> => {
      expect((await read(key, path)).status).toBe(404);
      expect((await post(`${path}/files/metadata`, { key })).status).toBe(404);
      const { hits, count } = (await post(`${path}/files/list`, { prefix: key })).body;
      expect([hits, count]).toEqual([[], 0]);
    };
    const textOf = async (key: string, path = ""): Promise<string> => {
      const { headers, body, status } = await read(key, path);
      expect([status, headers.get("content-type")]).toEqual([200, "text/plain"]);
      return body;
    };
    const upload = async (
      content: string,
      fields: Readonly<Record<string, string>> = {},
      { path = "", isLate = false } = {},
    ) => {
      const data = new FormData();
      const [before, behind] = isLate ? [{}, fields] : [fields, {}];
      for (const [field, value] of Object.entries(before)) data.set(field, value);
      data.set("file", new Blob([content]), "notes.txt");
      for (const [field, value] of Object.entries(behind)) data.set(field, value);
      const answer = await service.call("POST", `${path}/files`, {
        body: data,
        headers: { authorization: `Bearer ${member.token}` },
      });
      expect(answer.status).toBe(201);
      return answer.body as { key: string; size: number; filename: string; tags?: object };
    };
    /** Resolves once the scan of what has arrived is over. */
    const scanned = async (): Promise<void> => {
      await expect
        .poll(async () => {
          const { runs } = (await people.as(member.token, "GET", "/job_runs")).body;
          return runs.filter(({ state }: { state: string }) => /ready|running/u.test(state));
        })
        .toEqual([]);
    };
    /** What is in quarantine, in the engine. */
    const bytesLeft = async (place: string): Promise<number> => {
      const store = await objects.open();
      let count = 0;
      for await (const _one of store.list(`${place}/~uploads/`, null)) count += 1;
      await store.close();
      return count;
    };
    /** The periodic look at what is due, when everything is. */
    const lookLater = async (millis: number): Promise<void> => {
      const { connection } = service.running;
      const clock = { ...connection.clock, now: () => connection.clock.now() + millis };
      const specs = ["files", "texts", "vault"].map((name) =>
        project.load(`generated/storage/${name}.ts`),
      );
      const loaded = (await Promise.all(specs)).map((one) => Object.values(one)[0] as never);
      const job = quarantineJob(loaded, { ...connection, clock });
      while (await job.step());
    };
    const hour = 3_600_000;

    const failedRuns = async () => {
      const { runs } = (await people.as(member.token, "GET", "/job_runs?state=failed")).body;
      return runs as readonly { readonly id: string }[];
    };
    /** Nobody decides until the returned function is called. */
    const scannerDown = (): (() => Promise<void>) => {
      seen.isDown = true;
      return async () => {
        await scanned();
        seen.isDown = false;
        for (const { id } of await failedRuns())
          expect((await post(`/job_runs/${id}/retry`, {})).status).toBe(204);
        await scanned();
      };
    };

    test("an upload is hidden until its scan has released it", async () => {
      const goOn = scannerDown();
      const made = await upload("hello", { prefix: "a", tags: "x=1" });
      const { key, size, filename, tags } = made;
      const facts = { size, filename, tags };
      expect(facts).toMatchObject({ size: 5, filename: "notes.txt", tags: { x: "1" } });
      await isHidden(key);
      for (const [path, body] of [
        ["/files/copy", { from: key, to: "copied" }],
        ["/files/move", { from: key, to: "moved" }],
        ["/files/presign/download", { key, expires_in: 60 }],
        ["/files/metadata/update", { key, description: "x" }],
      ] as const)
        expect((await post(path, body)).status).toBe(404);
      await goOn();
      expect(await textOf(key)).toBe("hello");
      const { hits } = (await post("/files/list", { prefix: "a/" })).body;
      expect(hits).toMatchObject([{ key, ...facts }]);
      expect(seen.uploads.at(-1)).toMatchObject({
        key,
        name: "notes.txt",
        size: 5,
        tags: { x: "1" },
      });
      expect(await bytesLeft("files")).toBe(0);
    });

    test("one that is rejected never was an object", async () => {
      const { key } = await upload("a virus", { prefix: "b" });
      await scanned();
      await isHidden(key);
      expect(await bytesLeft("files")).toBe(0);
    });

    test("text fields behind the file are those of the object", async () => {
      const { key } = await upload("late", { prefix: "late", description: "d" }, { isLate: true });
      await scanned();
      expect(key).toMatch(/^late\//u);
      expect(await textOf(key)).toBe("late");
      expect((await post("/files/metadata", { key })).body.description).toBe("d");
      expect(await bytesLeft("files")).toBe(0);
    });

    test("what it replaces is there until then", async () => {
      const put = (text: string, fails = false) =>
        post("/generate", { key: "one.txt", text, fails });
      await put("first");
      await scanned();
      expect(await textOf("one.txt")).toBe("first");
      const goOn = scannerDown();
      await put("second");
      await put("third", true);
      expect(await textOf("one.txt")).toBe("first");
      await goOn();
      expect(await textOf("one.txt")).toBe("second");
      await put("virus");
      await scanned();
      expect(await textOf("one.txt")).toBe("second");
      expect(await bytesLeft("files")).toBe(0);
    });

    test("encrypted files are scanned as what they are", async () => {
      const { key } = await upload("secret", {}, { path: "/vault" });
      const { key: bad } = await upload("secret virus", {}, { path: "/vault" });
      await scanned();
      expect(seen.uploads.map(({ text }) => text)).toEqual(expect.arrayContaining(["secret"]));
      expect(await textOf(key, "/vault")).toBe("secret");
      await isHidden(bad, "/vault");
      expect(await bytesLeft("vault")).toBe(0);
    });

    const sign = async (path: string, key: string, type?: string) => {
      const signed = (
        await post(`${path}/files/presign/upload`, {
          key,
          expires_in: 60,
          ...(type === undefined ? {} : { content_type: type }),
        })
      ).body;
      const put = async (body: string) => {
        const { method, headers } = signed;
        return fetch(signed.url, { method, headers, body });
      };
      return { ...signed, put };
    };
    const send = async (path: string, key: string, content: string, type?: string) => {
      const signed = await sign(path, key, type);
      return { ...signed, status: (await signed.put(content)).status };
    };

    test("a signed upload is taken in once", async () => {
      const { put, status } = await send("", "signed/a.txt", "signed", "text/plain");
      expect(status).toBe(200);
      await isHidden("signed/a.txt");
      await scanned();
      expect(await textOf("signed/a.txt")).toBe("signed");
      expect(seen.uploads.at(-1)).toMatchObject({ key: "signed/a.txt", name: "a.txt" });
      const again = await put("again");
      expect(again.status).toBe(pair.objects.name === "folder" ? 403 : 200);
      await post("/files/metadata", { key: "signed/a.txt" });
      await lookLater(0);
      await scanned();
      expect(await textOf("signed/a.txt")).toBe("signed");
      // What came too late is removed when nothing comes any more.
      await lookLater(2 * hour);
      expect(await bytesLeft("files")).toBe(0);
    });

    test("what arrives while the scan reads is not taken in, nor is its type", async () => {
      const { put, url, method } = await send("", "twice.txt", "harmless", "text/plain");
      const typed = await send("", "typed.txt", "harmless");
      seen.between = async () => {
        await put("a virus");
        await fetch(url, { method, headers: { "content-type": "text/html" }, body: "harmless" });
        const { url: other } = typed;
        await fetch(other, { method, headers: { "content-type": "text/html" }, body: "harmless" });
      };
      await post("/files/metadata", { key: "twice.txt" });
      await post("/files/metadata", { key: "typed.txt" });
      await scanned();
      seen.between = null;
      for (const key of ["twice.txt", "typed.txt"]) {
        const { body, headers } = await read(key);
        expect([body, headers.get("content-type")]).not.toContain("text/html");
        expect(body).toBe("harmless");
      }
      await lookLater(2 * hour);
      expect(await bytesLeft("files")).toBe(0);
    });

    /** An upload that nobody has decided on: its id, and what decides on it later. */
    const waiting = async (key: string, text: string) => {
      const goOn = scannerDown();
      await post("/generate", { key, text, fails: false });
      await scanned();
      seen.isDown = false;
      const [failed] = await failedRuns();
      const { body } = await people.as(member.token, "GET", `/job_runs/${failed?.id}`);
      await people.as(member.token, "POST", `/job_runs/${failed?.id}/cancel`);
      const { upload } = body.input as { readonly upload: string };
      const decide = (how: string) => post("/decide", { upload, how });
      return { upload, decide, goOn };
    };

    test("one decision holds, and one that is undone is none", async () => {
      const undone = await waiting("undone.txt", "undone");
      expect((await undone.decide("undone")).status).toBe(500);
      await isHidden("undone.txt");
      expect((await undone.decide("reject")).status).toBe(200);
      expect((await undone.decide("release")).status).toBe(404);
      await isHidden("undone.txt");
      const both = await waiting("both.txt", "both");
      // Whichever comes first.
      if ((await both.decide("both")).status === 200) expect(await textOf("both.txt")).toBe("both");
      else await isHidden("both.txt");
      await undone.goOn();
      await isHidden("undone.txt");
      expect(await bytesLeft("files")).toBe(0);
    });

    test("what arrived earlier and is released later replaces nothing", async () => {
      const older = await waiting("order.txt", "older");
      await post("/generate", { key: "order.txt", text: "newer", fails: false });
      await scanned();
      expect(await textOf("order.txt")).toBe("newer");
      expect((await older.decide("release")).status).toBe(200);
      expect(await textOf("order.txt")).toBe("newer");
      await older.goOn();
      expect(await bytesLeft("files")).toBe(0);
    });

    test("what arrives later counts, however long ago its address was signed", async () => {
      const { put } = await sign("", "later.txt", "text/plain");
      await post("/generate", { key: "later.txt", text: "written", fails: false });
      await scanned();
      expect(await textOf("later.txt")).toBe("written");
      expect((await put("signed before")).status).toBe(200);
      await post("/files/metadata", { key: "later.txt" });
      await scanned();
      expect(await textOf("later.txt")).toBe("signed before");
    });

    test("of what is sent to one address at once, one is taken in, and who else is told", async () => {
      const { put } = await sign("", "raced.txt", "text/plain");
      const answers = await Promise.all(
        ["one", "two", "three"].map(async (text) => ({ text, status: (await put(text)).status })),
      );
      await post("/files/metadata", { key: "raced.txt" });
      await scanned();
      const taken = await textOf("raced.txt");
      const accepted = answers.filter(({ status }) => status === 200).map(({ text }) => text);
      expect(accepted).toContain(taken);
      // S3 knows of no address that is used up.
      if (pair.objects.name === "folder") expect(accepted).toEqual([taken]);
      await lookLater(2 * hour);
      expect(await bytesLeft("files")).toBe(0);
    });

    test("what came shortly before its address expired is scanned, also if nobody looked", async () => {
      if (pair.objects.name === "folder") return;
      await send("", "last-moment.txt", "just in time", "text/plain");
      await lookLater(3 * hour);
      await scanned();
      expect(await textOf("last-moment.txt")).toBe("just in time");
    });

    test("releases of a key are put in their place one after another", async () => {
      const older = await waiting("both-released.txt", "older");
      const newer = await waiting("both-released.txt", "newer");
      const { connection } = service.running;
      // A process has released the older one, and is at copying it.
      await connection.write("test.copying", async ({ transaction, clock }) => {
        await transaction.of(quarantineStore).release(older.upload, clock.now() + hour);
      });
      expect((await newer.decide("release")).status).toBe(200);
      await isHidden("both-released.txt");
      await lookLater(2 * hour);
      expect(await textOf("both-released.txt")).toBe("newer");
      await older.goOn();
      expect(await bytesLeft("files")).toBe(0);
    });

    test("an upload that nobody has decided on is scanned again after a week", async () => {
      const goOn = scannerDown();
      const { key } = await upload("undecided");
      await scanned();
      seen.isDown = false;
      await lookLater(8 * 24 * hour);
      await scanned();
      expect(await textOf(key)).toBe("undecided");
      await goOn();
    });

    test("a release that a process died in is finished, and an upload that it died in goes", async () => {
      const { upload, goOn } = await waiting("died.txt", "released");
      const { connection } = service.running;
      await connection.write("test.died", async ({ transaction, clock, tenant }) => {
        const files = transaction.of(quarantineStore);
        await files.release(upload, clock.now());
        const times = { now: clock.now(), dueAt: clock.now(), until: clock.now() + hour };
        const file = { id: "gone", place: "files", tenant, key: "gone" };
        await files.expect(file, times);
      });
      await lookLater(1_000);
      expect(await textOf("died.txt")).toBe("released");
      await lookLater(25 * hour);
      const left = await connection.database.reader.of(quarantineStore).find("gone");
      expect([left, await bytesLeft("files")]).toEqual([null, 0]);
      await goOn();
    });

    test("sessions of one moment and key are two uploads", async () => {
      const begun = await Promise.all(
        [1, 2, 3, 4, 5, 6].map(() => post("/files/uploads", { key: "moment.txt" })),
      );
      const ends = begun.map(({ body }) => body.expires_at);
      expect(new Set(ends).size).toBe(6);
      for (const { body } of begun)
        expect((await post("/files/uploads/abort", { session: body })).status).toBe(204);
    });

    test("a form that was signed is taken in once", async () => {
      const { url, fields } = (
        await post("/files/presign/post", {
          key: "form.txt",
          expires_in: 60,
          content_type: "text/plain",
        })
      ).body;
      const sent = async (text: string) => {
        const form = new FormData();
        for (const [name, value] of Object.entries(fields)) form.set(name, value as string);
        form.set("file", new Blob([text], { type: "text/plain" }), "form.txt");
        return (await fetch(url, { method: "POST", body: form })).status;
      };
      expect(await sent("formed")).toBeLessThan(300);
      await post("/files/metadata", { key: "form.txt" });
      await scanned();
      expect(await textOf("form.txt")).toBe("formed");
      await sent("again");
      await lookLater(0);
      await scanned();
      expect(await textOf("form.txt")).toBe("formed");
      await lookLater(2 * hour);
      expect(await bytesLeft("files")).toBe(0);
    });

    test("nobody has to ask for a signed upload to be scanned", async () => {
      await send("", "unasked.txt", "unasked", "text/plain");
      await lookLater(31_000);
      await scanned();
      expect(await textOf("unasked.txt")).toBe("unasked");
    });

    const inParts = async (path: string, key: string, content: string) => {
      const session = (await post(`${path}/files/uploads`, { key, content_type: "text/plain" }))
        .body;
      const { url } = (
        await post(`${path}/files/uploads/parts/url`, { session, part_number: 1, expires_in: 60 })
      ).body;
      const { headers } = await fetch(url, { method: "PUT", body: content });
      const parts = [{ part_number: 1, etag: headers.get("etag") }];
      return post(`${path}/files/uploads/complete`, { session, parts });
    };

    test("an upload in parts is scanned once it is complete", async () => {
      const goOn = scannerDown();
      const { status, body } = await inParts("", "parts.txt", "in parts");
      expect([status, body.key, body.size]).toEqual([200, "parts.txt", 8]);
      await isHidden("parts.txt");
      await goOn();
      expect(await textOf("parts.txt")).toBe("in parts");
      expect(await bytesLeft("files")).toBe(0);
    });

    test("with accept, what is of another type never reaches the scan", async () => {
      const page = "<!doctype html><html></html>";
      const count = seen.uploads.length;
      const { status } = await send("/texts", "page.txt", page, "text/plain");
      expect(status).toBe(pair.objects.name === "folder" ? 415 : 200);
      await post("/texts/files/metadata", { key: "page.txt" });
      await scanned();
      await isHidden("page.txt", "/texts");
      expect((await inParts("/texts", "parts.txt", page)).status).toBe(415);
      expect((await inParts("/texts", "good.txt", "good")).status).toBe(200);
      await scanned();
      expect(await textOf("good.txt", "/texts")).toBe("good");
      expect(seen.uploads.slice(count).map(({ text }) => text)).toEqual(["good"]);
      await lookLater(48 * hour);
      expect(await bytesLeft("texts")).toBe(0);
    });

    test("uploads are their tenant's", async () => {
      const goOn = scannerDown();
      await upload("mine");
      await scanned();
      const [failed] = await failedRuns();
      const { body } = await people.as(member.token, "GET", `/job_runs/${failed?.id}`);
      const given = { upload: body.input.upload };
      const other = await people.member("");
      expect((await post("/reach", given, other)).body).toEqual({
        sees: false,
        released: "core.not_found",
      });
      await goOn();
      expect((await post("/reach", given)).body).toEqual({
        sees: false,
        released: "core.not_found",
      });
    });

    test("what nobody decides on is removed after thirty days", async () => {
      const goOn = scannerDown();
      const { key } = await upload("waits");
      await scanned();
      await lookLater(29 * 24 * hour);
      expect(await bytesLeft("files")).toBe(1);
      await lookLater(31 * 24 * hour);
      expect(await bytesLeft("files")).toBe(0);
      await goOn();
      await isHidden(key);
      await lookLater(62 * 24 * hour);
      const left = service.running.connection.database.reader.of(quarantineStore);
      expect(await left.due(Number.MAX_SAFE_INTEGER, 10)).toEqual([]);
    });
  });
}
