// The registry that pairs of versions begin with: small, and with every kind of thing that is stored.
import { camelCase } from "../../../generator/model/names.js";
import { isMap } from "../../../generator/load/shape.js";

export type Json = Readonly<Record<string, unknown>>;

/** Functions of the author's, by what a registry calls them. */
const handlers = "registry/handlers.ts";

const signal = { data: "Item", audience: ["principal"], delivery: "durable", to: "{holder}" };

export const base: Json = {
  registry: 1,
  service: { name: "pairs", title: "Pairs", version: "1.0.0" },
  identity: { methods: ["token", "password"] },
  tenancy: {},
  policies: {
    member: ["principal", "tenant"],
    editor: ["principal", "tenant", { authorize: "{resource}.write" }],
    own: ["principal", "tenant", { scope: "own_rows" }],
    limited: ["principal", "tenant", { rate_limit: "600/1m" }],
  },
  types: {
    Addr: { street: "string", zip: "string?" },
    Item: {
      title: { type: "string", maxLength: 80 },
      code: { type: "string", minLength: 8, maxLength: 40 },
      kind: ["low", "mid", "high"],
      size: { type: "integer", minimum: 0, maximum: 1000 },
      note: "string?",
      tags: "string[]",
      addr: "Addr",
      holder: "uuid",
      place: { ref: "places?" },
      due: "date-time?",
    },
  },
  documents: {
    items: {
      type: "Item",
      defaults: { kind: "low", tags: [] },
      unique: [["code"]],
      indexes: [["kind", "size"]],
      soft_delete: true,
      history: { revisions: true },
      idempotency: ["create"],
      emits: { create: "item.added", update: ["item.changed"] },
      guard: "member",
    },
    places: { type: { name: "string", country: "string?" }, guard: "own" },
  },
  search: { finder: { of: "items", text: ["title"], facets: ["kind"], guard: "member" } },
  storage: { files: { guard: "member" } },
  operations: {
    "items.sell": {
      post: "/sell/{id}",
      in: { id: "uuid" },
      out: "Item",
      run: `${handlers}#sell`,
      guard: "member",
      idempotency: true,
    },
  },
  outbox: { events: { "items.sold": { destination: "shop", data: "Item" } } },
  webhooks: { guard: "member" },
  audit: { guard: "member" },
  realtime: { events: { "item.added": signal, "item.changed": signal } },
};

/** The value at a path; undefined where there is none. */
export function valueIn(value: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>((at, step) => (isMap(at) ? at[step] : undefined), value);
}

/** The map at a path; an empty one where there is none. */
export function mapIn(value: unknown, ...path: readonly string[]): Json {
  const found = valueIn(value, path);
  return isMap(found) ? found : {};
}

/** The value with another at a path, or with none there. */
export function withValue(value: Json, [step, ...rest]: readonly string[], by: unknown): Json {
  if (step === undefined) return value;
  const now = rest.length === 0 ? by : withValue(mapIn(value, step), rest, by);
  return Object.fromEntries([
    ...Object.entries(value).flatMap(([key, one]): readonly (readonly [string, unknown])[] =>
      key !== step ? [[key, one]] : now === undefined ? [] : [[key, now]],
    ),
    ...(Object.hasOwn(value, step) || now === undefined ? [] : [[step, now] as const]),
  ]);
}

/**
 * The author's code: `sell` tells of an item and answers it, whatever items are called; the others do nothing, and may be
 * named wherever a registry names a function.
 */
export function codeOf(registry: Json): string {
  const documents = Object.entries(mapIn(registry, "documents"));
  const [items] = documents.find(([, one]) => isMap(one) && one["type"] === "Item") ?? [];
  const events = Object.keys(mapIn(registry, "outbox", "events"));
  const told = events.find((name) => /^(?:items|goods)\./.test(name));
  const stage = told === undefined ? "" : `await stageEvent(context, "${told}", item);\n  `;
  const spec = `${camelCase(items ?? "")}Spec`;
  return `import { collection } from "opwright/runtime";
${items === undefined ? "" : `import { ${spec} } from "../generated/documents/${items}.js";`}
${told === undefined ? "" : 'import { stageEvent } from "../generated/outbox.js";'}
export const sell = async ({ id }, context) => {
  ${items === undefined ? 'throw new Error("no items");' : `const item = await collection(${spec}, context).get(id);\n  ${stage}return item;`}
};
export const nothing = () => undefined;
export const through = (_req, _res, next) => next();
export const wrapped = (input, _context, next) => next(input);
export const send = async () => undefined;
export const yes = () => true;
export const envelope = ({ code }) => ({ code });
export const granted = (requested) => requested;
export const everywhere = () => ({});
export const toText = (size) => String(size ?? "");
export const toNumber = (text) => Number(text ?? 0) || 0;
`;
}
