// Small changes of a sound value, after which it may be none any more.
import fc from "fast-check";
import type { Json } from "./open-api.js";

const others: fc.Arbitrary<Json> = fc.oneof(
  fc.constantFrom<Json[]>(
    null,
    "",
    "x",
    0,
    -1,
    1.5,
    1e308,
    2 ** 53 + 2,
    -0.1,
    true,
    false,
    [],
    {},
    [null],
    { $eq: 1 },
    "\0",
    "a\0b",
    "\ud800",
    "x".repeat(10_001),
    "2024-02-30T00:00:00Z",
    "00000000-0000-4000-8000-00000000000",
  ),
  fc.jsonValue({ maxDepth: 1 }) as fc.Arbitrary<Json>,
);

const names = fc.constantFrom(
  "unknown",
  "",
  "__proto__",
  "constructor",
  "toString",
  "hasOwnProperty",
  "$where",
  "$and",
  "id",
  "rev",
  "is_deleted",
  "owner_id",
  "tenant_id",
  "isAdmin",
  "a\0",
);

/** One change: of what is at a place, or of its members. */
type Change =
  | { readonly kind: "replace"; readonly by: Json }
  | { readonly kind: "add"; readonly name: string; readonly by: Json }
  | { readonly kind: "remove" | "repeat" | "longer" | "shorter" | "upper" | "more" | "less" };

const change: fc.Arbitrary<Change> = fc.oneof(
  { weight: 3, arbitrary: others.map((by) => ({ kind: "replace", by }) as const) },
  {
    weight: 2,
    arbitrary: fc.tuple(names, others).map(([name, by]) => ({ kind: "add", name, by }) as const),
  },
  {
    weight: 4,
    arbitrary: fc
      .constantFrom("remove", "repeat", "longer", "shorter", "upper", "more", "less")
      .map((kind) => ({ kind }) as const),
  },
);

/** Values near those of an arbitrary: each is changed in one to three places. */
export function changed(values: fc.Arbitrary<Json>): fc.Arbitrary<Json> {
  const steps = fc.array(fc.tuple(fc.nat(1_000), change), { minLength: 1, maxLength: 3 });
  return fc.tuple(values, steps).map(([value, all]) =>
    all.reduce((now, [at, one]) => {
      const places = placesOf(now);
      return changeAt(now, places[at % places.length] ?? [], one) ?? null;
    }, value),
  );
}

type Place = readonly (string | number)[];

function placesOf(value: Json, at: Place = []): readonly Place[] {
  if (typeof value !== "object" || value === null) return [at];
  const inner = Array.isArray(value)
    ? value.map((one, index) => [index, one] as const)
    : Object.entries(value);
  return [at, ...inner.flatMap(([step, one]) => placesOf(one, [...at, step]))];
}

/** The value with one place changed; undefined where that was removed. */
function changeAt(value: Json, [step, ...rest]: Place, what: Change): Json | undefined {
  if (step === undefined) return applied(value, what);
  if (Array.isArray(value))
    return value.flatMap((one, index) => {
      const now = index === step ? changeAt(one, rest, what) : one;
      return now === undefined ? [] : [now];
    });
  const entries = Object.entries(value as { [name: string]: Json }).flatMap(([name, one]) => {
    const now = name === step ? changeAt(one, rest, what) : one;
    return now === undefined ? [] : [[name, now] as const];
  });
  return Object.fromEntries(entries);
}

function applied(value: Json, what: Change): Json | undefined {
  if (what.kind === "replace") return what.by;
  if (what.kind === "remove") return undefined;
  if (Array.isArray(value)) {
    if (what.kind === "add") return [...value, what.by];
    return what.kind === "repeat" ? [...value, ...value, ...value] : value.slice(1);
  }
  if (typeof value === "object" && value !== null) {
    const name = what.kind === "add" ? what.name : "unknown";
    // A computed name, so that __proto__ is a member as any other.
    return { ...value, [name]: what.kind === "add" ? what.by : null };
  }
  if (typeof value === "string") {
    if (what.kind === "longer" || what.kind === "repeat") return `${value}${value}x`;
    if (what.kind === "upper") return value.toUpperCase();
    return what.kind === "add" ? [value] : value.slice(1);
  }
  if (typeof value === "number") {
    if (what.kind === "more") return value + 1;
    if (what.kind === "less") return value - 1;
    return what.kind === "longer" ? value + 0.5 : String(value);
  }
  return what.kind === "upper" ? String(value) : [value];
}
