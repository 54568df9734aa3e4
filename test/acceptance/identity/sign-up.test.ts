// Registering over HTTP: at once, or by a token taken from a real webhook; profiles with unique names, and nothing to be learnt of who
// has an account.
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { engines, type TestEngine } from "../../support/engines.js";
import { testProject, type TestProject } from "../../support/project-service.js";
import { startTestService, type Answer, type TestService } from "../../support/service.js";

const password = "correct horse battery staple";
const registry = (signUp: string): string => `registry: 1
service: {name: demo, title: Demo, version: 1.0.0}
policies: {open: []}
tenancy: {}
identity:
  methods: [token, password]
  ingress: [{bearer: Authorization}, {bearer: Authorization, scheme: Token}]
  sign_up: ${signUp}
outbox: {events: {authn.sign_up_requested: {destination: mail}}}
documents:
  profiles:
    type: {username: {type: string, minLength: 1}, bio: string?}
    guard: open
    tenant: false
    unique: [[owner_id], [username]]
`;

interface Mail {
  readonly login: string;
  readonly kind: "verify" | "exists";
  readonly token: string | null;
  readonly expires_at: string | null;
}

let atOnce: TestProject;
let byMail: TestProject;
let receiver: Server;
const mails: Mail[] = [];
beforeAll(async () => {
  const made = (signUp: string): Promise<TestProject> =>
    testProject({ "registry/service.yaml": registry(signUp) });
  atOnce = await made("{verify: none, profile: profiles}");
  byMail = await made("{verify: email, profile: profiles, ttl: 2h}");
  receiver = createServer((req, res) => {
    void json(req).then((message) => {
      mails.push((message as { readonly data: Mail }).data);
      res.writeHead(204).end();
    });
  });
  await new Promise<void>((resolve) => receiver.listen(0, "127.0.0.1", resolve));
});
afterAll(() => {
  for (const project of [atOnce, byMail]) project.remove();
  receiver.close();
});

async function started(
  project: TestProject,
  engine: TestEngine,
  limits: Readonly<Record<string, string>> = {},
): Promise<TestService> {
  const { service: definition } = await project.load("generated/service.ts");
  const { port } = receiver.address() as AddressInfo;
  return startTestService(engine, {
    definition,
    folder: `${project.root}/generated`,
    signsIn: false,
    environment: {
      DESTINATION_MAIL: `http://127.0.0.1:${port}/`,
      SIGN_UP_ATTEMPTS_PER_ADDRESS: "1000",
      ...limits,
    },
  });
}

let counter = 0;
const address = (): string => `somebody${(counter += 1)}@example.test`;
const refused = (...members: readonly string[]): object => ({
  status: 409,
  body: { code: "unique_violation", context: { members } },
});

