// The generated mocks: a handler is given the input as it is declared, however its members travel.
import { expect, test } from "vitest";
import { testProject } from "../../support/project-service.js";

const files = {
  "registry/service.yaml": `registry: 1
service: {name: demo, title: Demo, version: 1.0.0}
policies: {open: []}
operations:
  news.order:
    post: /orders/{kind}
    body: form
    in: {kind: string, weekly: boolean, copies: integer, note: string?}
    run: registry/handlers.ts#order
    guard: open
  news.find:
    get: /news
    in: {names: {type: array, items: {type: string, pattern: "^[^,]+$"}}, open: boolean, size: integer?}
    run: registry/handlers.ts#find
    guard: open
`,
  "registry/handlers.ts": `export const order = async () => undefined;
export const find = async () => undefined;
`,
};

test("members of paths, queries and forms have their types", async () => {
  const project = await testProject(files, undefined, {
    client: { package: "@demo/client", queries: false, mocks: true },
  });
  try {
    const { createClient, news } = await project.load("generated/client/index.ts");
    const { fetchOf, mockService } = await project.load("generated/client/mocks.ts");
    const given: unknown[] = [];
    const take = (input: unknown): void => void given.push(input);
    const service = mockService({ "news.order": take, "news.find": take });
    const client = createClient({ baseUrl: "", fetch: fetchOf(service) });
    const order = { kind: "k", weekly: false, copies: 2, note: "7" };
    await news.order(client, order);
    expect(given.pop()).toEqual(order);
    const asked = { names: ["1", "2"], open: false, size: 3 };
    await news.find(client, asked);
    expect(given.pop()).toEqual(asked);
  } finally {
    project.remove();
  }
});
