// The demo data of `npm start`: people who can sign in to their tenants, and what they may do there.
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { password } from "../../support/people.js";
import { startProcess, type ServiceProcess } from "../../support/process.js";

const loader = new URL("../../../dist/service/registry/demo/load.js", import.meta.url).pathname;
const data = mkdtempSync(join(tmpdir(), "opwright-demo-"));
let service: ServiceProcess;

const load = () => {
  const env = { PATH: process.env["PATH"], DATA_DIR: data };
  return spawnSync(process.execPath, [loader], { env, encoding: "utf8" });
};

beforeAll(async () => {
  const { status, stderr } = load();
  expect([status, stderr.includes(password)]).toEqual([0, true]);
  service = await startProcess({ DATA_DIR: data });
}, 120_000);
afterAll(async () => {
  service.child.kill("SIGTERM");
  await service.exited;
  rmSync(data, { recursive: true, force: true });
});

// oxlint-disable-next-line typescript/no-explicit-any -- a black-box test looks at whatever comes back
async function send(method: string, path: string, token = "", body?: unknown): Promise<any> {
  const response = await fetch(`${service.url}${path}`, {
    method,
    headers: {
      ...(token === "" ? {} : { authorization: `Bearer ${token}` }),
      ...(body === undefined ? {} : { "content-type": "application/json" }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: response.status, ...((await response.json().catch(() => ({}))) as object) };
}

/** Signs in, to the first of the tenants. */
async function signIn(login: string) {
  const { access_token: first } = await send("POST", "/auth/login", "", { login, password });
  const { tenants } = await send("GET", "/tenants", first);
  const path = `/tenants/${tenants[0].tenant_id}/activate`;
  const { access_token: token } = await send("POST", path, first);
  return { token, tenants };
}

test.each([
  ["ada@example.test", ["acme", "globex"], 3, 201, 201],
  ["bob@example.test", ["acme"], 3, 201, 403],
  ["eve@example.test", ["globex"], 0, 403, 403],
])("%s", async (login, keys, tasks, creating, administering) => {
  const { token, tenants } = await signIn(login);
  expect(tenants.map(({ tenant_key: key }: { readonly tenant_key: string }) => key)).toEqual(keys);
  expect((await send("POST", "/tasks/query", token, {})).count).toBe(tasks);
  const project = "01890000-0000-7000-8000-000000000001";
  const created = await send("POST", "/projects", token, { name: "P", key: "PP" });
  expect(created.status).toBe(creating);
  expect((await send("POST", "/notes/list", token, {})).status).toBe(200);
  const tenant = { tenant_key: `of-${login.slice(0, 3)}` };
  expect((await send("POST", "/admin/tenants", token, tenant)).status).toBe(administering);
  expect((await send("GET", `/tasks/${project}`, token)).status).toBe(404);
});

test("loading again changes nothing and says nothing", async () => {
  const { status, stderr } = load();
  expect([status, stderr]).toEqual([0, ""]);
  const { token } = await signIn("bob@example.test");
  expect((await send("POST", "/tasks/query", token, {})).count).toBe(3);
});
