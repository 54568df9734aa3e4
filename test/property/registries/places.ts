// What may stand where the shape alone does not say it: names of what is there, keys of maps, paths, functions.
import { isMap } from "../../../generator/load/shape.js";
import type { Draw } from "./draw.js";
import { randomRoles } from "./members.js";
import {
  authorFiles,
  exportNames,
  names,
  operationNames,
  samples,
  takenTypeNames,
  typeNames,
  verbs,
} from "./samples.js";
import { anyType, objectType } from "./types.js";
import { section, type Json, type World } from "./world.js";

type Path = readonly string[];
type Place = (world: World, path: Path) => unknown;

const families = ["documents", "composites", "search", "storage"];
const documents = "documents|composites";

/** The shape alone says it. */
const asShaped: Place = () => undefined;

/** The first pattern that fits decides; `*` is any key, `**` any number of them, `a|b` one of two. */
const places: readonly (readonly [string, Place])[] = [
  ["policies", policies],
  ["service.slo.slow.*", ({ draw, namespaces }) => `${draw.pick(namespaces)}.*`],
  ["roles", ({ draw }) => randomRoles(draw)],
  ["**.text.*", textAt],
  ["documents.*.soft_delete.read", (world) => guardOf(world, "documents")],
  ["**.paths.*", overriding],
  ["types.*", (world) => anyType(world.draw, [])],
  [`${documents}.*.remind.**.at`, asShaped],
  [`${documents}.*.type`, documentType],
  [`${documents}.*.create`, creatable],
  [
    `${documents}.*.update.*`,
    (world, path) => world.draw.pick(fieldsAt(world, path, (type) => !isLater(type))),
  ],
  [`${documents}.*.unique.*.fields.*`, scalarAt],
  [`${documents}.*.unique.*.fields|global`, asShaped],
  [
    `${documents}.*.unique.*.where`,
    (world, path) => (world.draw.chance(50) ? valuesAt(world, path) : undefined) ?? "not_deleted",
  ],
  [`${documents}.*.indexes|unique.*.*`, scalarAt],
  [`${documents}.*.no_overlap`, overlap],
  [`${documents}.*.states`, randomStates],
  [`${documents}.*.no_overlap.**.where`, (world, path) => valuesAt(world, path) ?? {}],
  [`${documents}.*.remind.**.where`, (world, path) => valuesAt(world, path) ?? {}],
  [`${documents}.*.dropped`, ({ draw }) => ({ [`gone_${draw.below(9)}`]: { as: draw.below(9) } })],
  [`${documents}.*.set`, setFields],
  [`${documents}.*.personal`, personalFields],
  [`${documents}.*.visible`, hiddenFields],
  [`${documents}.*.views.*.guard`, (world, path) => guardOf(world, path[0] ?? "")],
  [`${documents}.*.views.*.fields`, asShaped],
  [`${documents}.*.views.*.fields.*`, toldAt],
  [`${documents}.*.views.*.*`, toldAt],
  [`${documents}.*.was`, ({ draw }, path) => `${path[1]}_${draw.below(9)}`],
  [`${documents}.*.defaults`, defaults],
  [`${documents}.*.emits.*`, emission],
  ["approved.*.in", asShaped],
  ["errors.*.context", (world) => objectType(world.draw, [])],
  ["jobs.*.in", (world) => objectType(world.draw, [])],
  ["jobs.*.was", ({ draw }, path) => `${path[1]?.split(".")[0]}.earlier_${draw.below(9)}`],
  ["job_runs.guard", (world) => guardOf(world, "job_runs")],
  [
    "audit.except.*",
    ({ draw, made }) =>
      draw.pick(["a", ...Object.keys(isMap(made["documents"]) ? made["documents"] : {})]),
  ],
  ["audit.guard", (world) => guardOf(world, "audit")],
  ["**.in|out|data", someType],
  [
    "operations|hooks.*.errors",
    ({ draw, made }) => (isMap(made["errors"]) ? draw.some(Object.keys(made["errors"]), 0, 2) : []),
  ],
  ["operations.*.guard", (world) => guardOf(world, "operations")],
  ["identity|tenancy.*.guard", administrator],
  ["identity.sign_up.profile", () => "documents_are_made_later"],
  ["webhooks.guard", (world) => guardOf(world, "webhooks")],
  ["webhooks.events.*", ({ draw, made }) => draw.pick(integrationEventsOf(made["outbox"]))],
  ["*.*.guard.*", (world, path) => guardOf(world, path[0] ?? "")],
  [
    "*.*.guard",
    (world, [first = ""]) => (world.draw.chance(60) ? guardOf(world, first) : undefined),
  ],
  [
    "outbox|realtime.events.*.was",
    ({ draw }, path) => `${path[2]?.split(".")[0]}.earlier_${draw.below(9)}`,
  ],
  ["outbox.events.*.guard", (world) => guardOf(world, "outbox")],
  ["scopes.*", reference],
  ["**.run|also|app|decide|topics|signer|verifier|resolver|mail|envelope", reference],
  ["**.destination", (world) => (world.draw.chance(40) ? reference(world) : undefined)],
  ["**.since", () => "2026-01-01"],
  ["**.sunset", () => "2026-07-01"],
  ["hooks.*.requires", ({ draw }) => (draw.chance(90) ? [] : ["authn.principal"])],
  ["**.hooks.*.*", hook],
  ["**.hooks.*.*.*", hook],
  ["operations.*.get|post|put|patch|delete", operationPath],
  ["operations.*.reply.status.*", ({ draw }) => draw.pick([200, 202, 299])],
  ["operations.*.reply.redirect.*", ({ draw }) => draw.pick([301, 303, 308])],
  ["composites.*.transaction", () => "default"],
  ["service.transaction", () => "default"],
  ["**.jwks.path", () => "/keys.json"],
  ["**.at", mountAt],
  ["**.include|idempotency|openapi_exclude.*", (world, path) => world.draw.pick(verbsAt(path))],
  ["search.*.of", searched],
  ["search.*.over.*", searchedTogether],
  ["**.facets.*", scalarAt],
  [
    "**.commands.*.operation",
    ({ draw, made }) => draw.pick(keysOf(made["operations"], "no.operation")),
  ],
  ["realtime.events.*.to", target],
];

