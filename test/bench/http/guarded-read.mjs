// A service of one read, in the open and behind a token, and people who may ask for it.
import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import * as runtime from "../../../dist/runtime/index.js";
import { identityStore } from "../../../dist/runtime/ports/identity.js";

const folder = fileURLToPath(new URL(".", import.meta.url));

/** Files by path. */
export const guardedRead = {
  "registry/service.yaml": `registry: 1
service: {name: bench, title: Bench, version: 1.0.0}
policies: {open: [], member: [principal]}
identity: {access_ttl: 1h}
types:
  Task: {id: uuid, rev: integer, title: string, project: uuid, assignee: uuid?, due: date-time?, estimate: number, labels: "string[]"}
operations:
  tasks.open: {get: "/open/{id}", in: {id: uuid}, out: Task, run: registry/handlers.ts#get, guard: open}
  tasks.guarded: {get: "/guarded/{id}", in: {id: uuid}, out: Task, run: registry/handlers.ts#get, guard: member}
`,
  "registry/handlers.ts": `import { fail } from "opwright/runtime";
import type { Task } from "../generated/types/models.js";
const at: string = ${JSON.stringify(join(folder, "work.mjs"))};
const work: { findTask(id: string): Task | undefined } = await import(at);
export const get = ({ id }: { readonly id: string }) => {
  const task = work.findTask(id);
  if (task === undefined) throw fail("core.not_found");
  return task;
};
`,
};

/** Access tokens of so many people, in a session of each. */
export async function issueTokens(root, env, people) {
  const { service } = await import(`${root}/dist/generated/service.js`);
  const { identitySpec } = await import(`${root}/dist/generated/identity.js`);
  const settings = runtime.readSettings(service, { ...env, DATA_DIR: root });
  const options = { settings, folder: join(root, "generated"), log: runtime.silentLog };
  const connection = await runtime.connect(service, options);
  const issued = await connection.write("bench.people", async (context) => {
    const some = [];
    for (let index = 0; index < people; index += 1) {
      const principal = { id: randomUUID(), login: `p${index}@example.test` };
      await context.transaction
        .of(identityStore)
        .addPrincipal({ ...principal, passwordHash: "", isActive: true });
      const session = { principalId: principal.id, tenant: null };
      some.push((await runtime.issueSession(identitySpec, context, session)).access_token);
    }
    return some;
  });
  await connection.close();
  return issued;
}
