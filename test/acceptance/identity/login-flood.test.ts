// A flood of logins from one address beside files and beside one login from another address (attack 107, noisy neighbours).
import { request } from "node:http";
import { json as readJson } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { service as reference } from "../../../generated/service.js";
import { createPrincipal, defineService, json, route } from "../../../runtime/index.js";
import { engines } from "../../support/engines.js";
import { password, peopleOf, type Member } from "../../support/people.js";
import { startTestService, type TestService } from "../../support/service.js";

const definition = defineService({
  ...reference,
  routes: [
    ...reference.routes,
    route<{ readonly login: string }, { readonly id: string }>({
      operationId: "test.sign_up",
      method: "POST",
      path: "/sign-up",
      status: 200,
      input: json(() => null),
      hooks: [],
      transaction: "read",
      run: async ({ login }, context) => ({
        id: await createPrincipal(context, { login, password }),
      }),
    }),
  ],
});

for (const engine of engines) {
  describe.skipIf(!engine.isAvailable)(engine.name, () => {
    let service: TestService;
    let member: Member;
    /** Somebody else: the flood's logins end the oldest sessions of who signs in so often. */
    let uploader: Member;
    beforeAll(async () => {
      service = await startTestService(engine, {
        definition,
        signsIn: false,
        environment: { LOGIN_ATTEMPTS: "100000", LOGIN_ATTEMPTS_PER_ADDRESS: "1000000" },
      });
      const people = peopleOf(service);
      member = await people.member("");
      uploader = await people.member("", "files.read", "files.write");
    });
    afterAll(() => service.stop());

    /** A request from an address of this machine. */
    const from = (
      localAddress: string,
      path: string,
      body: object,
    ): Promise<{ readonly status: number; readonly body: unknown }> =>
      new Promise((resolve, reject) => {
        const headers = { "content-type": "application/json" };
        const sent = request(
          `${service.url}${path}`,
          { method: "POST", localAddress, headers, agent: false },
          (answer) =>
            void readJson(answer).then(
              (told) => resolve({ status: answer.statusCode ?? 0, body: told }),
              reject,
            ),
        );
        sent.on("error", reject);
        sent.end(JSON.stringify(body));
      });
    const login = (address: string) =>
      from(address, "/auth/login", { login: member.login, password });

    /** Keeps forty logins of one address going while `work` runs; returns how they were answered. */
    const floodBeside = async (work: () => Promise<void>): Promise<ReadonlyMap<number, number>> => {
      const answered = new Map<number, number>();
      const over = new AbortController();
      const senders = Array.from({ length: 40 }, async () => {
        while (!over.signal.aborted) {
          const { status } = await login("127.0.0.1");
          answered.set(status, (answered.get(status) ?? 0) + 1);
        }
      });
      // From here on the line of that address is full.
      await expect.poll(() => answered.get(503) ?? 0).toBeGreaterThan(0);
      try {
        await work();
      } finally {
        over.abort();
        await Promise.all(senders);
      }
      return answered;
    };

    test("another address logs in, and signs up, while the flood goes on", async () => {
      const answered = await floodBeside(async () => {
        for (let count = 0; count < 5; count += 1) {
          expect((await login("127.0.0.2")).status).toBe(200);
          const signedUp = await from("127.0.0.2", "/sign-up", { login: `new${count}` });
          expect(signedUp.status).toBe(200);
        }
      });
      expect(new Set(answered.keys())).toEqual(new Set([200, 503]));
    });

    test("files come and go while the flood goes on", async () => {
      const bytes = Buffer.alloc(1_000_000, "x");
      const headers = { authorization: `Bearer ${uploader.token}` };
      await floodBeside(async () => {
        for (let count = 0; count < 5; count += 1) {
          const form = new FormData();
          form.set("file", new Blob([new Uint8Array(bytes)]), "x.bin");
          const sent = await fetch(`${service.url}/files`, { method: "POST", headers, body: form });
          expect(sent.status).toBe(201);
          const { key } = (await sent.json()) as { readonly key: string };
          const got = await fetch(`${service.url}/files/${key}`, { headers });
          expect((await got.arrayBuffer()).byteLength).toBe(bytes.length);
        }
      });
    });
  });
}