/** What may stand at a path, or undefined where the shape says it. */
export function valueAt(world: World, path: Path): unknown {
  const found = places.find(([pattern]) => fits(pattern.split("."), path));
  return found?.[1](world, path);
}

function fits([first, ...rest]: readonly string[], path: Path): boolean {
  if (first === undefined) return path.length === 0;
  if (first === "**")
    return path.some((_key, at) => fits(rest, path.slice(at))) || rest.length === 0;
  const [key, ...further] = path;
  if (key === undefined || (first !== "*" && !first.split("|").includes(key))) return false;
  return fits(rest, further);
}

/** Names of integration events; one that is not there where there are none. */
function integrationEventsOf(outbox: unknown): readonly string[] {
  return keysOf(isMap(outbox) ? outbox["events"] : undefined, "no.event");
}

/** Keys of the map at a path. */
export function keysAt(world: World, path: Path): readonly string[] {
  const { draw, namespaces } = world;
  const [first = ""] = path;
  const dotted = (): readonly string[] => {
    const one = (): string => `${draw.pick(namespaces)}.${draw.pick(operationNames)}`;
    return [...new Set(Array.from({ length: 1 + draw.below(3) }, one))];
  };
  if (path.length === 1) {
    if (first === "types")
      return [
        ...draw.some(typeNames, 1, 4),
        ...(draw.chance(4) ? [draw.pick(takenTypeNames)] : []),
      ];
    if (first === "operations" || first === "jobs") return dotted();
    if (!families.includes(first)) return draw.some(names, 1, 2);
    const taken = families.flatMap((family) => Object.keys(section(world, family)));
    return draw.some(
      namespaces.filter((one) => !taken.includes(one) || draw.chance(2)),
      1,
      2,
    );
  }
  switch (path.at(-1)) {
    case "events":
      return dotted();
    case "routes":
    case "views":
      return draw.some(names, 1, 2);
    case "cookies":
      return draw.some(names, 1, 2);
    case "commands":
      return [`commands.${draw.pick(operationNames)}`];
    case "guard":
      return [
        ...(first === "search" ? ["read"] : ["read", "write"]),
        ...draw.some(verbsAt(path), 0, 2),
      ];
    case "emits":
      return emittable(world, path).length === 0
        ? []
        : draw.some(["create", "update", "kill"], 1, 3);
    case "hooks":
    case "deprecated":
    case "paths":
      return draw.some(verbsAt(path), 0, 2);
    case "text":
      return draw.some(fieldsAt(world, path, isText), 1, 4);
    case "from":
      return statesAt(world, path).slice(0, 1);
    default:
      throw new Error(`nothing says which keys ${path.join(".")} has`);
  }
}

