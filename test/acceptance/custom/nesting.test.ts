// Nested work: `commit` inside a transaction joins it, on both engines alike (decisions.md §4 "Nested work").
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  createPrincipal,
  defineService,
  fail,
  issueSession,
  json,
  route,
  type ExecutionContext,
  type Validator,
} from "../../../runtime/index.js";
import { identitySpec } from "../../../generated/identity.js";
import { engines } from "../../support/engines.js";
import { startTestService, type TestService } from "../../support/service.js";
import { identityStore } from "../../../runtime/ports/identity.js";

interface SignUp {
  readonly login: string;
  readonly afterwards?: "fail" | "catch";
}

const anything: Validator<SignUp> = Object.assign(() => null, {});

/** Makes a principal in a transaction of its own, wherever that is. */
const signUp = async (
  { login, afterwards }: SignUp,
  context: ExecutionContext,
): Promise<{ readonly principal: string; readonly found: boolean }> => {
  const given = { login, password: "a long password" };
  if (afterwards === "catch") {
    await context
      .commit(async () => {
        await createPrincipal(context, given);
        throw new Error("changed its mind");
      })
      .catch(() => undefined);
    const found = await context.transaction.of(identityStore).findPrincipalByLogin(login);
    return { principal: "", found: found !== null };
  }
  const principal = await createPrincipal(context, given);
  const { access_token: token } = await issueSession(identitySpec, context, {
    principalId: principal,
    tenant: null,
  });
  if (afterwards === "fail") throw fail("core.domain");
  const found = await context.transaction.of(identityStore).findPrincipalByLogin(login);
  return { principal, found: found !== null && token !== "" };
};

const definition = defineService({
  name: "tracker",
  title: "Nested",
  version: "1.0.0",
  identity: identitySpec,
  routes: [
    route({
      operationId: "people.sign_up",
      method: "POST",
      path: "/sign-up",
      status: 201,
      input: json(anything),
      transaction: "write",
      run: signUp,
    }),
  ],
});

describe.each(engines.filter(({ isAvailable }) => isAvailable))("$name", (engine) => {
  let service: TestService;
  beforeAll(async () => {
    service = await startTestService(engine, { definition });
  });
  afterAll(() => service.stop());

  const find = async (login: string): Promise<boolean> =>
    (await service.running.connection.database.reader
      .of(identityStore)
      .findPrincipalByLogin(login)) !== null;

  test("a handler that makes a principal and its session answers, and later writes do too", async () => {
    const first = await service.post("/sign-up", { login: "ann@example.test" });
    const second = await service.post("/sign-up", { login: "bert@example.test" });
    expect([first.status, first.body.found, second.status]).toEqual([201, true, 201]);
    expect(await find("ann@example.test")).toBe(true);
  });

  test("a later failure undoes the nested work", async () => {
    const refused = await service.post("/sign-up", {
      login: "carl@example.test",
      afterwards: "fail",
    });
    expect([refused.status, await find("carl@example.test")]).toEqual([400, false]);
  });

  test("nested work that fails is undone alone, and the rest goes on", async () => {
    const caught = await service.post("/sign-up", {
      login: "dora@example.test",
      afterwards: "catch",
    });
    expect([caught.status, caught.body.found]).toEqual([201, false]);
    expect(await find("dora@example.test")).toBe(false);
    expect((await service.post("/sign-up", { login: "dora@example.test" })).status).toBe(201);
  });
});
