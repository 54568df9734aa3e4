// What authors forget behind a commit changes nothing of what is decided, and the log blames whoever forgot it (attack 125).
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { engines } from "../../support/engines.js";
import { testProject, type TestProject } from "../../support/project-service.js";
import { recordingLog } from "../../support/recording-log.js";
import type { TestService } from "../../support/service.js";

const phases = ["after_commit", "on_success", "finally"] as const;
const slips = {
  commit: "void context.commit(() => logs.create({ a: 'slip' }));",
  create: "void logs.create({ a: 'slip' });",
};
const documents = phases.flatMap((phase) =>
  Object.keys(slips).map((slip) => ({ phase, slip, name: `things_${phase}_${slip}` })),
);

const files = {
  "registry/service.yaml": `registry: 1
service: {name: demo, title: Demo, version: 1.0.0}
policies: {open: []}
documents:
  logs: {type: {a: string}, guard: open}
${documents
  .map(
    ({ name, phase, slip }) =>
      `  ${name}: {type: {a: string}, guard: open, hooks: {create: {wrap: [registry/hooks.ts#around], ${phase}: [registry/hooks.ts#${slip}]}}}`,
  )
  .join("\n")}
  wrapped: {type: {a: string}, guard: open, hooks: {create: {wrap: [registry/hooks.ts#forgetfulAround], tx_before: [registry/hooks.ts#innocent]}}}
  waiting: {type: {a: string}, guard: open, hooks: {create: {wrap: [registry/hooks.ts#waitingAround], tx_before: [registry/hooks.ts#innocent]}}}
operations:
  play.late: {post: /late, run: registry/hooks.ts#late, guard: open}
`,
  "registry/hooks.ts": `import { collection } from "opwright/runtime";
import { logsSpec } from "../generated/documents/logs.js";
export const around = (input, _context, next) => next(input);
export const innocent = async () => {};
${Object.entries(slips)
  .map(
    ([name, body]) => `export const ${name} = (_input, context) => {
  const logs = collection(logsSpec, context);
  ${body}
};`,
  )
  .join("\n")}
export const forgetfulAround = (input, context, next) => {
  void context.commit(() => collection(logsSpec, context).create({ a: "slip" }));
  return next(input);
};
export const waitingAround = async (input, context, next) => {
  const made = collection(logsSpec, context).find();
  const output = await next(input);
  await made;
  return output;
};
export const late = async (_input, context) => {
  setTimeout(() => collection(logsSpec, context).find().catch(() => undefined).then(() => globalThis.lateUnderTest?.()), 20);
};
`,
};

let project: TestProject;
beforeAll(async () => {
  project = await testProject(files);
});
afterAll(() => project.remove());

describe.each(engines.filter(({ isAvailable }) => isAvailable))("on $name", (engine) => {
  const log = recordingLog();
  let service: TestService;
  beforeAll(async () => {
    service = await project.start(engine, { log });
  });
  afterAll(() => service.stop());

  test.each(documents)("$phase that forgets a $slip changes no answer", async (one) => {
    log.lines.length = 0;
    const made = await service.post(`/${one.name}`, { a: "x" });
    expect(made.status).toBe(201);
    const told = log.lines.map(({ message, error }) => `${message} ${error}`).join("\n");
    expect(told).toContain(`${one.slip} of ${one.name}.create returned without waiting`);
    expect(told).not.toContain("around of");
    expect((await service.post("/logs/list", {})).body.count).toBe(0);
  });

  test("the log blames the wrap hook that forgot, not the hooks within it", async () => {
    log.lines.length = 0;
    await service.post("/wrapped", { a: "x" });
    const told = log.lines.map(({ message, error }) => `${message} ${error}`).join("\n");
    expect(told).toContain("forgetfulAround of wrapped.create");
    expect(told).not.toContain("innocent of");
  });

  test("a wrap hook may await later what it has begun before", async () => {
    expect((await service.post("/waiting", { a: "x" })).status).toBe(201);
  });

  test("a call that begins too late is told, even if its failure is caught", async () => {
    log.lines.length = 0;
    const called = new Promise<void>((resolve) => {
      (globalThis as { lateUnderTest?: () => void }).lateUnderTest = resolve;
    });
    expect((await service.post("/late", {})).status).toBe(204);
    await called;
    expect(log.lines.map(({ message, error }) => `${message} ${error}`).join("\n")).toContain(
      "after its operation had ended",
    );
  });
});
