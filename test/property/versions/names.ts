// Changes of what things are called, and whether they are there: documents, searches, storages, events, operations.
import { isMap } from "../../../generator/load/shape.js";
import type { Draw } from "../registries/draw.js";
import { mapIn, valueIn, withValue, type Json } from "./base.js";
import { fieldsOf, type Change } from "./members.js";

/** A map's entry called otherwise, in its place. */
function moved(map: Json, from: string, to: string, by: (one: unknown) => unknown): Json {
  return Object.fromEntries(
    Object.entries(map).map(([key, one]) => (key === from ? [to, by(one)] : [key, one])),
  );
}

/** The documents of a registry without or with another name of one, and what names it. */
function documentNamed(registry: Json, from: string, to: string, further: Json): Json {
  const documents = moved(mapIn(registry, "documents"), from, to, (one) => ({
    ...(one as Json),
    ...further,
  }));
  const searches = Object.entries(mapIn(registry, "search")).map(([name, one]) => {
    const isOfIt = isMap(one) && one["of"] === from;
    return [name, isOfIt ? { ...one, of: to } : one] as const;
  });
  const renamed = withValue(registry, ["documents"], documents);
  const searched =
    searches.length === 0 ? renamed : withValue(renamed, ["search"], Object.fromEntries(searches));
  return referring(searched, from, to);
}

/** The fields that refer to a document, which is called otherwise or is gone. */
function referring(registry: Json, from: string, to: string | undefined): Json {
  const told = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(told);
    if (!isMap(value)) return value;
    const { ref } = value;
    if (ref === from || ref === `${from}?`) {
      const isNullable = ref === `${from}?`;
      if (to === undefined) return isNullable ? "uuid?" : "uuid";
      return { ...value, ref: isNullable ? `${to}?` : to };
    }
    return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, told(one)]));
  };
  return told(registry) as Json;
}

/** Entries of a section, of which one is chosen. */
function ofEntry(
  path: readonly string[],
  by: (registry: Json, name: string, one: Json, draw: Draw) => Json | undefined,
): Change {
  return (registry, draw) => {
    const entries = Object.entries(mapIn(registry, ...path)).filter(([, one]) => isMap(one));
    if (entries.length === 0) return undefined;
    const [name, one] = draw.pick(entries);
    return by(registry, name, one as Json, draw);
  };
}

const sections: readonly (readonly string[])[] = [
  ["search"],
  ["storage"],
  ["outbox", "events"],
  ["realtime", "events"],
];

/** What sends an event, without it. */
function withoutEvent(registry: Json, event: string, by?: string): Json {
  const documents = Object.entries(mapIn(registry, "documents")).map(([name, one]) => {
    const emits = Object.entries(mapIn(one, "emits")).flatMap(([verb, sent]) => {
      const all = [sent].flat();
      const left = all.flatMap((one) => (one !== event ? [one] : by === undefined ? [] : [by]));
      return left.length === 0 ? [] : [[verb, left] as const];
    });
    const now = emits.length === 0 ? undefined : Object.fromEntries(emits);
    return [name, withValue(one as Json, ["emits"], now)] as const;
  });
  return withValue(registry, ["documents"], Object.fromEntries(documents));
}

function dropped(registry: Json, path: readonly string[], name: string): Json {
  const { [name]: _gone, ...left } = mapIn(registry, ...path);
  if (Object.keys(left).length > 0) return withoutEvent(withValue(registry, path, left), name);
  const [section = ""] = path;
  // Webhooks are of events.
  const bare = section === "outbox" ? withValue(registry, ["webhooks"], undefined) : registry;
  return withoutEvent(withValue(bare, [section], undefined), name);
}

/** Another name, with `was` or without. */
function called(registry: Json, path: readonly string[], name: string, isSaid: boolean): Json {
  const to = name.includes(".") ? name.replace(/^\w+\./, "goods.") : `${name}_too`;
  const map = moved(mapIn(registry, ...path), name, to, (one) =>
    isSaid ? { ...(one as Json), was: name } : one,
  );
  return withoutEvent(withValue(registry, path, map), name, to);
}

