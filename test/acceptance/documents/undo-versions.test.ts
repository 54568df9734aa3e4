// A deletion is undone by another version than that which did it: renamed fields, other rules, and versions that note nothing.
import { describe, expect, test } from "vitest";
import { engines, sharedDatabase } from "../../support/engines.js";
import { testProject, type TestProject } from "../../support/project-service.js";
import type { TestService } from "../../support/service.js";

const any = { headers: { "If-Match": "*" } };

/** A version whose documents are these, one a line. */
function versionOf(...documents: readonly string[]): Readonly<Record<string, string>> {
  return {
    "registry/service.yaml": `registry: 1
service: {name: demo, title: Demo, version: 1.0.0}
policies: {open: []}
documents:
${documents.map((line) => `  ${line}\n`).join("")}`,
  };
}

const projects = "projects: {type: {name: string}, guard: open, tenant: false, soft_delete: true}";
const tasks = (how: string, more = ""): string =>
  `tasks: {type: {name: string, project: {ref: projects, on_delete: ${how}}}, guard: open, tenant: false, soft_delete: true${more}}`;
const labels = (fields: string): string =>
  `labels: {type: {name: string, ${fields}}, guard: open, tenant: false}`;
const cleared = "{ref: projects?, on_delete: set_null}";

async function make(service: TestService, kind: string, body: object): Promise<string> {
  return (await service.post(`/${kind}`, body)).body.id;
}

const done = (service: TestService, verb: string, kind: string, id: string) =>
  service.call("POST", `/${kind}/${id}/${verb}`, any);

describe.each(engines)("on $name", (engine) => {
  const between = async (
    projectsInOrder: readonly TestProject[],
    steps: readonly ((service: TestService) => Promise<void>)[],
  ): Promise<void> => {
    const { same, drop } = await sharedDatabase(engine);
    try {
      for (const [at, step] of steps.entries()) {
        const service = await (projectsInOrder[at] ?? projectsInOrder[0])?.start(same);
        if (service === undefined) throw new TypeError("no version");
        await step(service);
        await service.stop();
      }
    } finally {
      await drop();
      for (const one of projectsInOrder) one.remove();
    }
  };

  const tagged = (type: string): Readonly<Record<string, string>> =>
    versionOf(
      "tags: {type: {name: string}, guard: open, tenant: false, soft_delete: true}",
      `posts: {type: {text: string, tags: ${type}}, guard: open, tenant: false}`,
    );

  test.skipIf(!engine.isAvailable)(
    "ids that named nothing before hold back no restore",
    async () => {
      const first = await testProject(tagged('"uuid[]"'));
      const second = await testProject(tagged("[{ref: tags, on_delete: remove}]"), first);
      const lost = "01890000-0000-7000-8000-000000000001";
      let [tag, post] = ["", ""];
      await between(
        [first, second],
        [
          async (service) => {
            tag = await make(service, "tags", { name: "a" });
            post = await make(service, "posts", { text: "a", tags: [tag, lost] });
          },
          async (service) => {
            await done(service, "delete", "tags", tag);
            expect((await done(service, "restore", "tags", tag)).status).toBe(200);
            const { body } = await service.call("GET", `/posts/${post}`);
            expect(body.tags).toEqual([lost, tag]);
          },
        ],
      );
    },
  );

  test.skipIf(!engine.isAvailable)("no list gets longer than it may be by now", async () => {
    const first = await testProject(tagged("[{ref: tags, on_delete: remove}]"));
    const second = await testProject(tagged("[{ref: tags, on_delete: remove, max: 2}]"), first);
    const tags: string[] = [];
    let post = "";
    await between(
      [first, second],
      [
        async (service) => {
          for (const name of ["a", "b", "c"]) tags.push(await make(service, "tags", { name }));
          post = await make(service, "posts", { text: "a", tags });
          await done(service, "delete", "tags", tags[0] ?? "");
        },
        async (service) => {
          const { status, body } = await done(service, "restore", "tags", tags[0] ?? "");
          expect([status, body.code, body.context]).toEqual([
            409,
            "restore_refused",
            expect.objectContaining({ document: "posts", id: post }),
          ]);
          expect((await service.call("GET", `/posts/${post}`)).body.tags).toEqual(tags.slice(1));
        },
      ],
    );
  });

  test.skipIf(!engine.isAvailable)("references are known by their names in rows", async () => {
    const first = await testProject(versionOf(projects, labels(`project: ${cleared}`)));
    const renamed = labels(`origin: {ref: projects?, on_delete: set_null, was: project}`);
    const second = await testProject(versionOf(projects, renamed), first);
    const both = labels(`origin: ${cleared}, project: ${cleared}`);
    const third = await testProject(versionOf(projects, both), second);
    let [one, two, red, blue] = ["", "", "", ""];
    await between(
      [first, second, third],
      [
        async (service) => {
          one = await make(service, "projects", { name: "one" });
          two = await make(service, "projects", { name: "two" });
          red = await make(service, "labels", { name: "red", project: one });
          blue = await make(service, "labels", { name: "blue", project: two });
          await done(service, "delete", "projects", one);
          await done(service, "delete", "projects", two);
        },
        async (service) => {
          expect((await done(service, "restore", "projects", one)).status).toBe(200);
          expect((await service.call("GET", `/labels/${red}`)).body.origin).toBe(one);
        },
        async (service) => {
          expect((await done(service, "restore", "projects", two)).status).toBe(200);
          const { body } = await service.call("GET", `/labels/${blue}`);
          expect([body.origin, body.project]).toEqual([two, null]);
        },
      ],
    );
  });

  test.skipIf(!engine.isAvailable)("what went along comes back under other rules", async () => {
    const first = await testProject(versionOf(projects, tasks("cascade")));
    const second = await testProject(versionOf(projects, tasks("restrict")), first);
    let [project, task] = ["", ""];
    await between(
      [first, second],
      [
        async (service) => {
          project = await make(service, "projects", { name: "p" });
          task = await make(service, "tasks", { name: "t", project });
          await done(service, "delete", "projects", project);
        },
        async (service) => {
          expect((await done(service, "restore", "projects", project)).status).toBe(200);
          expect((await service.call("GET", `/tasks/${task}`)).status).toBe(200);
        },
      ],
    );
  });

  test.skipIf(!engine.isAvailable)("nothing is undone of a deletion that is over", async () => {
    // A version that knows of no reference notes nothing, and forgets nothing.
    const loose =
      "tasks: {type: {name: string, project: uuid}, guard: open, tenant: false, soft_delete: true}";
    const first = await testProject(versionOf(projects, tasks("cascade")));
    const second = await testProject(versionOf(projects, loose), first);
    const third = await testProject(versionOf(projects, tasks("cascade")), second);
    let [project, task] = ["", ""];
    await between(
      [first, second, third],
      [
        async (service) => {
          project = await make(service, "projects", { name: "p" });
          task = await make(service, "tasks", { name: "t", project });
          await done(service, "delete", "projects", project);
        },
        async (service) => {
          await done(service, "restore", "projects", project);
          await done(service, "restore", "tasks", task);
          await done(service, "delete", "tasks", task);
          await done(service, "delete", "projects", project);
        },
        async (service) => {
          expect((await done(service, "restore", "projects", project)).status).toBe(200);
          expect((await service.call("GET", `/tasks/${task}`)).status).toBe(404);
        },
      ],
    );
  });
});