/** Policies of every kind that there can be. */
function policies({ draw, made }: World): Json {
  const rate = { rate_limit: draw.pick(samples["a rate such as 100/1m"] ?? []) };
  const action = {
    authorize: draw.pick(["{resource}.read", "tasks.write"]),
    ...(draw.chance(30) ? { was: "{resource}.see" } : {}),
  };
  const hooks = keysOf(made["hooks"]);
  return {
    open: [],
    limited: [rate],
    ...(hooks.length === 0 ? {} : { hooked: [draw.pick(hooks)] }),
    ...(made["identity"] === undefined
      ? {}
      : {
          signed: ["principal", ...(draw.chance(30) ? ["session"] : [])],
          member: ["principal", "tenant", action, rate],
          platform: ["principal", { authorize: "platform.admin" }],
          ...(keysOf(made["scopes"]).length === 0
            ? {}
            : { strange: [{ scope: draw.pick(keysOf(made["scopes"])), strangers: true }] }),
          scoped: [
            "principal",
            {
              scope: draw.pick(["own_rows", ...keysOf(made["scopes"])]),
              ...(draw.chance(50) ? { override: ["admin", "{resource}.admin"] } : {}),
            },
          ],
        }),
  };
}

function guardOf(world: World, family: string): string {
  const { draw } = world;
  const isScoped = family === "documents" || family === "composites";
  const there = keysOf(world.made["policies"]).filter(
    (name) => isScoped || !["scoped", "strange"].includes(name),
  );
  return draw.below(500) > 0 ? draw.pick(there) : "missing";
}

function administrator({ draw }: World): string {
  return draw.chance(99) ? "platform" : "open";
}

function keysOf(value: unknown, otherwise?: string): readonly string[] {
  const keys = isMap(value) ? Object.keys(value) : [];
  return keys.length === 0 && otherwise !== undefined ? [otherwise] : keys;
}

/** The fields of a type as it is declared: a name, a map of fields, or a schema. */
function membersOf(world: World, type: unknown): Json {
  const body = typeof type === "string" ? section(world, "types")[type] : type;
  if (!isMap(body)) return {};
  return isMap(body["properties"]) ? body["properties"] : body;
}

function documentType(world: World, path: Path): unknown {
  const { draw, fields, typeNames: named } = world;
  const types = section(world, "types");
  const place = path.slice(0, 2).join(".");
  const free = Object.keys(types).filter(
    (type) => "title" in membersOf(world, type) && ![...named.values()].includes(type),
  );
  const carried = Object.values(eventsOf(world)).flatMap((event) =>
    isMap(event) && event["to"] !== undefined ? [event["data"]] : [],
  );
  const emittableTypes = free.filter((type) => carried.includes(type));
  const liked = emittableTypes.length > 0 ? emittableTypes : free;
  const chosen =
    liked.length > 0 && draw.chance(70)
      ? draw.pick(liked)
      : storedType(draw, objectType(draw, Object.keys(types)));
  if (typeof chosen === "string") named.set(place, chosen);
  fields.set(place, membersOf(world, chosen));
  return chosen;
}

