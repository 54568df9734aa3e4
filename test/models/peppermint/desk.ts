// The people of a helpdesk under test.
import { randomUUID } from "node:crypto";
import { expect } from "vitest";
import type { Stage } from "../../support/on-each-engine.js";
import type { Somebody } from "../../support/people.js";

export interface Person extends Somebody {
  /** Of the profile, and of whoever signs in. */
  readonly id: string;
  readonly principal: string;
  readonly token: string;
}

export const unique = (what: string): string => `${what} ${randomUUID().slice(0, 13)}`;

export function openDesk({ service, people }: Pick<Stage, "service" | "people">) {
  const customer = async (name = "Ann"): Promise<Person> => {
    const login = `${randomUUID()}@example.test`;
    const profile = { name, email: login };
    const body = { login, password: "a quiet afternoon", profile };
    const signed = await service.call("POST", "/auth/sign-up", { body });
    expect(signed.status).toBe(201);
    const token = signed.body.access_token as string;
    const me = (await people.as(token, "GET", "/auth/me")).body;
    return { ...people.by(token), id: me.profile.id, principal: me.principal_id, token };
  };
  /** Somebody of the company, who has completed their profile. */
  const staff = async (role: "admin" | "lead" | "agent", name = "Bob"): Promise<Person> => {
    const { id: principal, login } = await people.person(`role:${role}`);
    const token = (await people.session(principal, null)).access_token;
    const by = people.by(token);
    return { ...by, id: await by.make("users", { name, email: login }), principal, token };
  };
  const read = async (by: Somebody, path: string) => (await by.call("GET", `/${path}`)).body;
  /** Changes a document as it is now. */
  const change = async (by: Somebody, path: string, patch: object) =>
    by.call("PATCH", `/${path}?rev=${(await read(by, path)).rev ?? 1}`, patch);
  const listed = async (by: Somebody, path: string, values: object = {}) =>
    (await by.call("POST", `/${path}/list`, { filters: { $values: values } })).body.hits;
  return { customer, staff, read, change, listed };
}
