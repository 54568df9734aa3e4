// Demo data of the reference service: people who can sign in, two projects, some tasks and notes. `npm start`
// runs it, once a database; never in production.
import {
  collection,
  connect,
  createPrincipal,
  generatedFolder,
  readSettings,
  silentLog,
  tenantStore,
  uuidv7,
  type ServiceConnection,
  type ExecutionContext,
} from "opwright/runtime";
import { notesSpec } from "../../generated/documents/notes.js";
import { projectsSpec } from "../../generated/documents/projects.js";
import { tasksSpec } from "../../generated/documents/tasks.js";
import { service } from "../../generated/service.js";

/** What the roles of the demo may do: a writer is a reader too. */
const roles = {
  "role:reader": [
    "tasks.read",
    "projects.read",
    "notes.read",
    "articles.read",
    "files.read",
    "vault.read",
  ],
  "role:writer": [
    "role:reader",
    "tasks.write",
    "projects.write",
    "articles.write",
    "files.write",
    "vault.write",
  ],
};

const connection = await connect(service, {
  settings: readSettings(service),
  folder: generatedFolder(import.meta.url),
  log: silentLog,
});
try {
  const acme = await loadPeople(connection);
  if (acme !== null) await loadWork(connection, acme);
} finally {
  await connection.close();
}

/** Two tenants and three people who can sign in; they are made once. Returns the id of acme, or null where they are there. */
async function loadPeople({ context, write }: ServiceConnection): Promise<string | null> {
  const password = "correct horse battery staple";
  const people = {
    "ada@example.test": {
      tenants: ["acme", "globex"],
      permissions: ["admin"],
      everywhere: ["platform.admin"],
    },
    "bob@example.test": {
      tenants: ["acme"],
      permissions: ["role:reader", "role:writer"],
      everywhere: [],
    },
    "eve@example.test": {
      tenants: ["globex"],
      permissions: ["role:reader"],
      everywhere: [],
    },
  };
  const tenants = new Map(["acme", "globex"].map((key) => [key, uuidv7()]));
  const isNew = await write("demo.tenants", async ({ transaction }) => {
    const added: boolean[] = [];
    for (const [key, id] of tenants)
      added.push(await transaction.of(tenantStore).addTenant({ id, key, isActive: true }));
    if (!added.every(Boolean)) return false;
    for (const [role, permissions] of Object.entries(roles))
      for (const permission of permissions)
        await transaction.of(tenantStore).grant(null, role, permission);
    return true;
  });
  if (!isNew) return null;
  for (const [login, { tenants: keys, permissions, everywhere }] of Object.entries(people)) {
    const id = await createPrincipal(context("demo.people"), { login, password });
    await write("demo.people", async ({ transaction }) => {
      for (const key of keys) {
        const tenantId = tenants.get(key) ?? "";
        await transaction.of(tenantStore).addMember(tenantId, id);
        for (const permission of permissions)
          await transaction.of(tenantStore).grant(tenantId, id, permission);
      }
      for (const permission of everywhere)
        await transaction.of(tenantStore).grant(null, id, permission);
    });
  }
  process.stderr.write(
    `sign in as ${Object.keys(people).join(", ")} with the password: ${password}\n`,
  );
  return tenants.get("acme") ?? null;
}

async function loadWork({ write }: ServiceConnection, tenant: string): Promise<void> {
  const load = async (context: ExecutionContext): Promise<void> => {
    const projects = collection(projectsSpec, context);
    const apollo = await projects.create({ name: "Apollo", key: "AP" });
    await projects.create({ name: "Mercury", key: "ME", archived: true });
    const tasks = collection(tasksSpec, context);
    for (const title of ["Write the checklist", "Book the range", "Invite the crew"]) {
      await tasks.create({ title, project: apollo.id, labels: ["launch"] });
    }
    await collection(notesSpec, context).create({
      text: "Everything here is demo data.",
      pinned: true,
    });
  };
  await write("demo.work", load, tenant);
}