/** A type of which rows know more than clients. */
function storedType(draw: Draw, type: Json): Json {
  if ("properties" in type) return type;
  return {
    ...type,
    ...(draw.chance(20) ? { lately: { type: "integer", former: 1 } } : {}),
    ...(draw.chance(20) ? { soon: { type: ["integer", "null"], since: "next" } } : {}),
    ...(draw.chance(20) ? { phase: { enum: ["now", { value: "then", since: "next" }] } } : {}),
  };
}

/** Whether nobody writes a field before the next version. */
function isLater(type: unknown): boolean {
  return isMap(type) && type["since"] === "next";
}

/** An input, an output, or what an event carries. */
function someType(world: World, path: Path): unknown {
  const { draw, fields } = world;
  const types = keysOf(world.made["types"]);
  const chosen = types.length > 0 && draw.chance(50) ? draw.pick(types) : anyType(draw, types);
  if (path[0] === "realtime") fields.set(path.slice(0, 3).join("."), membersOf(world, chosen));
  return chosen;
}

/** Whom a signal goes to: a member that is a UUID, or a topic with any. */
function target({ draw, fields }: World, path: Path): string {
  const members = Object.entries(fields.get(path.slice(0, 3).join(".")) ?? {});
  const uuids = members.flatMap(([name, type]) =>
    type === "uuid" || type === "uuid?" ? [name] : [],
  );
  const texts = members.flatMap(([name, type]) => (isScalar(type) ? [name] : []));
  if (uuids.length > 0 && draw.chance(50)) return `{${draw.pick(uuids)}}`;
  return texts.length > 0 ? `topic:{${draw.pick(texts)}}:end` : "all";
}

/** Events that carry the very type of a document, and say to whom. */
function emittable(world: World, path: Path): readonly string[] {
  const type = world.typeNames.get(path.slice(0, 2).join("."));
  return Object.entries(eventsOf(world)).flatMap(([name, event]) =>
    isMap(event) && event["data"] === type && event["to"] !== undefined ? [name] : [],
  );
}

/** One event, or several: by the name, or with what must have changed. */
function emission(world: World, path: Path): unknown {
  const { draw } = world;
  const one = (): unknown => {
    const event = draw.pick(emittable(world, path));
    if (path.at(-1) !== "update" || draw.chance(30)) return event;
    const fields = draw.some(
      fieldsAt(world, path, () => true),
      1,
      2,
    );
    const changed = { if_changed: draw.chance(50) ? fields : fields[0] };
    // It carries the very type of the document, and goes to whom it says.
    return draw.chance(70)
      ? { event, ...changed }
      : { event, ...chosen(world, path, event), ...changed };
  };
  return draw.chance(50) ? one() : [one()];
}

/** Every field of the document under its own name (`mend` adds those of all), to whom the event says. */
function chosen(world: World, path: Path, event: string): Json {
  const fields = fieldsAt(world, path, () => true);
  const one = eventsOf(world)[event];
  const to = isMap(one) && world.draw.chance(50) ? { to: one["to"] } : {};
  return { data: Object.fromEntries(fields.map((field) => [field, field])), ...to };
}

function eventsOf(world: World): Json {
  const { events } = section(world, "realtime");
  return isMap(events) ? events : {};
}

function searched({ draw, fields }: World, path: Path): string {
  const there = [...fields.keys()].filter((key) => /^(?:documents|composites)\./.test(key));
  if (there.length === 0) return "missing";
  const chosen = draw.pick(there);
  fields.set(path.slice(0, 2).join("."), fields.get(chosen) ?? {});
  return chosen.slice(chosen.indexOf(".") + 1);
}

