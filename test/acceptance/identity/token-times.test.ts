// The times of access tokens are compared at each use, also of one that is known: the clock of a machine may be set back
// (attack 167).
import { createHmac, randomBytes } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { StandingClock } from "../../../runtime/testing/clock.js";
import { engines } from "../../support/engines.js";
import { peopleOf } from "../../support/people.js";
import { startTestService, type TestService } from "../../support/service.js";

const [engine] = engines;
if (engine === undefined) throw new Error("no engine");

const secret = randomBytes(32);
const noon = Date.parse("2026-01-31T12:00:00Z");
const clock = new StandingClock(noon);
let service: TestService;
let token = "";
beforeAll(async () => {
  service = await startTestService(engine, {
    signsIn: false,
    environment: { SECRETS_ACCESS_TOKEN: secret.toString("base64url") },
    clock,
  });
  const people = peopleOf(service);
  token = (await people.session((await people.person()).id, null)).access_token;
});
afterAll(() => service.stop());

/** The same token with other claims. */
function changed(claims: object): string {
  const [header = "", said = ""] = token.split(".");
  const known = JSON.parse(Buffer.from(said, "base64url").toString()) as object;
  const text = `${header}.${Buffer.from(JSON.stringify({ ...known, ...claims })).toString("base64url")}`;
  return `${text}.${createHmac("sha256", secret).update(text).digest("base64url")}`;
}

const statusAt = async (seconds: number, given: string): Promise<number> => {
  await clock.moveTo(noon + seconds * 1_000);
  const headers = { authorization: `Bearer ${given}` };
  return (await service.call("GET", "/auth/sessions", { headers })).status;
};

const begins = noon / 1_000 + 300;

test("a token is refused before its beginning, also once it was known", async () => {
  const given = changed({ nbf: begins });
  expect(await statusAt(300 - 11, given)).toBe(401);
  expect(await statusAt(300 - 10, given)).toBe(200);
  expect(await statusAt(300 + 60, given)).toBe(200);
  expect(await statusAt(300 - 11, given)).toBe(401);
  expect(await statusAt(300 + 60, given)).toBe(200);
});

test("a token that was issued later than now is refused, unless it is known: clocks are set back", async () => {
  const given = changed({ iat: begins });
  expect(await statusAt(300 - 11, given)).toBe(401);
  expect(await statusAt(300, given)).toBe(200);
  expect(await statusAt(0, given)).toBe(200);
});

test("a beginning that is no whole number is refused", async () => {
  for (const nbf of ["now", 1.5, null])
    expect([nbf, await statusAt(60, changed({ nbf }))]).toEqual([nbf, 401]);
});
