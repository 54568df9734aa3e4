// Attempts at passwords run out per login and address, and per address, and nobody can tell (attacks 15, 24, 27).
import { identityResources } from "../../../runtime/families/identity/resources.js";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createPrincipal } from "../../../runtime/families/identity/provision.js";
import { engines } from "../../support/engines.js";
import { startTestService, type Answer, type TestService } from "../../support/service.js";

const password = "correct horse battery staple";

for (const engine of engines) {
  describe.skipIf(!engine.isAvailable)(engine.name, () => {
    const running: TestService[] = [];
    let behindProxy: TestService;
    let direct: TestService;
    beforeAll(async () => {
      const limits = { LOGIN_ATTEMPTS: "3", LOGIN_ATTEMPTS_PER_ADDRESS: "8" };
      behindProxy = await startTestService(engine, {
        signsIn: false,
        environment: { ...limits, TRUSTED_PROXIES: "1" },
      });
      direct = await startTestService(engine, { signsIn: false, environment: limits });
      running.push(behindProxy, direct);
      for (const service of running)
        for (const login of ["ann", "ben", "cat"])
          await createPrincipal(service.running.connection.context("test.people"), {
            login,
            password,
          });
    });
    afterAll(() => Promise.all(running.map((service) => service.stop())));

    const login = (
      service: TestService,
      from: string,
      name: string,
      guess = password,
    ): Promise<Answer> =>
      service.post("/auth/login", { login: name, password: guess }, { "x-forwarded-for": from });
    const statusOf = async (answer: Promise<Answer>): Promise<number> => (await answer).status;

    test("after too many wrong passwords the right one is the same 401, from that address alone", async () => {
      const wrong = await login(behindProxy, "192.0.2.1", "ann", "wrong password");
      await Promise.all([1, 2].map(() => login(behindProxy, "192.0.2.1", "ann", "wrong password")));
      const locked = await login(behindProxy, "192.0.2.1", "ANN ");
      const seen = ({ status, headers, body }: Answer): unknown => [
        status,
        [...headers.keys()].toSorted(),
        body,
      ];
      expect(seen(locked)).toEqual(seen(wrong));
      expect(locked.status).toBe(401);
      expect(await statusOf(login(behindProxy, "192.0.2.1", "ben"))).toBe(200);
      expect(await statusOf(login(behindProxy, "192.0.2.2", "ann"))).toBe(200);
    });

    test("parallel guesses do not slip through", async () => {
      const { loginAttempts } = behindProxy.running.connection.of(identityResources);
      const taken = await Promise.all(
        Array.from({ length: 20 }, () => loginAttempts.take("192.0.2.3", "ben")),
      );
      expect(taken.filter((left) => left === "some")).toHaveLength(3);
      expect(await statusOf(login(behindProxy, "192.0.2.3", "ben"))).toBe(401);
    });

    test("an address runs out over many logins; one IPv6 client is its /64", async () => {
      for (let index = 0; index < 8; index += 1)
        await login(behindProxy, `2001:db8:0:1::${index}`, `nobody${index}`, "wrong password");
      expect(await statusOf(login(behindProxy, "2001:db8:0:1:ffff::1", "cat"))).toBe(401);
      expect(await statusOf(login(behindProxy, "2001:db8:0:2::1", "cat"))).toBe(200);
    });

    test("right passwords use nothing up", async () => {
      for (let index = 0; index < 12; index += 1)
        expect(await statusOf(login(behindProxy, "192.0.2.4", "cat"))).toBe(200);
    });

    test("an address that a client writes before the trusted hop changes nothing", async () => {
      for (let index = 0; index < 3; index += 1)
        await login(behindProxy, `198.51.100.${index}, 192.0.2.5`, "cat", "wrong password");
      expect(await statusOf(login(behindProxy, "198.51.100.9, 192.0.2.5", "cat"))).toBe(401);
    });

    test("without trusted proxies the header is not looked at", async () => {
      for (let index = 0; index < 3; index += 1)
        await login(direct, `192.0.2.${index}`, "ann", "wrong password");
      expect(await statusOf(login(direct, "192.0.2.9", "ann"))).toBe(401);
      expect(await statusOf(login(direct, "192.0.2.9", "ben"))).toBe(200);
    });

    test("a stolen access token does not help to guess the password", async () => {
      const { body } = await login(direct, "", "cat");
      const change = (current: string): Promise<Answer> =>
        direct.post(
          "/auth/change-password",
          { current_password: current, new_password: "another long password" },
          { authorization: `Bearer ${body.access_token}` },
        );
      for (let index = 0; index < 3; index += 1)
        expect(await statusOf(change("wrong password"))).toBe(403);
      expect(await statusOf(change(password))).toBe(403);
    });
  });
}