function searchedTogether({ draw, fields }: World): string {
  const there = [...fields.keys()].filter((key) => key.startsWith("search."));
  return there.length === 0 ? "missing" : draw.pick(there).slice("search.".length);
}

/** Fields of what a path is about; one of any kind where it has none that are wanted. */
function fieldsAt(
  { fields }: World,
  path: Path,
  isWanted: (type: unknown) => boolean,
): readonly string[] {
  const all = Object.entries(fields.get(path.slice(0, 2).join(".")) ?? {});
  const wanted = all.flatMap(([name, type]) => (isWanted(type) ? [name] : []));
  if (wanted.length > 0) return wanted;
  return [all[0]?.[0] ?? "title"];
}

function scalarAt(world: World, path: Path): string {
  return world.draw.pick(fieldsAt(world, path, isScalar));
}

/** A field, or one that every document has. */
function toldAt(world: World, path: Path): string {
  const base = ["id", "rev", "created_at"];
  return world.draw.pick([...base, ...fieldsAt(world, path, () => true)]);
}

/** A field whose text is searched, or its weight where the path ends with the field. */
function textAt(world: World, path: Path): unknown {
  if (path.at(-1) !== "*") return world.draw.pick([1, 0.5, 10]);
  return world.draw.pick(fieldsAt(world, path, isText));
}

/** Some fields, each set to what it can have. */
function setFields(world: World, path: Path): Json {
  const { draw, fields } = world;
  const all = Object.entries(fields.get(path.slice(0, 2).join(".")) ?? {});
  const on = (): Json => (draw.chance(50) ? { on: draw.pick(["create", "write", "absent"]) } : {});
  const rules = all.flatMap(([name, type]): readonly (readonly [string, unknown])[] => {
    if (typeof type !== "string" || draw.chance(70)) return [];
    // What handlers alone write begins with something, if with null.
    if (type.endsWith("?") && draw.chance(30)) return [[name, "$handler"]];
    switch (type.replace("?", "")) {
      case "uuid":
        return [[name, draw.chance(50) ? "$caller" : { from: "$caller", ...on() }]];
      case "string":
        if (draw.chance(25)) return [[name, { $number: runningNumber(world, "{year}-{00}") }]];
        return [[name, draw.chance(50) ? reference(world) : { from: reference(world), ...on() }]];
      case "date-time":
        return [[name, { from: "$now", ...on() }]];
      case "number": {
        const other = all.find(
          ([one, kind]) => one !== name && /^(?:number|integer)\??$/.test(String(kind)),
        );
        return other === undefined ? [] : [[name, { $sum: other[0], ...on() }]];
      }
      case "integer": {
        if (draw.chance(50)) return [[name, { $number: runningNumber(world) }]];
        const list = all.find(([, other]) => typeof other === "string" && other.includes("[]"));
        return list === undefined ? [] : [[name, { $count: list[0], ...on() }]];
      }
      default:
        return [];
    }
  });
  return Object.fromEntries(rules);
}

function runningNumber({ draw }: World, format?: string): Json {
  return {
    ...(format === undefined ? {} : { format }),
    ...(draw.chance(50) ? { per: ["year"] } : {}),
    ...(draw.chance(50) ? { start: draw.pick([0, 1, 1000]) } : {}),
    ...(draw.chance(50) ? { timezone: draw.pick(["UTC", "Europe/Berlin"]) } : {}),
    ...(draw.chance(50) ? { gaps: draw.chance(50) } : {}),
  };
}

/** A field, with a value that it can have; undefined if there is none of which one is known. */
function valuesAt({ draw, fields }: World, path: Path): Json | undefined {
  const all = Object.entries(fields.get(path.slice(0, 2).join(".")) ?? {});
  const known = all.flatMap(([name, type]) => {
    const plain = typeof type === "string" ? type.replace("?", "") : "";
    const value = isChoice(type) ? type[0] : usual[plain];
    return value === undefined || Array.isArray(value) ? [] : [{ [name]: [value] }];
  });
  return known.length === 0 ? undefined : draw.pick(known);
}

