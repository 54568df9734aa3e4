// Deprecations: what documents, the client and diff say of what goes one day.
import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { cli } from "./cli.js";
import { writeProject } from "./scenario.js";

const past = "{since: 2020-01-01, sunset: 2021-01-01, use: something newer}";
const future = "{since: 2020-01-01, sunset: 2999-01-01}";

/** A registry that deprecates all that can be, or has none of it any more. */
const registry = (days: string | null): string => {
  const field = days === null ? "" : `, estimate: {type: integer, deprecated: ${days}}`;
  const states = days === null ? "" : `\n    deprecated: {raw_list: ${days}}`;
  const mount =
    days === null
      ? "\n    mount: {at: /tasks, include: [get, create, update, list]}"
      : "\n    mount: {at: /tasks, include: [get, create, update, list, raw_list]}";
  const old =
    days === null
      ? ""
      : `\n  jobs.old: {post: /jobs/old, summary: Do it the old way, in: {}, run: registry/run.ts#run, guard: open, deprecated: ${days}}`;
  const signal =
    days === null
      ? ""
      : `\n    task.old: {data: {id: uuid}, audience: [topic], delivery: ephemeral, deprecated: ${days}}`;
  const sent =
    days === null ? "" : `, task.gone: {destination: shop, data: {id: uuid}, deprecated: ${days}}`;
  return `registry: 1
service: {name: demo, title: Demo, version: 1.0.0}
identity: {}
policies: {open: [{rate_limit: 600/1m}]}
documents:
  tasks:
    type: {title: string${field}}
    defaults: {title: Nothing${days === null ? "" : ", estimate: 0"}}
    guard: open${states}${mount}
operations:
  jobs.now: {post: /jobs/now, in: {}, run: registry/run.ts#run, guard: open}${old}
realtime:
  events:
    task.new: {data: {id: uuid}, audience: [topic], delivery: ephemeral}${signal}
outbox:
  events: {task.made: {destination: shop, data: {id: uuid}}${sent}}
`;
};

let root = "";
let remove = (): void => undefined;
beforeEach(() => {
  ({ root, remove } = writeProject({
    "registry/service.yaml": registry(past),
    "registry/run.ts": "export const run = () => undefined;\n",
  }));
});
afterEach(() => remove());

const declare = (text: string): void => writeFileSync(join(root, "registry/service.yaml"), text);
const read = (path: string): string => readFileSync(join(root, "generated", path), "utf8");
const generate = async (): Promise<void> =>
  expect(await cli(root, "generate")).toMatchObject({ code: 0 });
function commit(): void {
  const identity = ["-c", "user.name=t", "-c", "user.email=t@example.test"];
  for (const args of [
    ["init", "-q", "-b", "main"],
    ["add", "-A"],
    ["commit", "-q", "-m", "x"],
  ])
    expect(spawnSync("git", [...identity, ...args], { cwd: root }).status).toBe(0);
}

interface Change {
  readonly text: string;
  readonly level: string;
}
async function diff(): Promise<{
  readonly code: number | null;
  readonly told: Readonly<Record<string, string>>;
}> {
  const { code, stdout } = await cli(root, "diff", "main", "--format", "json");
  const { changes } = JSON.parse(stdout) as { readonly changes: readonly Change[] };
  return { code, told: Object.fromEntries(changes.map(({ text, level }) => [text, level])) };
}

const text = "Deprecated since 2020-01-01, gone from 2021-01-01 on. Use something newer.";
const tag = "@deprecated since 2020-01-01, gone from 2021-01-01 on. Use something newer.";
const facts = { since: "2020-01-01", sunset: "2021-01-01", use: "something newer" };

