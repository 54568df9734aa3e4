// Changes of any key of the format, from the format's own shape: it comes, goes, or says something else.
import { isDeepStrictEqual } from "node:util";
import { registryShape } from "../../../generator/expand/registry-shape.js";
import { isMap, membersOf, type FormatShape, type Member } from "../../../generator/load/shape.js";
import { hookPhases } from "../../../generator/model/vocabulary.js";
import type { Draw } from "../registries/draw.js";
import { keysAt } from "../registries/places.js";
import { filled } from "../registries/random-registry.js";
import type { World } from "../registries/world.js";
import { mapIn, valueIn, type Json } from "./base.js";
import { fieldsOf } from "./members.js";

/** A key of the format: its path, where `*` is any name or any entry. */
export type Key = readonly string[];

/** All keys of the format. */
export const formatKeys: readonly Key[] = keysOf(registryShape, []);

function keysOf(shape: FormatShape, path: Key): readonly Key[] {
  switch (shape.kind) {
    case "object":
    case "choice":
      return Object.entries(membersOf(shape)).flatMap(([name, member]) => [
        [...path, name],
        ...keysOf(member.shape, [...path, name]),
      ]);
    case "map":
    case "list":
      return keysOf(shape.of, [...path, "*"]);
    case "either": {
      const all = shape.of.flatMap((option) => keysOf(option, path));
      return [...new Map(all.map((key) => [key.join("."), key])).values()];
    }
    default:
      return [];
  }
}

/** A registry with a change at a key; undefined where there is nothing that could have it. */
export function changedAt(registry: Json, key: Key, draw: Draw): Json | undefined {
  const world = worldOf(registry, draw);
  const changed = changedIn(world, registryShape, registry, [], key);
  if (changed === undefined || isDeepStrictEqual(changed, registry)) return undefined;
  return working(changed, []) as Json;
}

/** What a random registry would know of this one. */
function worldOf(registry: Json, draw: Draw): World {
  const fields = new Map<string, Json>();
  const typeNames = new Map<string, string>();
  for (const [name, one] of Object.entries(mapIn(registry, "documents"))) {
    fields.set(`documents.${name}`, fieldsOf(registry, name));
    const { type } = one as Json;
    if (typeof type === "string") typeNames.set(`documents.${name}`, type);
  }
  for (const [name, one] of Object.entries(mapIn(registry, "search")))
    fields.set(`search.${name}`, fieldsOf(registry, String(valueIn(one, ["of"]))));
  for (const [name, one] of Object.entries(mapIn(registry, "realtime", "events"))) {
    const data = valueIn(one, ["data"]);
    const told = typeof data === "string" ? valueIn(registry, ["types", data]) : data;
    fields.set(`realtime.events.${name}`, isMap(told) ? told : {});
  }
  return {
    draw,
    made: { ...registry },
    fields,
    typeNames,
    namespaces: [...fields.keys()].flatMap((key) => key.split(".").slice(1, 2)),
    references: new Set(),
    mounts: new Set(),
  };
}

/** A part of the registry with a change at what is left of a key; undefined where it can have none. */
function changedIn(
  world: World,
  shape: FormatShape,
  value: unknown,
  path: Key,
  [step, ...rest]: Key,
): unknown {
  const { draw } = world;
  if (step === undefined) return undefined;
  switch (shape.kind) {
    case "either": {
      for (const option of shape.of) {
        const changed = changedIn(world, option, value, path, [step, ...rest]);
        if (changed !== undefined) return changed;
      }
      return undefined;
    }
    case "list": {
      const items = Array.isArray(value) ? (value as readonly unknown[]) : [];
      const at = draw.below(items.length + 1);
      const changed = changedIn(world, shape.of, items[at], [...path, "*"], rest);
      return changed === undefined
        ? undefined
        : [...items.slice(0, at), changed, ...items.slice(at + 1)];
    }
    case "map": {
      const map = isMap(value) ? value : {};
      const names = Object.keys(map).length > 0 ? Object.keys(map) : keysAt(world, path);
      if (names.length === 0) return undefined;
      const name = draw.pick(names);
      const changed = changedIn(world, shape.of, map[name], [...path, name], rest);
      return changed === undefined ? undefined : { ...map, [name]: changed };
    }
    case "object":
    case "choice": {
      const member = membersOf(shape)[step];
      if (member === undefined) return undefined;
      const whole = isMap(value) ? value : startOf(world, shape, path, step);
      const now =
        rest.length === 0
          ? newValue(world, member, whole[step], [...path, step])
          : (changedIn(world, member.shape, whole[step], [...path, step], rest) ?? nothing);
      if (now === nothing) return undefined;
      const { [step]: _before, ...others } = whole;
      // Only one of a choice is there.
      const isOther = shape.kind === "choice" && Object.hasOwn(shape.members, step);
      const beside = isOther
        ? Object.entries(others).filter(([name]) => !Object.hasOwn(shape.members, name))
        : Object.entries(others);
      return { ...Object.fromEntries(beside), ...(now === gone ? {} : { [step]: now }) };
    }
    default:
      return undefined;
  }
}

const nothing = Symbol("no change");
const gone = Symbol("left out");

/** What must be there beside a key. */
function startOf(
  world: World,
  shape: Extract<FormatShape, { kind: "object" | "choice" }>,
  path: Key,
  step: string,
): Json {
  if (shape.kind === "choice") return {};
  return Object.fromEntries(
    Object.entries(shape.members)
      .filter(([name, { isRequired }]) => isRequired === true && name !== step)
      .map(([name, { shape: of }]) => [name, filled(world, of, [...path, name], 0)]),
  );
}

function newValue(world: World, member: Member, value: unknown, path: Key): unknown {
  const { draw } = world;
  if (value !== undefined && member.isRequired !== true && draw.chance(40)) return gone;
  if (typeof value === "boolean") return !value;
  for (let tries = 0; tries < 5; tries += 1) {
    const now = filled(world, member.shape, path, 30);
    if (!isDeepStrictEqual(now, value)) return now;
  }
  return nothing;
}

/** Functions that do what is asked where a registry names one, by the last key. */
const functions: Readonly<Record<string, string>> = {
  app: "through",
  wrap: "wrapped",
  destination: "send",
  decide: "yes",
  topics: "granted",
};

/** The registry with functions that are there. */
function working(value: unknown, path: Key): unknown {
  if (Array.isArray(value)) return value.map((one) => working(one, path));
  if (isMap(value))
    return Object.fromEntries(
      Object.entries(value).map(([key, one]) => [key, working(one, [...path, key])]),
    );
  if (typeof value !== "string" || !/^[\w@./-]+\.m?ts#/.test(value)) return value;
  if (value.startsWith("registry/handlers.ts#")) return value;
  const last = path.at(-1) ?? "";
  const name = path[0] === "scopes" ? "everywhere" : (functions[last] ?? "nothing");
  const isHook = (hookPhases as readonly string[]).includes(last);
  const isHandler = path[0] === "operations" && last === "run";
  return `registry/handlers.ts#${isHandler ? "sell" : isHook && last !== "wrap" ? "nothing" : name}`;
}
