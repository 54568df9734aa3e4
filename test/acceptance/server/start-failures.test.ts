// A start that fails leaves nothing open: no connection of the database, no file, no port, and the next start works.
import { once } from "node:events";
import { mkdtempSync, readdirSync, readlinkSync, rmSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { Client } from "pg";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { service } from "../../../generated/service.js";
import { silentLog } from "../../../runtime/ports/log.js";
import { readSettings } from "../../../runtime/server/settings.js";
import { start, type RunningService } from "../../../runtime/server/start.js";
import { engines, type FreshDatabase } from "../../support/engines.js";
import { freePort } from "../../support/free-port.js";
import { generated } from "../../support/service.js";

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;

for (const engine of engines) {
  describe.skipIf(!engine.isAvailable)(engine.name, () => {
    let data: string;
    let database: FreshDatabase;
    beforeEach(async () => {
      data = mkdtempSync(join(tmpdir(), "opwright-start-"));
      database = await engine.create();
    });
    afterEach(async () => {
      await database.drop();
      rmSync(data, { recursive: true, force: true });
    });

    const begin = (
      environment: Readonly<Record<string, string>>,
      folder = generated,
    ): Promise<RunningService> =>
      start(service, {
        settings: readSettings(service, {
          PORT: "0",
          DATA_DIR: data,
          // Directly: a pooler keeps connections that are not the service's.
          DATABASE_URL: database.url,
          ...environment,
        }),
        folder,
        log: silentLog,
      });

    const expectNothingOpen = async (): Promise<void> => {
      await expect.poll(() => connectionsOf(database.url), { timeout: 5_000 }).toBe(0);
      const running = await begin({});
      expect((await fetch(`${running.url}/livez`)).status).toBe(200);
      await running.stop();
    };

    test("where its port is taken", async () => {
      const { port, release } = await takePort(0);
      await expect(begin({ HOST: "127.0.0.1", PORT: String(port) })).rejects.toThrow("EADDRINUSE");
      release();
      await expectNothingOpen();
    });

    test("where the port of probes is taken, and its own is free again", async () => {
      const { port, release } = await takePort(0);
      const own = await freePort();
      const ports = { HOST: "127.0.0.1", PORT: String(own), ADMIN_PORT: String(port) };
      await expect(begin(ports)).rejects.toThrow("EADDRINUSE");
      const again = await takePort(own);
      again.release();
      release();
      await expectNothingOpen();
    });

    test("where its migrations are missing", async () => {
      await expect(begin({}, "/nowhere")).rejects.toThrow("/nowhere");
      await expectNothingOpen();
    });
  });
}

/** Listens on a port, any if it is 0; rejects if another does. */
async function takePort(wanted: number) {
  const server = createServer().listen(wanted, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return { port, release: () => server.close() };
}

/** How many connections or files of a database are open: of PostgreSQL on the server, of SQLite in this process. */
async function connectionsOf(url: string): Promise<number> {
  if (url.startsWith("sqlite:")) {
    // Elsewhere nobody says what a process has open.
    if (process.platform !== "linux") return 0;
    const path = url.slice("sqlite:".length);
    // A closed connection keeps its file until its statements have been collected.
    collectGarbage();
    return readdirSync("/proc/self/fd").filter((name) => targetOf(name).startsWith(path)).length;
  }
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    const { rows } = await client.query<{ readonly n: number }>(
      "SELECT count(*)::int AS n FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()",
    );
    return rows[0]?.n ?? 0;
  } finally {
    await client.end();
  }
}

function targetOf(descriptor: string): string {
  try {
    return readlinkSync(`/proc/self/fd/${descriptor}`);
  } catch {
    return "";
  }
}
