// SQL of the author's own: it reads, within the tenant and the scope, and values are never text.
import { expect, test } from "vitest";
import { onEachEngine, reference } from "../../support/on-each-engine.js";
import { peopleOf } from "../../support/people.js";
import { column, sql } from "../../../runtime/index.js";
import { tasksSpec } from "../../../generated/documents/tasks.js";
import { projectsSpec } from "../../../generated/documents/projects.js";

onEachEngine(reference, ({ service }) => {
  const furnished = async () => {
    const people = peopleOf(service);
    const member = await people.member(
      "",
      "tasks.read",
      "tasks.write",
      "projects.read",
      "projects.write",
    );
    const project = (
      await people.as(member.token, "POST", "/projects", {
        name: "P",
        key: "PX",
      })
    ).body;
    for (const [title, estimate] of [
      ["a", 1],
      ["b", 2],
      ["it's; --", 4],
    ] as const) {
      const answer = await people.as(member.token, "POST", "/tasks", {
        title,
        project: project.id,
        estimate,
      });
      expect([answer.status, JSON.stringify(answer.body)]).toEqual([201, expect.anything()]);
    }
    return {
      member,
      project,
      context: service.running.connection.context("test.sql", member.tenantId),
    };
  };

  test("joins and groups of one's own see the tenant's live documents alone", async () => {
    const { context, project } = await furnished();
    await furnished();
    const rows = await sql(context, { name: "string", tasks: "integer", points: "number" })`
      SELECT p.name, count(*) AS tasks, sum(t.points) AS points
      FROM (SELECT ${column(tasksSpec, "project")} AS project, ${column(tasksSpec, "estimate")} AS points FROM ${tasksSpec} AS raw) AS t
      JOIN (SELECT ${column(projectsSpec, "id")} AS id, ${column(projectsSpec, "name")} AS name FROM ${projectsSpec} AS raw) AS p ON p.id = t.project
      WHERE t.points >= ${2} GROUP BY p.name`;
    expect(rows).toEqual([{ name: project.name, tasks: 2, points: 6 }]);
  });

  test("a scope holds, and a value is no text", async () => {
    const { context } = await furnished();
    const titles = () =>
      sql(context, {
        title: "string",
      })`SELECT ${column(tasksSpec, "title")} AS title FROM ${tasksSpec} AS t WHERE ${column(tasksSpec, "title")} = ${"it's; --"}`;
    expect(await titles()).toEqual([{ title: "it's; --" }]);
    context.narrow("tasks", { kind: "any", filters: [] });
    expect(await titles()).toEqual([]);
  });

  test("it writes nothing, in no spelling", async () => {
    const { context } = await furnished();
    const count = async () =>
      (await sql(context, { n: "integer" })`SELECT count(*) AS n FROM ${tasksSpec} AS t`)[0]?.n;
    await expect(sql(context, { id: "string" })`DELETE FROM tasks RETURNING id`).rejects.toThrow();
    await expect(
      sql(context, {
        id: "string",
      })`WITH gone AS (DELETE FROM tasks RETURNING id) SELECT id FROM gone`,
    ).rejects.toThrow();
    // What follows a statement is refused, or not looked at.
    const two = sql(context, { id: "string" })`SELECT 1 AS id) AS q; DELETE FROM tasks; --`;
    await two.catch(() => undefined);
    expect(await count()).toBe(3);
    expect(() => column(tasksSpec, "nope")).toThrow("tasks has no field nope");
  });
});
