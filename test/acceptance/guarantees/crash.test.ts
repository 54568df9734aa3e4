// A process that is killed under write load: every acknowledged write is there afterwards, on both engines.
import { randomBytes } from "node:crypto";
import { describe, expect, test } from "vitest";
import { engines } from "../../support/engines.js";
import { firstToken, startProcess } from "../../support/process.js";

const project = "01890000-0000-7000-8000-000000000005";

for (const engine of engines) {
  describe.skipIf(!engine.isAvailable)(engine.name, () => {
    test("SIGKILL loses no acknowledged write, and a repeated key runs nothing twice", async () => {
      const database = await engine.create();
      const environment = {
        ...database.environment,
        SECRETS_ACCESS_TOKEN: randomBytes(32).toString("base64url"),
      };
      const first = await startProcess(environment);
      const token = await firstToken(first.url, environment);
      const post = (url: string, path: string, body: unknown, key?: string) =>
        send(url, path, { body, token, key });
      const acknowledged = new Map<string, string>();
      let sent = 0;
      const write = async (): Promise<void> => {
        for (;;) {
          const title = `w${(sent += 1)}`;
          const answer = await post(first.url, "/tasks", { title, project }, title);
          acknowledged.set(title, answer.id);
        }
      };
      const failures: unknown[] = [];
      const writers = Array.from({ length: 16 }, () =>
        write().catch((error: unknown) => void failures.push(error)),
      );
      while (acknowledged.size < 300 && failures.length === 0)
        await new Promise((resolve) => setImmediate(resolve));
      expect(failures).toEqual([]);
      first.child.kill("SIGKILL");
      await Promise.all(writers);
      expect(await first.exited).toBe("SIGKILL");

      const second = await startProcess(environment);
      const { hits, count } = await post(second.url, "/tasks/query", { size: 10_000 });
      const stored = new Map(
        hits.map(({ title, id }: { title: string; id: string }) => [title, id]),
      );
      expect([...acknowledged].filter(([title, id]) => stored.get(title) !== id)).toEqual([]);
      for (let index = 1; index <= sent; index += 1)
        await post(second.url, "/tasks", { title: `w${index}`, project }, `w${index}`);
      const after = await post(second.url, "/tasks/query", { size: 10_000 });
      expect([
        after.count,
        new Set(after.hits.map(({ title }: { title: string }) => title)).size,
      ]).toEqual([sent, sent]);
      expect(count).toBeGreaterThanOrEqual(acknowledged.size);
      second.child.kill("SIGTERM");
      expect(await second.exited).toBe(0);
      await database.drop();
    });
  });
}

async function send(
  url: string,
  path: string,
  given: { readonly body: unknown; readonly token: string; readonly key: string | undefined },
  // oxlint-disable-next-line typescript/no-explicit-any -- a black-box test looks at whatever comes back
): Promise<any> {
  const response = await fetch(`${url}${path}`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${given.token}`,
      "content-type": "application/json",
      ...(given.key === undefined ? {} : { "idempotency-key": given.key }),
    },
    body: JSON.stringify(given.body),
  });
  if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);
  return response.json();
}
