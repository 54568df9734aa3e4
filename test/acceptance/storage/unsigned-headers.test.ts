// Presigned uploads where the object server takes headers that nobody has signed: with them, an address would reach every object
// of the bucket, so it is not given.
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { openS3Store } from "../../../runtime/engines/s3/engine.js";
import type { ObjectStore } from "../../../runtime/ports/objects.js";
import { engines } from "../../support/engines.js";
import { objectEngines, type FreshObjects } from "../../support/object-engines.js";
import { peopleOf, type People } from "../../support/people.js";
import { testProject, type TestProject } from "../../support/project-service.js";
import type { TestService } from "../../support/service.js";

const files = {
  "registry/service.yaml": `registry: 1
service: {name: demo, title: Demo, version: 1.0.0}
identity: {methods: [token]}
tenancy: {}
policies: {member: [principal, tenant]}
storage: {files: {guard: member, presign: true, multipart: true, mount: {at: "", style: rest}}}
`,
};

const [sqlite] = engines;
const s3 = objectEngines.find(({ name }) => name === "s3");

describe.skipIf(s3?.isAvailable !== true)("a server that takes unsigned headers", () => {
  let project: TestProject;
  let objects: FreshObjects;
  const started: TestService[] = [];
  beforeAll(async () => {
    project = await testProject(files);
    if (s3 === undefined) throw new Error("there is no S3");
    objects = await s3.create();
  });
  afterAll(async () => {
    for (const service of started) await service.stop();
    await objects.drop();
    await project.remove();
  });
  const start = async (url: string): Promise<People> => {
    if (sqlite === undefined) throw new Error("there is no engine");
    const environment = { OBJECTS_URL: url, ...objects.environment };
    const service = await project.start(sqlite, { signsIn: false, environment });
    started.push(service);
    return peopleOf(service);
  };
  const form = { key: "mine.txt", expires_in: 60 };

  test("gets no presigned uploads, but forms and downloads", async () => {
    const people = await start(objects.url.replace("&unsigned-headers=accept", ""));
    const { token } = await people.member("");
    const post = (path: string, body: object) => people.as(token, "POST", path, body);
    const refused = { status: 409, body: { code: "presigned_upload_unsafe" } };
    expect(await post("/files/presign/upload", form)).toMatchObject(refused);
    expect(await post("/files/presign/upload", form)).toMatchObject(refused);
    const session = (await post("/files/uploads", { key: "parts.txt" })).body;
    const part = { session, part_number: 1, expires_in: 60 };
    expect(await post("/files/uploads/parts/url", part)).toMatchObject(refused);
    expect((await post("/files/presign/post", form)).status).toBe(200);
    expect((await post("/files/list", {})).body.hits).toEqual([]);
    await post("/files/uploads/abort", { session });
    const store = await objects.open();
    const left: string[] = [];
    for await (const { key } of store.list("", null)) left.push(key);
    await store.close();
    expect(left).toEqual([]);
  });

  test("would let an upload read what belongs to others", async () => {
    const people = await start(objects.url);
    const [enemy, victim] = [await people.member(""), await people.member("")];
    const store = await objects.open();
    const secret = `files/${victim.tenantId}/secret.txt`;
    const about = { contentType: "text/plain", filename: "secret.txt", description: null };
    await store.write(secret, bytesOf("secret"), about, new AbortController().signal);
    const signed = (await people.as(enemy.token, "POST", "/files/presign/upload", form)).body;
    const source = `/${new URL(objects.url).hostname}/${secret}`;
    const headers = { ...signed.headers, "x-amz-copy-source": source };
    await fetch(signed.url, { method: signed.method, headers });
    const read = await people.as(enemy.token, "GET", "/files/mine.txt");
    expect([read.status, read.body]).toEqual([200, "secret"]);
    await store.close();
  });
});

async function* bytesOf(text: string): AsyncGenerator<Buffer> {
  yield Buffer.from(text);
}

async function storeAt(listener: RequestListener): Promise<ObjectStore> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const store = await openS3Store({
    bucket: "bucket",
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    region: "us-east-1",
    credentials: { accessKeyId: "a", secretAccessKey: "s" },
  });
  onTestFinished(async () => {
    await store.close();
    server.closeAllConnections();
    server.close();
  });
  return store;
}

const limits = { contentType: null, maxBytes: 10 };

test("a server that refuses them, as AWS does, is asked once", async () => {
  const asked: string[] = [];
  const { direct } = await storeAt((req, res) => {
    const unsigned = req.headers["x-amz-meta-unsigned"];
    asked.push(`${req.method} ${unsigned}`);
    res.writeHead(unsigned === undefined ? 200 : 403).end();
  });
  for (const key of ["files/t/a", "files/t/b"])
    expect((await direct?.signUpload(key, limits, 60))?.method).toBe("PUT");
  expect(asked).toEqual(["PUT 1", "PUT undefined", "DELETE undefined"]);
});

test("one that takes no upload at all says nothing about it", async () => {
  const { direct } = await storeAt((_req, res) => {
    res.writeHead(403).end();
  });
  await expect(direct?.signUpload("files/t/a", limits, 60)).rejects.toMatchObject({
    code: "core.unavailable",
  });
});

test("one that leaves them out is as good", async () => {
  const { direct } = await storeAt((req, res) => {
    res.writeHead(req.method === "DELETE" ? 204 : 200, { etag: '"x"' }).end();
  });
  expect((await direct?.signUpload("files/t/a", limits, 60))?.method).toBe("PUT");
});

test("one that fails is asked again", async () => {
  let isDown = true;
  const { direct } = await storeAt((req, res) => {
    const isRefused = req.headers["x-amz-meta-unsigned"] !== undefined;
    res.writeHead(isDown ? 500 : isRefused ? 403 : 200).end();
  });
  await expect(direct?.signUpload("files/t/a", limits, 60)).rejects.toMatchObject({
    code: "core.unavailable",
  });
  isDown = false;
  expect((await direct?.signUpload("files/t/a", limits, 60))?.method).toBe("PUT");
});