describe("what is deprecated", () => {
  test("is said in OpenAPI, of operations and of members", async () => {
    await generate();
    const document = JSON.parse(read("openapi.json"));
    for (const operation of [
      document.paths["/jobs/old"].post,
      document.paths["/tasks/raw_list"].post,
    ]) {
      expect(operation).toMatchObject({ deprecated: true, "x-deprecated": facts });
      expect(operation.description).toContain(text);
      const [said] = Object.values<{ headers?: object; $ref?: string }>(operation.responses);
      const shared = document.components.responses[said?.$ref?.split("/").pop() ?? ""];
      const { headers = {} } = shared ?? said ?? {};
      expect(Object.keys(headers)).toEqual(["Deprecation", "Sunset"]);
    }
    expect(document.paths["/jobs/now"].post.deprecated).toBeUndefined();
    const { schemas } = document.components;
    const member = { deprecated: true, "x-deprecated": facts, description: text };
    for (const name of ["TasksCreate", "TasksPatch", "TasksSorts"])
      expect(schemas[name].properties.estimate).toMatchObject(member);
    expect(schemas.TasksField["x-deprecated-values"]).toEqual({ estimate: facts });
  });

  test("is said in AsyncAPI", async () => {
    await generate();
    const document = JSON.parse(read("asyncapi.json"));
    expect(document.channels["task.old"]).toMatchObject({
      description: text,
      "x-deprecated": facts,
    });
    expect(document.components.schemas.TaskOldEvent.deprecated).toBe(true);
    expect(document.components.schemas.TaskNewEvent.deprecated).toBeUndefined();
  });

  test("is struck through in the client", async () => {
    await generate();
    const jobs = read("client/api/jobs.ts");
    expect(jobs.slice(jobs.indexOf("Do it the old way"))).toContain(tag);
    expect(read("client/api/tasks.ts")).toContain(tag);
    expect(read("client/models.ts")).toContain(`/** ${tag} */\n  readonly estimate`);
    expect(read("client/realtime.ts")).toContain(`/** ${tag} */\n  readonly "task.old"`);
  });
});

describe("diff", () => {
  const gone = [
    "jobs.old is gone",
    "tasks.raw_list is gone",
    "event task.old is gone",
    "integration event task.gone is gone",
    "TasksSorts.estimate is gone",
  ];

  test("lets through what goes after its sunset", async () => {
    await generate();
    commit();
    declare(registry(null));
    await generate();
    const { code, told } = await diff();
    expect(Object.entries(told).filter(([, level]) => level === "breaking")).toEqual([]);
    expect(code).toBe(0);
    for (const what of gone)
      expect(Object.keys(told).some((one) => one.startsWith(`${what} since its sunset`))).toBe(
        true,
      );
  });

  test("says that what goes before its sunset goes early", async () => {
    declare(registry(future));
    await generate();
    commit();
    declare(registry(null));
    await generate();
    const { code, told } = await diff();
    expect(code).toBe(1);
    for (const what of gone) {
      const found = Object.entries(told).find(([one]) =>
        one.startsWith(`${what} before its sunset on 2999-01-01`),
      );
      expect([what, found?.[1]]).toEqual([what, "breaking"]);
    }
  });

  test("tells of a deprecation to be read, and of an earlier sunset as breaking", async () => {
    declare(registry(future));
    await generate();
    commit();
    declare(registry("{since: 2020-01-01, sunset: 2998-01-01}"));
    await generate();
    const earlier = "has its sunset on 2998-01-01 instead of 2999-01-01";
    expect((await diff()).told).toMatchObject({
      [`jobs.old ${earlier}`]: "breaking",
      [`event task.old ${earlier}`]: "breaking",
    });
    declare(registry("{since: 2020-01-01}"));
    await generate();
    expect((await diff()).told).toMatchObject({
      "jobs.old has no sunset any more": "documentation",
    });
  });
});

test.each([
  ["{since: 2020-02-31}", "is no day"],
  ["{since: 2020-02-01, sunset: 2020-01-01}", "the sunset is before since"],
  ["{sunset: 2020-02-01}", "since"],
])("a deprecation of %s is a finding", async (days, message) => {
  declare(registry(days));
  const { code, stdout } = await cli(root, "generate");
  expect(code).toBe(1);
  expect(stdout).toContain(message);
});
