// A service whose objects are away: it starts, answers what needs none, and tells everybody else to come again (attack 84).
import { storageResources } from "../../../runtime/families/storage/resources.js";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { createServer as createHttpServer } from "node:http";
import { createServer, type AddressInfo, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { engines } from "../../support/engines.js";
import { peopleOf, type Member, type People } from "../../support/people.js";
import { startTestService, type Answer, type TestService } from "../../support/service.js";

const [sqlite] = engines;
const ended: (() => void | Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of ended.splice(0).toReversed()) await end();
});

interface Started {
  readonly service: TestService;
  readonly people: People;
  readonly member: Member;
}

async function startedOn(environment: Readonly<Record<string, string>>): Promise<Started> {
  if (sqlite === undefined) throw new Error("there is no SQLite");
  const service = await startTestService(sqlite, { signsIn: false, environment });
  ended.push(() => service.stop());
  const people = peopleOf(service);
  return { service, people, member: await people.member("", "files.read", "files.write") };
}

async function at(server: Server): Promise<Readonly<Record<string, string>>> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    OBJECTS_URL: `s3://bucket?endpoint=${encodeURIComponent(`http://127.0.0.1:${port}`)}`,
    OBJECTS_ACCESS_KEY: "a",
    OBJECTS_SECRET_KEY: "s",
  };
}

function form(size: number): FormData {
  const data = new FormData();
  data.set("file", new Blob([new Uint8Array(size)]), "x.bin");
  return data;
}

/** Every request that needs objects. */
function requests({ service, member }: Started, budget?: string): readonly Promise<Answer>[] {
  const headers = {
    authorization: `Bearer ${member.token}`,
    ...(budget === undefined ? {} : { "x-deadline-budget": budget }),
  };
  const session = { expires_in: 60 };
  return [
    service.call("GET", "/files/a", { headers }),
    service.call("HEAD", "/files/a", { headers }),
    service.call("GET", "/files/a", { headers: { ...headers, range: "bytes=0-1" } }),
    service.call("DELETE", "/files/a", { headers }),
    service.call("POST", "/files", { headers, body: form(10) }),
    service.call("POST", "/files/uploads", { headers, body: { key: "a" } }),
    service.call("POST", "/files/presign/download", { headers, body: { key: "a", ...session } }),
  ];
}

test("a bucket that refuses ends no start, and every request for it is told to come again", async () => {
  const server = createHttpServer((req, res) => {
    req.resume();
    res.writeHead(403, { "content-type": "application/xml" });
    res.end(req.method === "HEAD" ? "" : "<Error><Code>AccessDenied</Code></Error>");
  });
  ended.push(() => new Promise((resolve) => server.close(resolve)));
  const started = await startedOn(await at(server));
  for (const { status, headers } of await Promise.all(requests(started))) {
    expect(status).toBe(503);
    expect(headers.get("retry-after")).toBe("1");
  }
  expect((await started.service.call("GET", "/livez")).status).toBe(200);
  await expect(
    started.service.running.connection.of(storageResources).ping(),
  ).rejects.toMatchObject({
    code: "core.unavailable",
  });
});

test("lists need no bucket, and one that goes away takes nothing out of them", async () => {
  let isAway = false;
  const server = createHttpServer((req, res) => {
    req.resume();
    const listed = `<ListBucketResult></ListBucketResult>`;
    res.writeHead(isAway ? 500 : 200, { "content-type": "application/xml", etag: '"tag"' });
    res.end(req.method === "HEAD" || isAway ? "" : listed);
  });
  ended.push(() => new Promise((resolve) => server.close(resolve)));
  const { service, people, member } = await startedOn(await at(server));
  const headers = { authorization: `Bearer ${member.token}` };
  const made = await service.call("POST", "/files", { headers, body: form(10) });
  expect(made.status).toBe(201);
  isAway = true;
  expect((await service.call("DELETE", `/files/${made.body.key}`, { headers })).status).toBe(503);
  const { status, body } = await people.as(member.token, "POST", "/files/list", {});
  expect([status, body.count]).toEqual([200, 1]);
});

test("a silent bucket holds nobody beyond the deadline, and the others not at all", async () => {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket.on("error", () => undefined).once("close", () => sockets.delete(socket)));
    socket.resume();
  });
  ended.push(() => new Promise((resolve) => server.close(resolve)));
  const started = await startedOn(await at(server));
  const waiting = requests(started, "1");
  const { people, member } = started;
  expect((await people.as(member.token, "GET", "/auth/sessions")).status).toBe(200);
  for (const { status } of await Promise.all(waiting)) expect(status).toBe(504);
  // Its connections end with the requests that they were for; what the service sweeps at its start has ten seconds.
  await expect.poll(() => sockets.size).toBeLessThanOrEqual(3);
});

test("a full disk is 503, keeps nothing of what did not fit, and takes files again once there is room", async ({
  skip,
}) => {
  const root = mkdtempSync(join(tmpdir(), "opwright-tiny-"));
  ended.push(() => rmSync(root, { recursive: true, force: true }));
  const mounted = spawnSync("mount", ["-t", "tmpfs", "-o", "size=256k", "tmpfs", root]);
  if (mounted.status !== 0) return skip("this user may mount no file system");
  ended.push(() => void spawnSync("umount", [root]));
  const { service, member } = await startedOn({ OBJECTS_URL: `file:${root}` });
  const headers = { authorization: `Bearer ${member.token}` };
  const upload = (size: number): Promise<Answer> =>
    service.call("POST", "/files", { headers, body: form(size) });
  const first = await upload(150_000);
  expect(first.status).toBe(201);
  const full = await upload(150_000);
  expect([full.status, full.body.code]).toEqual([503, "core.unavailable"]);
  expect(full.headers.get("retry-after")).toBe("1");
  expect(readdirSync(join(root, "unfinished"))).toEqual([]);
  expect((await service.call("GET", `/files/${first.body.key}`, { headers })).status).toBe(200);
  expect((await service.call("DELETE", `/files/${first.body.key}`, { headers })).status).toBe(204);
  expect((await upload(150_000)).status).toBe(201);
});
