// Jobs, from the operation that enqueues them to what they have done: over HTTP alone, on each engine.
import { describe, expect, test, vi } from "vitest";
import { onEachEngine } from "../../support/on-each-engine.js";

const files = {
  "registry/service.yaml": `registry: 1
service: {name: demo, title: Demo, version: 1.0.0}
identity: {methods: [token]}
tenancy: {}
policies:
  member: [principal, tenant]
documents:
  notes: {type: {text: string}, guard: member}
jobs:
  notes.write:
    summary: Write a note.
    in: {text: string, times: {type: integer, minimum: 1}, size: {type: integer, default: 3}}
    run: registry/jobs.ts#write
    unique: [text]
    keep: 1d
  notes.fail:
    in: {text: string}
    run: registry/jobs.ts#fail
    retries: 0
  notes.steps:
    in: {text: string}
    run: registry/jobs.ts#steps
    keep: 1d
  notes.anew:
    in: {text: string}
    run: registry/jobs.ts#anew
    as: service
job_runs: {guard: member}
operations:
  notes.enqueue:
    post: /enqueue
    in: {job: string, text: string, fail: boolean?, delay: string?, key: string?}
    out: {id: uuid}
    run: registry/handlers.ts#start
    guard: member
  notes.cancel:
    post: /cancel
    in: {key: string}
    out: {cancelled: boolean}
    run: registry/handlers.ts#stop
    guard: member
`,
  "registry/handlers.ts": `import { fail } from "opwright/runtime";
import { cancelJob, enqueue } from "../generated/jobs.js";
export const start = async ({ job, text, fail: fails, delay, key }, context) => {
  const input = job === "notes.write" ? { text, times: 1 } : { text };
  const id = await enqueue(context, job, input, {
    ...(delay === undefined ? {} : { delay }),
    ...(key === undefined ? {} : { key }),
  });
  if (fails === true) throw fail("core.not_found");
  return { id };
};
export const stop = async ({ key }, context) => ({ cancelled: await cancelJob(context, "notes.write", key) });
`,
  "registry/jobs.ts": `import { collection } from "opwright/runtime";
import { notesSpec } from "../generated/documents/notes.js";
import { enqueue } from "../generated/jobs.js";
export const state = { steps: [], failures: 1 };
export const write = async ({ text }, _context, { commit }) => {
  await commit("note", (context) => collection(notesSpec, context).create({ text }).then(({ id }) => id));
};
export const fail = async ({ text }) => {
  throw new Error("cannot " + text);
};
export const steps = async ({ text }, context, { step, commit, sleep, progress, attempt }) => {
  const first = await step("first", async () => {
    state.steps.push("first " + attempt);
    return { at: new Date(0) };
  });
  await progress(0.5, "half");
  if (state.failures > 0) {
    state.failures -= 1;
    throw new Error("once");
  }
  await sleep("wait", "1s");
  await commit("second", async (own) => {
    await collection(notesSpec, own).create({ text: text + " " + first.at });
    await enqueue(own, "notes.anew", { text: "after " + text });
  });
};
export const anew = async ({ text }, _context, { commit }) => {
  await commit("note", async (context) => void (await collection(notesSpec, context).create({ text })));
};
`,
};

describe("jobs", () => {
  onEachEngine(
    files,
    ({ people, project }) => {
      const member = async () => {
        const { token } = await people.member("");
        return {
          get: (path: string) => people.as(token, "GET", path),
          post: (path: string, body?: object) => people.as(token, "POST", path, body),
        };
      };
      type Member = Awaited<ReturnType<typeof member>>;
      const texts = async (who: Member): Promise<readonly string[]> => {
        const { body } = await who.post("/notes/list", { size: 100, page: 1 });
        expect(body).toHaveProperty("hits");
        return (body as { hits: { text: string }[] }).hits.map(({ text }) => text);
      };
      const enqueue = async (who: Member, input: object): Promise<string> => {
        const { status, body } = await who.post("/enqueue", input);
        expect({ status, body }).toMatchObject({ status: 200 });
        return (body as { id: string }).id;
      };
      const runOf = async (who: Member, id: string) => (await who.get(`/job_runs/${id}`)).body;

      test("begin once what enqueues them has committed, and never if it fails", async () => {
        const who = await member();
        const refused = await who.post("/enqueue", { job: "notes.write", text: "no", fail: true });
        expect(refused.status).toBe(404);
        const id = await enqueue(who, { job: "notes.write", text: "yes" });
        await vi.waitFor(async () => expect(await texts(who)).toEqual(["yes"]), 5_000);
        await vi.waitFor(async () =>
          expect(await runOf(who, id)).toMatchObject({
            job: "notes.write",
            state: "done",
            attempts: 1,
            input: { text: "yes", times: 1, size: 3 },
            error: null,
          }),
        );
        const { body } = await who.get("/job_runs?job=notes.write");
        expect(body).toMatchObject({ runs: [{ id, state: "done" }], has_more: false });
      });

      test("are told apart by tenant", async () => {
        const [who, other] = [await member(), await member()];
        const id = await enqueue(who, { job: "notes.write", text: "mine" });
        await vi.waitFor(async () => expect(await texts(who)).toEqual(["mine"]), 5_000);
        expect(await texts(other)).toEqual([]);
        expect((await other.get(`/job_runs/${id}`)).status).toBe(404);
        expect((await other.post(`/job_runs/${id}/cancel`)).status).toBe(404);
        expect((await other.get("/job_runs")).body).toMatchObject({ runs: [] });
      });

      test("that fail for good say why, and begin anew when asked", async () => {
        const who = await member();
        const id = await enqueue(who, { job: "notes.fail", text: "fly" });
        await vi.waitFor(async () =>
          expect(await runOf(who, id)).toMatchObject({ state: "failed", error: "cannot fly" }),
        );
        expect((await who.post(`/job_runs/${id}/retry`)).status).toBe(204);
        await vi.waitFor(async () =>
          expect(await runOf(who, id)).toMatchObject({ state: "failed", attempts: 1 }),
        );
      });

      test("wait, are found by their key, take its place, and can be cancelled", async () => {
        const who = await member();
        const first = await enqueue(who, { job: "notes.write", text: "a", delay: "1h", key: "k" });
        const second = await enqueue(who, { job: "notes.write", text: "b", delay: "2h", key: "k" });
        expect(second).toBe(first);
        expect(await runOf(who, first)).toMatchObject({ state: "scheduled", input: { text: "b" } });
        expect((await who.post("/cancel", { key: "k" })).body).toEqual({ cancelled: true });
        expect(await runOf(who, first)).toMatchObject({ state: "cancelled" });
        expect((await who.post("/cancel", { key: "k" })).body).toEqual({ cancelled: false });
      });

      test("keep the results of their steps over failures and sleep", async () => {
        const { state } = await project.load("registry/jobs.ts");
        state.steps.length = 0;
        state.failures = 1;
        const who = await member();
        const id = await enqueue(who, { job: "notes.steps", text: "s" });
        await vi.waitFor(
          async () =>
            expect(await texts(who)).toEqual(
              expect.arrayContaining(["s 1970-01-01T00:00:00.000Z", "after s"]),
            ),
          10_000,
        );
        expect(state.steps).toEqual(["first 1"]);
        await vi.waitFor(async () =>
          expect(await runOf(who, id)).toMatchObject({
            state: "done",
            attempts: 2,
            progress: { share: 0.5, text: "half" },
          }),
        );
      });
    },
    { environment: { JOBS_BACKOFF_SECONDS: "0.05" } },
  );
});
