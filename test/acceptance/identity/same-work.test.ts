// Whether a login has an account, or waits for one, can't be told by the time that an answer takes: the same statements run
// in the same order (attack 165).
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { SqlTransaction } from "../../../runtime/engines/sql/stores.js";
import { engines } from "../../support/engines.js";
import { testProject, type TestProject } from "../../support/project-service.js";
import type { Answer, TestService } from "../../support/service.js";

const password = "correct horse battery staple";

/** Every call of a store, by the transaction that it is made in. */
function watchStores(): { calls(): readonly string[] } {
  const calls: { readonly transaction: SqlTransaction; readonly what: string }[] = [];
  const { of } = SqlTransaction.prototype;
  SqlTransaction.prototype.of = function watched(this: SqlTransaction, key) {
    const store = of.call(this, key) as object;
    return new Proxy(store, {
      get: (target, name) => {
        const method: unknown = Reflect.get(target, name);
        if (typeof method !== "function") return method;
        return (...given: readonly unknown[]) => {
          calls.push({ transaction: this, what: `${key.name}.${String(name)}` });
          return Reflect.apply(method, target, given) as unknown;
        };
      },
    }) as never;
  };
  onTestFinished(() => {
    SqlTransaction.prototype.of = of;
  });
  return {
    // Deliveries and periodic work go on meanwhile, in transactions of their own.
    calls() {
      const ours = new Set(
        calls
          .filter(({ what }) => /^identity\.(?!prune)/.test(what))
          .map(({ transaction }) => transaction),
      );
      const told = calls.filter(({ transaction }) => ours.has(transaction));
      calls.length = 0;
      return told.map(({ what }) => what);
    },
  };
}

let project: TestProject;
beforeAll(async () => {
  project = await testProject({
    "registry/service.yaml": `registry: 1
service: {name: demo, title: Demo, version: 1.0.0}
policies: {open: []}
identity:
  methods: [token, password]
  sign_up: {verify: email, profile: profiles}
  reset: {events: outbox}
outbox:
  events: {authn.sign_up_requested: {destination: mail}, authn.password_reset_requested: {destination: mail}}
documents:
  profiles: {type: {username: string}, guard: open, tenant: false, unique: [[owner_id]]}
`,
  });
});
afterAll(() => project.remove());

describe.each(engines.filter(({ isAvailable }) => isAvailable))("$name", (engine) => {
  let service: TestService;
  beforeAll(async () => {
    service = await project.start(engine, {
      environment: {
        DESTINATION_MAIL: "http://127.0.0.1:9/",
        SIGN_UP_ATTEMPTS: "1000",
        SIGN_UP_ATTEMPTS_PER_ADDRESS: "1000",
        RESET_ATTEMPTS_PER_ADDRESS: "1000",
      },
    });
    const { createPrincipal } = await import("../../../runtime/families/identity/provision.js");
    const context = service.running.connection.context("authn.me");
    await createPrincipal(context, { login: "known@example.test", password });
  });
  afterAll(() => service.stop());

  const signUp = (login: string): Promise<Answer> =>
    service.post("/auth/sign-up", { login, password, profile: { username: login } });

  test.each([
    ["signing up", "/auth/sign-up", { password, profile: { username: "x" } }],
    ["asking for the mail again", "/auth/sign-up/resend", {}],
    ["asking for a password reset", "/auth/password-reset/request", {}],
    ["signing in with a wrong password", "/auth/login", { password: "another long password" }],
  ])("%s", async (what, path, body) => {
    // Registrations of one case are not those of another.
    const pending = `${what.replaceAll(" ", "-")}@example.test`;
    expect((await signUp(pending)).status).toBe(202);
    const { calls } = watchStores();
    const worked = async (login: string): Promise<readonly unknown[]> => {
      const { status } = await service.post(path, { login, ...body });
      return [status, ...calls()];
    };
    const unknown = await worked(`nobody-${pending}`);
    expect(unknown.length).toBeGreaterThan(1);
    expect(await worked(pending)).toEqual(unknown);
    expect(await worked("known@example.test")).toEqual(unknown);
  });
});
