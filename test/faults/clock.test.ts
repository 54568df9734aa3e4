// The fault matrix, clocks: set back an hour, forward a day, and two processes two minutes apart (attack 106).
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { firstToken } from "../support/process.js";
import { engines, type FreshDatabase } from "../support/engines.js";
import { faultsOf } from "./answers.js";
import { newClient } from "./client.js";
import { hasClock, newClock, type Clock } from "./clock.js";
import { startSubject, type Subject } from "./subject.js";
import { survive } from "./survive.js";
import { startTaskLoad, type TaskLoad } from "./task-load.js";

const hour = 3_600;

for (const engine of engines) {
  describe.skipIf(!engine.isAvailable || !hasClock)(`clocks on ${engine.name}`, () => {
    let database: FreshDatabase;
    let clock: Clock;
    let subject: Subject;
    let load: TaskLoad;
    beforeAll(async () => {
      clock = newClock(0);
      database = await engine.create();
      subject = await startSubject({ DATABASE_URL: database.url, ...clock.environment });
      load = startTaskLoad(subject.client);
    });
    afterAll(async () => {
      await load.stop();
      await subject.dispose();
      await database.drop();
      clock.remove();
    });

    test("a clock that is set back an hour", () =>
      survive(subject, load, {
        missing: [],
        begin: () => clock.set(-hour),
        end: () => clock.set(0),
      }));

    test("a clock that is set a few minutes forward", () =>
      survive(subject, load, {
        missing: [],
        begin: () => clock.set(180),
        end: () => clock.set(0),
      }));

    test("a clock that is set a day forward: who signs in again is served, deadlines hold", async () => {
      await load.successes(10);
      await load.stop();
      await load.expectAllWrites(subject.client);
      clock.set(24 * hour);
      // What has expired is refused by name, at once.
      const old = await subject.client.call("POST", "/tasks/query", { body: {} });
      expect([old.status, old.body.code]).toEqual([401, "core.authentication"]);
      const login = { login: "root@example.test", password: "correct horse battery staple" };
      const signedIn = await subject.stranger.call("POST", "/auth/login", { body: login });
      expect(signedIn.status).toBe(200);
      const root = newClient(subject.url, { token: signedIn.body.access_token });
      const { body } = await root.call("GET", "/tenants");
      const scoped = await root.call("POST", `/tenants/${body.tenants[0].tenant_id}/activate`);
      const client = newClient(subject.url, { token: scoped.body.access_token });
      const later = startTaskLoad(client);
      await later.successes(40);
      await later.stop();
      expect(faultsOf(later.outcomes)).toEqual([]);
      await later.expectAllWrites(client);
      client.close();
      root.close();
      clock.set(0);
      await subject.expectMissing();
    });
  });
}

const postgres = engines.find(({ name }) => name === "postgres");

describe.skipIf(postgres?.isAvailable !== true || !hasClock)(
  "two processes whose clocks differ",
  () => {
    let database: FreshDatabase;
    const clocks: Clock[] = [];
    const subjects: Subject[] = [];
    beforeAll(async () => {
      if (postgres === undefined) throw new Error("there is no PostgreSQL");
      database = await postgres.create();
      for (const seconds of [0, 120]) {
        const clock = newClock(seconds);
        clocks.push(clock);
        subjects.push(
          await startSubject({ DATABASE_URL: database.url, ...clock.environment }, null),
        );
      }
    });
    afterAll(async () => {
      for (const subject of subjects) await subject.dispose();
      for (const clock of clocks) clock.remove();
      await database.drop();
    });

    test("a token of the slower serves at both, one of the faster not before its time; all writes of both are there", async () => {
      const [here, there] = subjects;
      if (here === undefined || there === undefined) throw new Error("two processes");
      const environments = [here, there].map(({ environment }) => ({
        ...environment,
        LD_PRELOAD: "",
      }));
      const token = await firstToken(here.url, environments[0] ?? {});
      // One that the faster finds two minutes old.
      for (const { url } of subjects) {
        const { status, body } = await newClient(url, { token }).call("GET", "/tenants");
        expect([url, status, body.code]).toEqual([url, 200, undefined]);
      }
      // What is issued in the future by more than ten seconds is refused by name (decisions.md: clock skew 10 s).
      const login = { login: "root@example.test", password: "correct horse battery staple" };
      const early = await newClient(there.url, {}).call("POST", "/auth/login", { body: login });
      const atHome = newClient(there.url, { token: early.body.access_token });
      expect((await atHome.call("GET", "/tenants")).status).toBe(200);
      const abroad = newClient(here.url, { token: early.body.access_token });
      const refused = await abroad.call("GET", "/tenants");
      expect([refused.status, refused.body.code]).toEqual([401, "core.authentication"]);
      const loads = [here, there].map(({ url }) => startTaskLoad(newClient(url, { token })));
      for (const load of loads) await load.successes(60);
      for (const load of loads) await load.stop();
      expect(loads.flatMap(({ outcomes }) => faultsOf(outcomes))).toEqual([]);
      for (const load of loads) await load.expectAllWrites(newClient(here.url, { token }));
      // The same keys at the other process, whose clock says that they are two minutes old, or not made yet.
      for (const load of loads) await load.expectAllWrites(newClient(there.url, { token }));
      for (const subject of subjects) await subject.expectMissing();
    });
  },
);