/** Fields that tell of somebody: null where they can be, else what fits. */
function personalFields({ draw, fields }: World, path: Path): unknown {
  const all = Object.entries(fields.get(path.slice(0, 2).join(".")) ?? {});
  const empty = all.flatMap(([name, type]) =>
    typeof type === "string" && type.endsWith("?") ? [name] : [],
  );
  const texts = all.flatMap(([name, type]) => (type === "string" ? [[name, "somebody"]] : []));
  if (draw.chance(50)) return empty.slice(0, 2);
  return Object.fromEntries([...empty.map((name) => [name, null]), ...texts].slice(0, 2));
}

/** Fields that only some may see: none of those that a search may be of. */
function hiddenFields({ draw, fields }: World, path: Path): Json {
  const all = Object.entries(fields.get(path.slice(0, 2).join(".")) ?? {});
  const free = all.flatMap(([name, type]) =>
    typeof type === "string" && !type.startsWith("string") ? [name] : [],
  );
  return Object.fromEntries(
    free.slice(0, 2).map((name) => [name, draw.pick<unknown>(["open", ["open"]])]),
  );
}

/** A rule about two fields of one type that has an order; of what every document has if it has none. */
function overlap(world: World, path: Path): Json {
  const { draw, fields } = world;
  const all = Object.entries(fields.get(path.slice(0, 2).join(".")) ?? {});
  const plain = (type: unknown): string => (typeof type === "string" ? type.replace("?", "") : "");
  const ranges = all.flatMap(([from, type], at) =>
    ["date-time", "integer", "number"].includes(plain(type))
      ? all
          .slice(at + 1)
          .flatMap(([to, other]) => (plain(other) === plain(type) ? [[from, to]] : []))
      : [],
  );
  const where = valuesAt(world, path);
  return {
    ...(draw.chance(50) ? { per: [scalarAt(world, path)] } : {}),
    range: ranges.length === 0 ? ["created_at", "last_update_at"] : draw.pick(ranges),
    ...(where !== undefined && draw.chance(50) ? { where } : {}),
  };
}

/** The values of a field with fixed ones; of no field where there is none. */
function statesAt({ fields }: World, path: Path): readonly string[] {
  const all = Object.values(fields.get(path.slice(0, 2).join(".")) ?? {});
  return all.find(isChoice) ?? ["open"];
}

/** States of a field with fixed values, of which all are reached; of no field where there is none. */
function randomStates({ draw, fields }: World, path: Path): Json {
  const all = Object.entries(fields.get(path.slice(0, 2).join(".")) ?? {});
  const found = all.flatMap(([field, type]) => (isChoice(type) ? [{ field, values: type }] : []));
  if (found.length === 0) return { field: "", from: {} };
  const { field, values } = draw.pick(found);
  const moves = values.flatMap((value) => {
    const others = values.filter((one) => one !== value);
    if (others.length === 0) return [];
    const to = draw.some(others, 1, 2);
    const move = draw.chance(50) ? { to } : { to, by: "open" };
    return [[value, draw.pick([to, move, [move]])] as const];
  });
  return {
    field,
    initial: values,
    from: Object.fromEntries(draw.some(moves, 0, moves.length)),
  };
}

/** All fields, perhaps without some that can be left out. */
function creatable(world: World, path: Path): readonly string[] {
  const all = Object.entries(world.fields.get(path.slice(0, 2).join(".")) ?? {});
  return all.flatMap(([name, type]) =>
    isLater(type) || (typeof type === "string" && type.endsWith("?") && world.draw.chance(50))
      ? []
      : [name],
  );
}

const usual: Readonly<Record<string, unknown>> = {
  string: 'a "b"',
  integer: 1,
  number: 0.5,
  boolean: false,
  "string[]": ["a"],
};