for (const engine of engines) {
  describe.skipIf(!engine.isAvailable)(engine.name, () => {
    describe("at once", () => {
      let service: TestService;
      beforeAll(async () => {
        service = await started(atOnce, engine);
      });
      afterAll(() => service.stop());
      const signUp = (login: string, username: string, more: object = {}): Promise<Answer> =>
        service.post("/auth/sign-up", { login, password, profile: { username }, ...more });
      const me = (authorization: string): Promise<Answer> =>
        service.call("GET", "/auth/me", { headers: { authorization } });

      test("somebody who registers is signed in, and has a profile", async () => {
        const login = address();
        const answer = await signUp(login, "ann");
        expect(answer.status).toBe(201);
        const { access_token: token } = answer.body;
        const found = await me(`Bearer ${token}`);
        expect(found.body).toMatchObject({ tenant_id: null, profile: { username: "ann", rev: 1 } });
        // Another scheme of the same header is an ingress of its own.
        expect(await me(`Token ${token}`)).toMatchObject({ status: 200, body: found.body });
        const again = await service.post("/auth/login", { login: login.toUpperCase(), password });
        expect((await me(`Bearer ${again.body.access_token}`)).body.principal_id).toBe(
          found.body.principal_id,
        );
      });

      test("a login and a name are given once; who is refused has left nothing", async () => {
        const login = address();
        expect((await signUp(login, "bob")).status).toBe(201);
        expect(await signUp(login, "bobby")).toMatchObject(refused("login"));
        const other = address();
        expect(await signUp(other, "bob")).toMatchObject(refused("username"));
        expect((await service.post("/auth/login", { login: other, password })).status).toBe(401);
        expect((await signUp(other, "bobby")).status).toBe(201);
      });

      test("of six parallel registrations of one name one gets it", async () => {
        const answers = await Promise.all(
          Array.from({ length: 6 }, () => signUp(address(), "wanted")),
        );
        expect(answers.map(({ status }) => status).toSorted()).toEqual([
          201, 409, 409, 409, 409, 409,
        ]);
      });

      test("the rules of passwords and of profiles hold", async () => {
        const faults = async (more: object): Promise<unknown> => {
          const { status, body } = await signUp(address(), "cat", more);
          return [status, body.context.errors[0].path];
        };
        expect(await faults({ password: "password1234" })).toEqual([422, "/password"]);
        expect(await faults({ profile: { username: "" } })).toEqual([422, "/profile/username"]);
        expect(await faults({ profile: { username: "cat", owner: 1 } })).toEqual([
          422,
          "/profile/owner",
        ]);
      });
    });

    describe("by mail", () => {
      let service: TestService;
      beforeAll(async () => {
        service = await started(byMail, engine);
      });
      afterAll(() => service.stop());
      const signUp = (login: string, username: string, secret = password): Promise<Answer> =>
        service.post("/auth/sign-up", { login, password: secret, profile: { username } });
      const verify = (token: string | null | undefined): Promise<Answer> =>
        service.post("/auth/sign-up/verify", { token });
      const resend = (login: string): Promise<Answer> =>
        service.post("/auth/sign-up/resend", { login });
      const login = async (name: string, secret = password): Promise<number> =>
        (await service.post("/auth/login", { login: name, password: secret })).status;
      const mailsTo = (name: string): readonly Mail[] => mails.filter((one) => one.login === name);
      /** The mail that this leads to. */
      const mailed = async (name: string, work: Promise<Answer>): Promise<Mail | undefined> => {
        const before = mailsTo(name).length;
        const { status, body } = await work;
        expect([status, body]).toEqual([202, undefined]);
        await expect.poll(() => mailsTo(name).length).toBe(before + 1);
        return mailsTo(name).at(-1);
      };

      test("a principal is there once the token comes back, which counts once", async () => {
        const name = address();
        const mail = await mailed(name, signUp(name.toUpperCase(), "ann"));
        expect(Object.keys(mail ?? {})).toEqual(["login", "kind", "token", "expires_at"]);
        expect(mail?.kind).toBe("verify");
        const minutes = (Date.parse(mail?.expires_at ?? "") - Date.now()) / 60_000;
        expect(Math.round(minutes)).toBe(120);
        expect(await login(name)).toBe(401);
        const answers = await Promise.all([verify(mail?.token), verify(mail?.token)]);
        expect(answers.map(({ status }) => status).toSorted()).toEqual([204, 401]);
        expect(await login(name)).toBe(200);
        const profiles = await service.post("/profiles/list", {
          filters: { $values: { username: "ann" } },
        });
        expect(profiles.body.count).toBe(1);
      });

      test("the owner of an account gets a mail that says so; the answer is the same", async () => {
        const name = address();
        await verify((await mailed(name, signUp(name, "eve")))?.token);
        const mail = await mailed(name, signUp(name, "another", "an attacker's password"));
        expect(mail).toEqual({ login: name, kind: "exists", token: null, expires_at: null });
        expect(await login(name, "an attacker's password")).toBe(401);
        // A name is not taken by a registration that waits: nobody learns by it whether the login was known.
        const free = address();
        expect((await mailed(free, signUp(free, "another")))?.kind).toBe("verify");
      });

      test("a later registration supersedes the earlier one, and so does a mail that is sent again", async () => {
        const name = address();
        const first = await mailed(name, signUp(name, "dan", "the first password"));
        const second = await mailed(name, signUp(name, "dan", "the second password"));
        const third = await mailed(name, resend(name));
        for (const mail of [first, second]) expect((await verify(mail?.token)).status).toBe(401);
        expect((await verify(third?.token)).status).toBe(204);
        expect(await login(name, "the second password")).toBe(200);
      });

      test("nobody without a registration gets a mail, and nobody can tell", async () => {
        const name = address();
        expect(await resend(name)).toMatchObject({ status: 202, body: undefined });
        const other = address();
        await mailed(other, signUp(other, "fay"));
        expect(mailsTo(name)).toEqual([]);
      });

      test("a name that is taken is refused at once, and again when the token comes back", async () => {
        const [one, two] = [address(), address()];
        const mail = await mailed(one, signUp(one, "gil"));
        const other = await mailed(two, signUp(two, "gil"));
        expect((await verify(other?.token)).status).toBe(204);
        expect(await verify(mail?.token)).toMatchObject(refused("username"));
        expect(await signUp(one, "gil")).toMatchObject(refused("username"));
        expect((await verify((await mailed(one, signUp(one, "gill")))?.token)).status).toBe(204);
      });

      test("the login is an address, and a token out of nowhere is 401", async () => {
        expect((await signUp("not an address", "x")).status).toBe(422);
        for (const token of ["x", "'; DROP TABLE opwright_sign_ups; --"])
          expect((await verify(token)).status).toBe(401);
      });
    });

    test("registrations run out by login and by address, known or not", async () => {
      const limits = { SIGN_UP_ATTEMPTS: "2", SIGN_UP_ATTEMPTS_PER_ADDRESS: "4" };
      const service = await started(byMail, engine, limits);
      try {
        const signUp = (login: string): Promise<Answer> =>
          service.post("/auth/sign-up", { login, password, profile: { username: login } });
        const name = address();
        for (const status of [202, 202, 429]) {
          const answer = await signUp(name);
          expect(answer.status).toBe(status);
          if (status === 429) expect(Number(answer.headers.get("retry-after"))).toBeGreaterThan(1);
        }
        expect((await signUp(address())).status).toBe(202);
        expect((await signUp(address())).status).toBe(429);
      } finally {
        await service.stop();
      }
    });
  });
}
