// Members that the service sets itself: from the caller, the clock, or the rest of the document.
import { decimalSum } from "../contract/exact-number.js";

type Body = Readonly<Record<string, unknown>>;

/** Who writes, and when. */
export interface Writer {
  /** The principal that writes, or null. */
  readonly caller: string | null;
  /** The id of the caller's profile, or null. */
  readonly profile: string | null;
  /** RFC 3339, UTC, milliseconds. */
  readonly now: string;
}

/** What values are computed from. */
export interface Setting extends Writer {
  /** The document without the members that are made of it. */
  readonly document: Body;
  /** Members that are made of it and have been made by now, for sums and counts. */
  readonly made: Body;
}

/** A value that the service sets. */
export type SetValue = (setting: Setting) => unknown;

/** When a member is set: with each creation, or only with one that leaves it out; or always. */
type SetOccasion = "create" | "absent" | "write";

/** What functions of the author's that set members get beside the document. */
export interface SetMoment {
  /** When the document is written: RFC 3339, UTC, milliseconds. */
  readonly now: string;
}

/** A member that the service sets. */
export interface SetRule {
  readonly member: string;
  readonly on: SetOccasion;
  /**
   * Rules that are made of the document come last. A profile is the caller's document of the type
   * that the member refers to.
   */
  readonly madeOf: "writer" | "profile" | "document";
  readonly value: SetValue;
}

/** Makers of rules, as generated documents name them. */
export const setting = {
  caller: (member: string, on: SetRule["on"]): SetRule => ({
    member,
    on,
    madeOf: "writer",
    value: ({ caller }) => caller,
  }),

  profile: (member: string, on: SetRule["on"]): SetRule => ({
    member,
    on,
    madeOf: "profile",
    value: ({ profile }) => profile,
  }),

  now: (member: string, on: SetRule["on"]): SetRule => ({
    member,
    on,
    madeOf: "writer",
    value: ({ now }) => now,
  }),

  /**
   * What a pure function of the author returns for the document. It is named when it is called:
   * the module that has it may import the spec that this rule is of.
   */
  by: <Document>(
    member: string,
    on: SetRule["on"],
    name: () => (document: Document, moment: SetMoment) => unknown,
  ): SetRule => ({
    member,
    on,
    madeOf: "document",
    // Generated code, which names the function, checks that it takes the document's type.
    value: ({ document, now }) => name()(document as Document, { now }),
  }),

  /**
   * The exact sum of the decimals at some paths; `lines[].price` goes through an array. Absent
   * numbers count as 0.
   */
  sum: (member: string, on: SetRule["on"], paths: readonly string[]): SetRule => ({
    member,
    on,
    madeOf: "document",
    value: ({ document, made }) =>
      decimalSum(
        paths
          .flatMap((path) => valuesAt({ ...document, ...made }, path.split(".")))
          .filter((value) => typeof value === "number"),
      ),
  }),

  /** How many elements an array has; 0 if it is absent. */
  count: (member: string, on: SetRule["on"], path: string): SetRule => ({
    member,
    on,
    madeOf: "document",
    value: ({ document, made }) =>
      valuesAt({ ...document, ...made }, `${path}[]`.split(".")).length,
  }),
};

function valuesAt(value: unknown, steps: readonly string[]): readonly unknown[] {
  const [step, ...rest] = steps;
  if (step === undefined) return [value];
  if (typeof value !== "object" || value === null) return [];
  const isList = step.endsWith("[]");
  const inner = (value as Body)[isList ? step.slice(0, -2) : step];
  if (!isList) return valuesAt(inner, rest);
  return Array.isArray(inner) ? inner.flatMap((one: unknown) => valuesAt(one, rest)) : [];
}
