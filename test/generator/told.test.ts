// What the documents for clients, editors and models say: nothing that leads nowhere, nothing that is only about rows.
import { afterAll, beforeAll, expect, test } from "vitest";
import { describedTool } from "../../generator/cli/mcp-tools.js";
import {
  checkRegistry,
  planGeneration,
  type CheckedRegistry,
} from "../../generator/pipeline/generate.js";
import { errorCodesOf } from "../../generator/model/error-codes.js";
import { writeProject } from "./scenario.js";

let remove: () => void = () => undefined;
let registry: CheckedRegistry;
const texts = new Map<string, string>();

beforeAll(async () => {
  const made = writeProject({
    "registry/service.yaml": `registry: 1
service: {name: demo, title: Demo, version: 1.0.0}
policies: {open: [], staff: [principal]}
identity: {sign_up: {verify: none, profile: profiles}}
outbox: {events: {shop.opened: {destination: shop, data: {at: date-time}}}}
webhooks: {guard: staff}
types:
  Stock: {left: integer}
hooks: {noted: {run: registry/shop.ts#noted, phase: before}}
errors: {sold_out: {kind: conflict, detail: None are left., context: Stock}}
documents:
  notes: {type: {text: {type: string, was: body}, tags: "string[]"}, tenant: false, guard: open, mount: {at: /notes, include: [get, update]}}
  profiles: {type: {nick: string}, unique: [[owner_id]], tenant: false, guard: staff, mount: {at: /profiles, include: [get]}}
  posts: {type: {author: {ref: profiles}}, set: {author: $profile}, tenant: false, guard: staff, mount: {at: /posts, include: [get]}}
  hidden: {type: {stock: Stock}, tenant: false, guard: open, mount: false}
operations:
  shop.buy: {post: /buy, in: {note: uuid}, out: {ok: boolean}, errors: [sold_out], run: registry/shop.ts#buy, guard: open}
`,
    "registry/shop.ts":
      "export const buy = async () => ({ ok: true });\nexport const noted = () => undefined;\n",
  });
  remove = made.remove;
  const project = {
    root: made.root,
    paths: { out: "generated", registry: "registry" },
    client: { package: null, queries: false, mocks: false },
  };
  registry = await checkRegistry(project);
  expect(registry.findings).toEqual([]);
  for (const { path, text } of (await planGeneration(project, registry)).files)
    texts.set(path, text);
});
afterAll(() => remove());

test("a type that only an error of a mounted operation names is in the OpenAPI document", () => {
  const document = JSON.parse(texts.get("openapi.json") ?? "") as {
    readonly components: { readonly schemas: object };
  };
  expect(texts.get("openapi.json")).toContain('"#/components/schemas/Stock"');
  expect(Object.keys(document.components.schemas)).toContain("Stock");
});

test("an editor completes every namespace that a mount may attach, and no other", () => {
  const enumerations = [
    ...(texts.get("registry.schema.json") ?? "").matchAll(/"enum": \[[^\]]*\]/g),
  ];
  const namespaces = enumerations.map(([text]) => text).find((text) => text.includes('"hidden"'));
  expect(JSON.parse((namespaces ?? "").slice('"enum": '.length))).toEqual([
    "authn",
    "hidden",
    "notes",
    "posts",
    "profiles",
    "webhooks",
  ]);
});

test("an editor proposes the hooks of the registry where one may be named", () => {
  expect(texts.get("registry.schema.json")).toMatch(/"examples": \[\s*"noted"\s*\]/);
});

test("a tool is described without what only rows are concerned with", () => {
  const { model } = registry.expanded;
  const operation = model.operations["notes.update"];
  if (operation === undefined) throw new Error("there is no notes.update");
  expect(JSON.stringify(model.types)).toContain('"x-was"');
  expect(JSON.stringify(describedTool("notes-update", operation, model))).not.toContain("x-was");
});

test("the README of a client tells of walking lists only where there is one to walk", () => {
  expect(texts.get("client/README.md")).not.toContain("each(");
});

test("errors of the documents that a handler writes are among its own", () => {
  const operation = registry.expanded.model.operations["shop.buy"];
  if (operation === undefined) throw new Error("there is no shop.buy");
  expect(errorCodesOf(operation)).toEqual(
    expect.arrayContaining(["reference_in_use", "bulk_refused", "profile_required"]),
  );
});
