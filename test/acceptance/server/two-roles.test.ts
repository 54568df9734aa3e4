// A role that owns the tables migrates, a role that only reads and fills them serves.
import { randomBytes } from "node:crypto";
import { Client } from "pg";
import { describe, expect, onTestFinished, test } from "vitest";
import { databaseAt, engines } from "../../support/engines.js";
import { startTestService } from "../../support/service.js";

const postgres = engines.find(({ name }) => name === "postgres");
const server = process.env["OPWRIGHT_TEST_POSTGRES"] ?? "";

async function onUrl(connectionString: string, statement: string): Promise<void> {
  const client = new Client({ connectionString });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}

describe.skipIf(postgres?.isAvailable !== true)("two roles on PostgreSQL", () => {
  test("the one that serves owns nothing, and the service does all of its work", async () => {
    if (postgres === undefined) return;
    const database = await postgres.create();
    const name = new URL(database.url).pathname.slice(1);
    const suffix = randomBytes(4).toString("hex");
    const [owner, app] = [`opwright_owner_${suffix}`, `opwright_app_${suffix}`];
    const as = (role: string): string => {
      const url = new URL(database.url);
      url.username = role;
      return url.href;
    };
    onTestFinished(async () => {
      await database.drop();
      await onUrl(server, `DROP ROLE ${owner}; DROP ROLE ${app}`);
    });
    // As docs/running.md says.
    await onUrl(server, `CREATE ROLE ${owner} LOGIN; CREATE ROLE ${app} LOGIN`);
    await onUrl(
      database.url,
      `ALTER DATABASE ${name} OWNER TO ${owner};
       ALTER SCHEMA public OWNER TO ${owner};
       GRANT USAGE ON SCHEMA public TO ${app};
       ALTER DEFAULT PRIVILEGES FOR ROLE ${owner} IN SCHEMA public
         GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO ${app}`,
    );
    const service = await startTestService(
      { ...postgres, create: async () => databaseAt(as(app)) },
      { environment: { DATABASE_URL: as(app), DATABASE_DIRECT_URL: as(owner) } },
    );
    onTestFinished(() => service.stop());
    const project = await service.post("/projects", { name: "P", key: "ROLES" });
    expect(project.status).toBe(201);
    const task = await service.post("/tasks", { title: "rocket", project: project.body.id });
    expect(task.status).toBe(201);
    const path = `/tasks/${task.body.id}?rev=1`;
    expect((await service.call("PATCH", path, { body: { title: "rockets" } })).status).toBe(200);
    expect((await service.post("/articles", { title: "Rockets", body: "fly" })).status).toBe(201);
    const found = await service.post("/articles/typed", { query: "rockets" });
    expect(found.body.hits).toHaveLength(1);
    expect((await service.call("GET", "/readyz")).status).toBe(200);
    await expect(onUrl(as(app), "DROP TABLE notes")).rejects.toThrow("must be owner");
    await expect(onUrl(as(app), "CREATE TABLE more (n int)")).rejects.toThrow("permission denied");
  });
});