function defaults({ draw, fields }: World, path: Path): Json {
  const all = Object.entries(fields.get(path.slice(0, 2).join(".")) ?? {});
  const given = all.flatMap(([name, type]) => {
    const value = isChoice(type) ? type[0] : usual[String(type)];
    return value === undefined || !draw.chance(50) ? [] : [[name, value] as const];
  });
  return Object.fromEntries(given);
}

function isText(type: unknown): boolean {
  if (isMap(type)) return type["type"] === "string" && type["format"] === undefined;
  return (typeof type === "string" && /^string(?:\??|\[\])$/.test(type)) || isChoice(type);
}

function isScalar(type: unknown): boolean {
  return isText(type) ? type !== "string[]" : typeof type === "string" && /^[a-z-]+\??$/.test(type);
}

function isChoice(type: unknown): type is readonly string[] {
  return Array.isArray(type) && type.every((value) => typeof value === "string");
}

/** A function that nothing else names. */
function reference({ draw, references }: World): string {
  const usualName = `${draw.pick(authorFiles)}#${draw.pick(exportNames)}`;
  let chosen = usualName;
  for (let number = 2; references.has(chosen); number += 1) chosen = `${usualName}${number}`;
  references.add(chosen);
  return chosen;
}

/** A hook of the phase that the path ends with: one of the registry's, or one by its file. */
function hook(world: World, path: Path): unknown {
  const phase = path.at(-2);
  if (path.at(-1) !== "*") return undefined;
  const declared = Object.entries(section(world, "hooks")).flatMap(([name, one]) =>
    isMap(one) && one["phase"] === phase ? [name] : [],
  );
  return declared.length > 0 && world.draw.chance(50)
    ? world.draw.pick(declared)
    : reference(world);
}

function operationPath({ draw, mounts }: World): string {
  const path = `/o${mounts.size}`;
  mounts.add(path);
  if (draw.chance(5)) return draw.pick(["", "/", "/o", "/livez"]);
  return path + draw.pick(["", "", "/", "/{id}", "/{id}/go", "/a.b/~x/{count}/{id}"]);
}

function mountAt({ draw, mounts }: World): string {
  const path = `/m${mounts.size}`;
  mounts.add(path);
  return draw.chance(90) ? path : draw.pick(["", "/", "/shared", "/shared/", "/realtime"]);
}

/** The path of a verb with the placeholders that it has otherwise. */
function overriding({ mounts }: World, path: Path): string {
  const verb = path.at(-1) ?? "";
  const own = `/p${mounts.size}`;
  mounts.add(own);
  if (["download", "head"].includes(verb) || (verb === "delete" && path[0] === "storage"))
    return `${own}/{key}`;
  const names =
    "get update kill delete restore revoke revoke_session revoke_invitation set_roles remove hand_over switch_tenant leave_tenant list_members deactivate_tenant";
  return names.split(" ").includes(verb) ? `/{id}${own}` : own;
}

/** Verbs that what a path is about may have. */
function verbsAt(path: Path): readonly string[] {
  const [first, , third] = path;
  const isAbout = (key: string): boolean => path.includes(key);
  if (isAbout("openapi_exclude")) return ["authn.logout", "authn.password_login"];
  if (first === "search") return [...verbs.search, ...verbs.joint];
  if (first === "storage") return [...verbs.storage, ...verbs.presign, ...verbs.multipart];
  if (first === "tenancy" && isAbout("members")) return verbs.members;
  if (first === "tenancy") return isAbout("admin") ? verbs.tenant_admin : verbs.tenants;
  if (first === "webhooks") return verbs.webhooks;
  if (first === "job_runs") return verbs.job_runs;
  if (first === "audit") return verbs.audit;
  if (isAbout("api_keys")) return verbs.api_keys;
  if (isAbout("provisioning")) return verbs.principals;
  if (first === "identity") return verbs.authn;
  if (third === "hooks" && path.length > 3) return [];
  if (isAbout("idempotency")) return ["create", "update", "kill"];
  return verbs.documents;
}
