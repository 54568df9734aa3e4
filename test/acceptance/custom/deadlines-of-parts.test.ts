// A deadline ends what comes behind a commit as well, where that commit is not all that an operation does.
import { expect, test } from "vitest";
import { onEachEngine } from "../../support/on-each-engine.js";

const files = {
  "registry/service.yaml": `registry: 1
service: {name: demo, title: Demo, version: 1.0.0, deadline: 2s}
identity: {methods: [token], erase: {guard: admin, also: registry/code.ts#also}}
tenancy: {}
policies: {admin: [principal, {authorize: platform.erase}], member: [principal, tenant]}
documents:
  rooms: {type: {name: string}, guard: member, unique: [[name]]}
jobs:
  rooms.hold: {run: registry/code.ts#hold, timeout: 2s, retries: 0, as: service}
job_runs: {guard: member}
operations:
  rooms.held: {post: /held, in: {}, transaction: read, run: registry/code.ts#held, guard: member}
  rooms.waiting: {post: /waiting, in: {}, transaction: read, run: registry/code.ts#waiting, guard: member}
  rooms.start: {post: /start, in: {}, run: registry/code.ts#start, guard: member}
`,
  "registry/code.ts": `import { collection } from "opwright/runtime";
import { enqueue } from "../generated/jobs.js";
import { roomsSpec } from "../generated/documents/rooms.js";
const never = () => new Promise(() => undefined);
const first = (context) => context.commit(() => collection(roomsSpec, context).create({ name: "first" }));
export const held = async (_input, context) => {
  await first(context);
  await context.commit(never);
};
export const waiting = async (_input, context) => {
  await first(context);
  await never();
};
export const also = async (_who, context) => {
  await context.commit(never);
};
export const hold = async (_input, context) => {
  await context.commit(async () => undefined);
  await context.commit(never);
};
export const start = async (_input, context) => void (await enqueue(context, "rooms.hold", {}));
`,
};

onEachEngine(files, ({ people }) => {
  const canWrite = async (): Promise<boolean> => {
    const other = await people.member("");
    return (await people.as(other.token, "POST", "/rooms", { name: "x" })).status === 201;
  };

  test.each(["/held", "/waiting"])("of %s, which has committed once", async (path) => {
    const ada = await people.member("");
    const answer = await people.as(ada.token, "POST", path, {});
    expect([answer.status, answer.body.code]).toEqual([504, "deadline_exceeded"]);
    expect(await canWrite()).toBe(true);
    const { hits } = (await people.as(ada.token, "POST", "/rooms/list", {})).body;
    expect(hits).toMatchObject([{ name: "first" }]);
  });

  test("of an erasure, whose first part has committed", async () => {
    const [gone, admin] = [await people.member(""), await people.person("platform.erase")];
    const { access_token: token } = await people.session(admin.id, null);
    const answer = await people.as(token, "POST", "/auth/erase", { principal_id: gone.id });
    expect([answer.status, answer.body.code]).toEqual([504, "deadline_exceeded"]);
    expect(await canWrite()).toBe(true);
  });

  test("of a job", async () => {
    const ada = await people.member("");
    expect((await people.as(ada.token, "POST", "/start", {})).status).toBe(204);
    const failed = async () =>
      (await people.as(ada.token, "GET", "/job_runs?state=failed")).body.runs.length;
    await expect.poll(failed).toBe(1);
    expect(await canWrite()).toBe(true);
  });
});
