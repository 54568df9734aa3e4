// The changes of which pairs of versions are drawn: those with a name, and those of any key of the format.
import { NothingToPick, type Draw } from "../registries/draw.js";
import { withValue, type Json } from "./base.js";
import { made } from "./draws.js";
import { changedAt, formatKeys, type Key } from "./keys.js";
import { memberChanges, type Change } from "./members.js";
import { nameChanges } from "./names.js";

/** A change that can be made again: what it is, and the seed of its choices. */
export interface DrawnChange {
  readonly kind: string;
  readonly seed: number;
}

/** Several keys at once, where one alone is never accepted. */
const together: Readonly<Record<string, Change>> = {
  "identity.reset": (registry) => ofOutbox(registry, ["identity", "reset"], { events: "outbox" }),
  "identity.reset.ttl": (registry) =>
    ofOutbox(registry, ["identity", "reset"], { events: "outbox", ttl: "5m" }),
  "identity.sign_up": (registry) =>
    withValue(registry, ["identity", "sign_up"], { verify: "none" }),
  "service.errors": ownErrors,
  "service.errors.envelope": ownErrors,
  "service.errors.out": ownErrors,
};

function ownErrors(registry: Json): Json {
  const errors = { envelope: "registry/handlers.ts#envelope", out: { code: "string" } };
  return withValue(registry, ["service", "errors"], errors);
}

function ofOutbox(registry: Json, path: readonly string[], value: Json): Json {
  const event = ["outbox", "events", "authn.password_reset_requested"];
  return withValue(withValue(registry, path, value), event, { destination: "mail" });
}

/** Keys that are not changed by themselves, and why. */
export const unchanged: readonly (readonly [key: RegExp, why: string])[] = [
  [/^approved/, "says nothing of a service: `diff` reads it"],
  [/^composites/, "a composite is a document, a search and a storage, whose keys are changed"],
  [/^identity\.signing(?:$|\.signer)/, "an external signer has keys that nobody has here"],
  [/^identity\.(?:routes|verifier|resolver|route)/, "the tokens of the test are the service's own"],
  [/^identity\.sign_up\.profile/, "a profile has one document for each caller"],
  [/^documents\.\*\.dropped/, "it names a field that is dropped: dropped-fields.test.ts"],
  [/^documents\.\*\.(?:type|set)/, "changed by name: members.ts, names.ts"],
  [/^operations\.\*\.(?:in|out)$/, "changed by name: names.ts"],
  [/^operations\.\*\.run$/, "what a handler does is not declared"],
  [/^operations\.\*\.(?:get|put|patch|delete|reply|headers|status)/, "nothing that is stored"],
  [/\.\*\.was$/, "changed by name, with what is called so: names.ts"],
  [/^(?:outbox|realtime)\.events\.\*\.data/, "changed by name: names.ts"],
];

/** Sections as a whole, and maps of what has a name: their entries come and go by name. */
const isNamedEntries = (key: Key): boolean =>
  /^(?:documents|search|storage|operations|types|outbox|outbox\.events|realtime\.events|identity|tenancy|policies|service)$/.test(
    key.join("."),
  );

export const changedKeys: readonly Key[] = formatKeys.filter(
  (key) => !isNamedEntries(key) && !unchanged.some(([pattern]) => pattern.test(key.join("."))),
);

const named: Readonly<Record<string, Change>> = { ...memberChanges, ...nameChanges };

const keyChanges: Readonly<Record<string, Change>> = Object.fromEntries(
  changedKeys.map((key) => [
    key.join("."),
    together[key.join(".")] ?? ((registry, draw) => changedAt(registry, key, draw)),
  ]),
);

const all: Readonly<Record<string, Change>> = { ...keyChanges, ...named };

/** A change: half of them are changes with a name, since most of what is stored depends on those. */
export function drawnChange(draw: Draw): DrawnChange {
  const kinds = Object.keys(draw.chance(60) ? named : keyChanges);
  return { kind: draw.pick(kinds), seed: draw.below(2 ** 30) };
}

/** A registry after some changes; undefined where one of them can't be made. */
export function changed(registry: Json, changes: readonly DrawnChange[]): Json | undefined {
  return changes.reduce<Json | undefined>((now, { kind, seed }) => {
    const change = all[kind];
    if (change === undefined) throw new Error(`there is no change ${kind}`);
    return now === undefined ? undefined : made(seed, (draw) => applied(change, now, draw));
  }, registry);
}

/** What a change makes of a registry; undefined where there is nothing that it could change. */
function applied(change: Change, registry: Json, draw: Draw): Json | undefined {
  try {
    return change(registry, draw);
  } catch (error) {
    if (error instanceof NothingToPick) return undefined;
    throw error;
  }
}
