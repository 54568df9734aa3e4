// RealWorld's API as a client of any language calls it.
import assert from "node:assert/strict";
import { testService } from "../generated/testing.js";

// oxlint-disable-next-line typescript/no-explicit-any -- a black-box test looks at whatever comes back
type Body = any;
export type Answer = readonly [status: number, body: Body];

/** Somebody, or nobody, who calls the API. */
export interface Caller {
  readonly name: string;
  call(method: string, path: string, body?: object): Promise<Answer>;
}

export const password = "correct horse battery staple";

/** Starts the service: on SQLite, or on the PostgreSQL server that TEST_DATABASE names. */
export async function conduit() {
  const database = process.env["TEST_DATABASE"];
  const app = await testService(database === undefined ? {} : { database });
  const caller = (name: string, token?: string, scheme = "Token"): Caller => ({
    name,
    async call(method, path, body) {
      const authorization = token === undefined ? {} : { authorization: `${scheme} ${token}` };
      const response = await fetch(`${app.url}/api${path}`, {
        method,
        headers: { ...authorization, "content-type": "application/json" },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      const text = await response.text();
      return [response.status, text === "" ? null : JSON.parse(text)];
    },
  });
  const nobody = caller("nobody");
  return {
    nobody,
    withToken: (token: string, scheme?: string): Caller => caller("somebody", token, scheme),
    clock: app.clock,
    /** Registers somebody by their name, with `<name>@example.test`. */
    async register(name: string): Promise<Caller> {
      const user = { username: name, email: `${name}@example.test`, password };
      const [status, body] = await nobody.call("POST", "/users", { user });
      assert.equal(status, 201);
      return caller(name, body.user.token);
    },
    [Symbol.asyncDispose]: () => app.close(),
  };
}

/** Writes an article and returns it. */
export async function write(by: Caller, title: string, tagList: readonly string[] = []): Promise<Body> {
  const article = { title, description: "About it", body: "All of it", tagList };
  const [status, body] = await by.call("POST", "/articles", { article });
  assert.equal(status, 201);
  return body.article;
}

export const titles = ([, { articles }]: Answer): readonly string[] =>
  articles.map(({ title }: Body) => title);