export const nameChanges: Readonly<Record<string, Change>> = {
  "document renamed": ofEntry(["documents"], (registry, name) =>
    documentNamed(registry, name, `${name}_too`, { was: name }),
  ),
  "document called otherwise": ofEntry(["documents"], (registry, name) =>
    documentNamed(registry, name, `${name}_too`, {}),
  ),
  "document dropped": ofEntry(["documents"], (registry, name) => {
    if (name.startsWith("items")) return undefined;
    return referring(withValue(registry, ["documents", name], undefined), name, undefined);
  }),
  "document added": (registry, draw) =>
    withValue(registry, ["documents", draw.pick(["notes", "users"])], {
      type: { text: "string", at: "date-time?" },
      guard: "member",
      ...(draw.chance(50) ? { history: true } : {}),
    }),
  "thing dropped": (registry, draw) => {
    const path = draw.pick(sections);
    return ofEntry(path, (all, name) => dropped(all, path, name))(registry, draw);
  },
  "thing called otherwise": (registry, draw) => {
    const path = draw.pick(sections);
    return ofEntry(path, (all, name) => called(all, path, name, false))(registry, draw);
  },
  "thing renamed": (registry, draw) => {
    const path = draw.pick(sections.slice(0, 2));
    return ofEntry(path, (all, name) => called(all, path, name, true))(registry, draw);
  },
  "searched text": ofEntry(["search"], (registry, name, one, draw) => {
    const document = String(one["of"]);
    const fields = Object.keys(fieldsOf(registry, document)).filter((field) =>
      ["title", "note", "code", "name", "tags"].includes(field),
    );
    return withValue(registry, ["search", name, "text"], draw.some(fields, 1, 3));
  }),
  "data of event": (registry, draw) => {
    const path = draw.pick(sections.slice(2));
    return ofEntry(path, (all, name, _one, within) => {
      const fields = { id: "uuid", title: "string", holder: "uuid" };
      const data = within.pick<unknown>([fields, { id: "uuid", size: "integer", holder: "uuid" }]);
      // What documents send carries them whole.
      return withValue(withoutEvent(all, name), [...path, name, "data"], data);
    })(registry, draw);
  },
  "answer of operation": ofEntry(["operations"], (registry, name, one, draw) =>
    draw.pick([
      withValue(registry, ["operations", name, "out"], { id: "uuid", title: "string" }),
      withValue(registry, ["operations", name, "out"], { id: "uuid", size: "number" }),
      withValue(registry, ["operations", name, "in", "note"], "string?"),
      withValue(registry, ["operations", name], undefined),
      withValue(registry, ["operations", name, "idempotency"], one["idempotency"] !== true),
    ]),
  ),
  "unique or index": ofEntry(["documents"], (registry, name, one, draw) => {
    const fields = Object.keys(fieldsOf(registry, name)).filter((field) =>
      ["title", "code", "size", "kind", "name", "holder"].includes(field),
    );
    const key = draw.pick(["unique", "indexes"]);
    if (one[key] !== undefined && draw.chance(50))
      return withValue(registry, ["documents", name, key], undefined);
    return withValue(registry, ["documents", name, key], [draw.some(fields, 1, 2)]);
  }),
  "set by the service": ofEntry(["documents"], (registry, name, _one, draw) => {
    const fields = fieldsOf(registry, name);
    const nullable = Object.keys(fields).filter((field) => fields[field] === "date-time?");
    if (nullable.length > 0)
      return withValue(registry, ["documents", name, "set"], { [draw.pick(nullable)]: "$now" });
    return valueIn(fields, ["holder"]) === "uuid"
      ? withValue(registry, ["documents", name, "set"], { holder: "$caller" })
      : undefined;
  }),
};
