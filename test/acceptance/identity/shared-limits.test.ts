// Two processes of one service count attempts at passwords, resets and rates together (decisions.md "Throttle"): ten guesses are ten.
import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { service as reference } from "../../../generated/service.js";
import { createPrincipal } from "../../../runtime/families/identity/provision.js";
import { defineService, nothing, rateLimit, route } from "../../../runtime/index.js";
import { silentLog } from "../../../runtime/ports/log.js";
import { buses } from "../../support/bus-engines.js";
import { engines, type FreshDatabase } from "../../support/engines.js";
import { startTestService, type Answer, type TestService } from "../../support/service.js";
import { outboxStore } from "../../../runtime/ports/outbox.js";

const postgres = engines.find(({ name }) => name === "postgres");
const redis = buses.find(({ name }) => name === "redis");
const password = "correct horse battery staple";

const definition = defineService({
  ...reference,
  // Counts in Redis are the service's, by its name; another run has others.
  name: `limits-${randomBytes(6).toString("hex")}`,
  routes: [
    ...reference.routes,
    route({
      operationId: "limits.open",
      method: "GET",
      path: "/limited",
      status: 200,
      input: nothing,
      hooks: [rateLimit(6, 60)],
      transaction: "read",
      run: async () => ({ ok: true }),
    }),
  ],
});

const countedIn = [
  { name: "PostgreSQL", bus: "none", isAvailable: true },
  {
    name: "Redis",
    bus: process.env["OPWRIGHT_TEST_REDIS"] ?? "",
    isAvailable: redis?.isAvailable === true,
  },
];

describe.each(countedIn.filter(({ isAvailable }) => isAvailable && postgres?.isAvailable === true))(
  "two services that count in $name",
  ({ bus }) => {
    let database: FreshDatabase;
    const services: TestService[] = [];
    const delivered: unknown[] = [];
    const note = (fields: object): void => {
      if ("event" in fields) delivered.push(fields);
    };
    const data = mkdtempSync(join(tmpdir(), "opwright-shared-"));
    beforeAll(async () => {
      if (postgres === undefined) throw new Error("there is no PostgreSQL");
      database = await postgres.create();
      const environment = {
        ...database.environment,
        DATA_DIR: data,
        BUS_URL: bus,
        LOGIN_ATTEMPTS: "10",
        TRUSTED_PROXIES: "1",
      };
      for (let count = 0; count < 2; count += 1)
        services.push(
          await startTestService(postgres, {
            definition,
            signsIn: false,
            environment,
            log: { ...silentLog, info: note },
          }),
        );
      for (const login of ["ann", "ben", "cat"])
        await createPrincipal(at(0).running.connection.context("test.people"), { login, password });
    });
    afterAll(async () => {
      for (const service of services) await service.stop();
      await database.drop();
      rmSync(data, { recursive: true, force: true });
    });

    const at = (index: number): TestService => {
      const service = services[index % 2];
      if (service === undefined) throw new Error("it has not started");
      return service;
    };
    const login = (index: number, from: string, name: string, guess: string): Promise<Answer> =>
      at(index).post("/auth/login", { login: name, password: guess }, { "x-forwarded-for": from });

    test("ten wrong guesses are ten, spread over both and all at once", async () => {
      const guesses = Array.from({ length: 10 }, (_none, index) =>
        login(index, "192.0.2.1", "ann", "a wrong password"),
      );
      expect((await Promise.all(guesses)).map(({ status }) => status)).toEqual(Array(10).fill(401));
      for (const index of [0, 1])
        expect((await login(index, "192.0.2.1", "ann", password)).status).toBe(401);
      expect((await login(0, "192.0.2.2", "ann", password)).status).toBe(200);
    });

    test("nine wrong ones and the right one are a login, after which the count begins anew", async () => {
      for (let round = 0; round < 2; round += 1) {
        for (let index = 0; index < 9; index += 1)
          await login(index, "192.0.2.3", "ben", "a wrong password");
        expect((await login(round, "192.0.2.3", "ben", password)).status).toBe(200);
      }
    });

    test("a rate holds over both, for each address", async () => {
      const get = (index: number, from: string): Promise<Answer> =>
        at(index).call("GET", "/limited", { headers: { "x-forwarded-for": from } });
      const answers = await Promise.all(
        Array.from({ length: 16 }, (_none, index) => get(index, "192.0.2.4")),
      );
      const refused = answers.filter(({ status }) => status === 429);
      expect(answers.filter(({ status }) => status === 200)).toHaveLength(6);
      expect(refused).toHaveLength(10);
      for (const { body, headers } of refused) {
        expect(body.code).toBe("core.throttled");
        expect(Number(headers.get("retry-after"))).toBeGreaterThan(0);
        expect(Number(headers.get("retry-after"))).toBeLessThanOrEqual(60);
      }
      expect((await get(0, "192.0.2.5")).status).toBe(200);
    });

    test("requests of a reset run out over both, and hold no connection while they are counted", async () => {
      const ask = (index: number): Promise<Answer> =>
        at(index).post("/auth/password-reset/request", { login: "cat" });
      const answers = await Promise.all(Array.from({ length: 30 }, (_none, index) => ask(index)));
      expect(answers.map(({ status }) => status)).toEqual(Array(30).fill(202));
      const { reader } = at(0).running.connection.database;
      await expect
        .poll(async () => (await reader.of(outboxStore).state(Date.now())).pending)
        .toBe(0);
      expect(delivered).toHaveLength(5);
    });
  },
);
