// Password resets over HTTP, with the token taken from a real webhook (service.md "Password reset token", attacks 14, 15, 21, 22).
import { identityResources } from "../../../runtime/families/identity/resources.js";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { engines } from "../../support/engines.js";
import { password, peopleOf, type People } from "../../support/people.js";
import { startTestService, type Answer, type TestService } from "../../support/service.js";
import { identityStore } from "../../../runtime/ports/identity.js";
import { outboxStore } from "../../../runtime/ports/outbox.js";

const newPassword = "another long password";
const refused = { code: "core.authentication", context: {} };

interface Message {
  readonly type: string;
  readonly data: {
    readonly login: string;
    readonly principal_id: string;
    readonly token: string;
    readonly expires_at: string;
  };
}

for (const engine of engines) {
  describe.skipIf(!engine.isAvailable)(engine.name, () => {
    let service: TestService;
    let people: People;
    let receiver: Server;
    const messages: Message[] = [];
    const logged: string[] = [];
    const keep = (fields: object): void => void logged.push(JSON.stringify(fields));

    beforeAll(async () => {
      receiver = createServer((req, res) => {
        void json(req).then((message) => {
          messages.push(message as Message);
          res.writeHead(204).end();
        });
      });
      await new Promise<void>((resolve) => receiver.listen(0, "127.0.0.1", resolve));
      const { port } = receiver.address() as AddressInfo;
      service = await startTestService(engine, {
        signsIn: false,
        environment: {
          DESTINATION_NOTIFICATIONS: `http://127.0.0.1:${port}/hook`,
          RESET_ATTEMPTS_PER_ADDRESS: "2000",
        },
        log: { debug: keep, info: keep, warn: keep, error: keep },
      });
      people = peopleOf(service);
    });
    afterAll(async () => {
      await service.stop();
      receiver.close();
    });

    const request = (login: string): Promise<Answer> =>
      service.post("/auth/password-reset/request", { login });
    const confirm = (token: string, next = newPassword): Promise<Answer> =>
      service.post("/auth/password-reset/confirm", { token, new_password: next });
    const signIn = (login: string, with_: string): Promise<Answer> =>
      service.post("/auth/login", { login, password: with_ });
    const messagesTo = (login: string): readonly Message[] =>
      messages.filter(({ data }) => data.login === login);
    /** Asks for a reset and waits for the token to arrive. */
    const tokenFor = async (login: string): Promise<string> => {
      const before = messagesTo(login).length;
      expect((await request(login)).status).toBe(202);
      await expect.poll(() => messagesTo(login).length).toBe(before + 1);
      return messagesTo(login).at(-1)?.data.token ?? "";
    };
    const expectRefused = ({ status, body, headers }: Answer): void => {
      expect([status, body.code, body.context]).toEqual([401, refused.code, refused.context]);
      expect(headers.get("www-authenticate")).toContain("Bearer");
    };

    /** Moves the clock of an outstanding token: it has run out. */
    const expire = (principalId: string): Promise<void> =>
      service.running.connection.write("test.expire", async ({ transaction, resources }) => {
        const { token } = messages.findLast(({ data }) => data.principal_id === principalId)
          ?.data ?? {
          token: "",
        };
        const digest = resources
          .of(identityResources)
          .reset.sign("reset-digest", token)
          .toString("base64url");
        await transaction.of(identityStore).putResetToken({
          principalId,
          digest,
          expiresAt: Date.now() - 1,
        });
      });

    // service.md "Password reset token", row by row.
    const transitions: readonly (readonly [string, () => Promise<void>])[] = [
      [
        "none → active: a known login gets a token, for an hour, by the event alone",
        async () => {
          const { login, id } = await people.person();
          const answer = await request(login.toUpperCase());
          expect([answer.status, answer.body]).toEqual([202, undefined]);
          await expect.poll(() => messagesTo(login).length).toBe(1);
          const [{ type, data } = {} as Message] = messagesTo(login);
          expect([type, data.principal_id]).toEqual(["authn.password_reset_requested", id]);
          expect(Object.keys(data)).toEqual(["login", "principal_id", "token", "expires_at"]);
          const minutes = (Date.parse(data.expires_at) - Date.now()) / 60_000;
          expect(Math.round(minutes)).toBe(60);
        },
      ],
      [
        "none → none: an unknown login, and one that is inactive, get the same answer and no event",
        async () => {
          const { login, id } = await people.person();
          await service.running.connection.write("test.end", ({ transaction }) =>
            transaction.of(identityStore).deactivate(id, Date.now()),
          );
          const known = await request((await people.person()).login);
          for (const answer of [await request(login), await request("nobody@example.test")])
            expect([answer.status, answer.body, [...answer.headers.keys()]]).toEqual([
              known.status,
              known.body,
              [...known.headers.keys()],
            ]);
          const state = await service.running.connection.database.reader
            .of(outboxStore)
            .state(Date.now());
          await new Promise((resolve) => setTimeout(resolve, 200));
          expect([messagesTo(login), messagesTo("nobody@example.test"), state.dead]).toEqual([
            [],
            [],
            0,
          ]);
        },
      ],
      [
        "active → used: the new password counts; the old one, every session and every API key do not",
        async () => {
          const { login, id } = await people.person();
          const { access_token: token } = await people.session(id, null);
          const { api_key: key } = (await people.as(token, "POST", "/api-keys")).body;
          const withKey = (): Promise<Answer> =>
            service.call("GET", "/auth/me", { headers: { "x-api-key": key } });
          expect((await withKey()).status).toBe(200);
          const answer = await confirm(await tokenFor(login));
          expect([answer.status, answer.body]).toEqual([204, undefined]);
          expect((await people.as(token, "GET", "/auth/sessions")).status).toBe(401);
          expect((await withKey()).status).toBe(401);
          expect((await signIn(login, password)).status).toBe(401);
          expect((await signIn(login, newPassword)).status).toBe(200);
        },
      ],
      [
        "used → unchanged",
        async () => {
          const token = await tokenFor((await people.person()).login);
          expect((await confirm(token)).status).toBe(204);
          expectRefused(await confirm(token, "a third long password"));
        },
      ],
      [
        "active → superseded: a second request ends the first token",
        async () => {
          const { login } = await people.person();
          const [first, second] = [await tokenFor(login), await tokenFor(login)];
          expectRefused(await confirm(first));
          expect((await confirm(second)).status).toBe(204);
        },
      ],
      [
        "active → expired",
        async () => {
          const { login, id } = await people.person();
          const token = await tokenFor(login);
          await expire(id);
          expectRefused(await confirm(token));
          expect((await signIn(login, password)).status).toBe(200);
        },
      ],
      [
        "unknown → unchanged",
        async () => {
          for (const token of ["x", "A".repeat(43), "'; DROP TABLE opwright_reset_tokens; --"])
            expectRefused(await confirm(token));
        },
      ],
    ];
    test.each(transitions)("%s", (_row, check) => check());

    test("a token ends with a change of password, and with its principal", async () => {
      const [one, two] = [await people.person(), await people.person()];
      const tokens = [await tokenFor(one.login), await tokenFor(two.login)];
      const { access_token: session } = await people.session(one.id, null);
      await people.as(session, "POST", "/auth/change-password", {
        current_password: password,
        new_password: newPassword,
      });
      await service.running.connection.write("test.end", ({ transaction }) =>
        transaction.of(identityStore).deactivate(two.id, Date.now()),
      );
      for (const token of tokens) expectRefused(await confirm(token, "a third long password"));
    });

    test("a password that is none is 422 and uses nothing up", async () => {
      const token = await tokenFor((await people.person()).login);
      const short = await confirm(token, "1234567");
      expect([short.status, short.body.context.errors[0].path]).toEqual([422, "/new_password"]);
      expect((await confirm(token)).status).toBe(204);
    });

    test("of two parallel confirmations one counts", async () => {
      for (let round = 0; round < 5; round += 1) {
        const token = await tokenFor((await people.person()).login);
        const answers = await Promise.all([confirm(token), confirm(token)]);
        expect(answers.map(({ status }) => status).toSorted()).toEqual([204, 401]);
      }
    });

    test("an unknown login takes as long as a known one", async () => {
      const logins = await Promise.all(Array.from({ length: 40 }, () => people.person()));
      const time = async (login: string): Promise<number> => {
        const started = performance.now();
        await request(login);
        const took = performance.now() - started;
        // The relay delivers beside the next request; that is not what is measured.
        await new Promise((resolve) => setTimeout(resolve, 25));
        return took;
      };
      const [known, unknown]: [number[], number[]] = [[], []];
      for (const [index, { login }] of logins.entries()) {
        known.push(await time(login));
        unknown.push(await time(`nobody${index}@example.test`));
      }
      // Mann-Whitney: how often a known login took longer than an unknown one. Half the time means no difference.
      const wins = known.reduce(
        (sum, left) => sum + unknown.filter((right) => left > right).length,
        0,
      );
      const share = wins / (known.length * unknown.length);
      expect(share).toBeGreaterThan(0.15);
      expect(share).toBeLessThan(0.85);
    });

    test("1 000 requests for one login leave one token and five events; the answer never changes", async () => {
      const { login } = await people.person();
      for (let round = 0; round < 20; round += 1) {
        const answers = await Promise.all(Array.from({ length: 50 }, () => request(login)));
        expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([202]));
      }
      await new Promise((resolve) => setTimeout(resolve, 500));
      expect(messagesTo(login)).toHaveLength(5);
      const state = await service.running.connection.database.reader
        .of(outboxStore)
        .state(Date.now());
      expect(state.pending).toBe(0);
    });

    test("the token is in no answer, no log and no table", async () => {
      const all = messages.map(({ data }) => data.token);
      expect(all.length).toBeGreaterThan(5);
      const text = logged.join("\n");
      for (const token of all) expect(text).not.toContain(token);
      for (const secret of [password, newPassword]) expect(text).not.toContain(secret);
      expect(text).toContain("authn.request_password_reset");
    });
  });
}
