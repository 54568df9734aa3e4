// Values that are kept and read later, possibly by another version: signals, events, inputs of
// jobs, answers under idempotency keys. As rows do, they know the shape in which they were kept
// (decisions.md "What is stored knows its shape and its name").
import { createHash } from "node:crypto";
import { baseFields } from "../contract/fields.js";
import { broughtUp, shapeNumber } from "../contract/shapes.js";
import { asDeclared, asStored, isStoredAsDeclared } from "../contract/stored-members.js";
import type { AnyDocumentSpec } from "../ports/document-spec.js";

type Members = Readonly<Record<string, unknown>>;

/** What this version declares of an object that it keeps. */
export interface KeptObject {
  /** Members that it may have, in order; null if it may have any. */
  readonly members: readonly string[] | null;
  /** What members consist of, if they may have members themselves. */
  readonly within?: Readonly<Record<string, KeptPart>>;
  /** What members without a name of their own consist of. */
  readonly others?: KeptPart;
  /** Values of members that an older version has not kept. */
  readonly defaults?: Members;
  /** The documents that it is one of: its members are kept under their names in rows. */
  readonly document?: () => AnyDocumentSpec;
}

/** The structure of a kept value: a type by its name, a list, a union of objects, an object. */
export type KeptPart = string | { readonly items: KeptPart } | KeptUnion | KeptObject;

/** Objects that are told apart by values of their members; what fits none stays as it is. */
export interface KeptUnion {
  readonly either: readonly {
    readonly is: Readonly<Record<string, readonly unknown[]>>;
    readonly part: KeptPart;
  }[];
}

type KeptTypes = Readonly<Record<string, KeptObject>>;

/** The kept values of a service, by their use; printed by the generator. */
export interface KeptDeclaration {
  /** Answers under idempotency keys, by operation. */
  readonly answers?: Readonly<Record<string, KeptPart>>;
  /** Integration events, by name. */
  readonly events?: Readonly<Record<string, KeptPart>>;
  /** Durable signals, by name. */
  readonly signals?: Readonly<Record<string, KeptPart>>;
  /** Inputs of jobs, by name. */
  readonly inputs?: Readonly<Record<string, KeptPart>>;
  readonly types: KeptTypes;
}

/** How one kind of value is kept and told. */
export interface KeptForm {
  /** The shape in which this version keeps it. It is stored with each value. */
  readonly shape: string;
  /** The stored form of the JSON text of a value. */
  stored(text: string): string;
  /** The JSON text of a value that was stored in a shape; null stands for an unknown one. */
  told(text: string, shape: string | null): string;
  /** The form of answers that it is a document of (`AnyDocumentSpec.form`); null if it is none. */
  readonly form: number | null;
}

/** All forms of a service, by their use. */
export type KeptForms = Readonly<
  Record<"answers" | "events" | "signals" | "inputs", (name: string) => KeptForm>
>;

/** How values are kept whose members nobody has declared: as they are. */
const plain: KeptForm = {
  shape: "",
  stored: (text) => text,
  told: (text) => text,
  form: null,
};

/** Declares the kept values of a service. */
export function keptForms({ types, ...kept }: KeptDeclaration): KeptForms {
  const formsOf = (parts: Readonly<Record<string, KeptPart>> = {}) => {
    const forms = new Map<string, KeptForm>();
    return (name: string): KeptForm => {
      const known = forms.get(name);
      if (known !== undefined) return known;
      const part = Object.hasOwn(parts, name) ? parts[name] : undefined;
      const form = part === undefined ? plain : keptForm(types, part);
      forms.set(name, form);
      return form;
    };
  };
  return {
    answers: formsOf(kept.answers),
    events: formsOf(kept.events),
    signals: formsOf(kept.signals),
    inputs: formsOf(kept.inputs),
  };
}

/** The forms of a service that keeps nothing with declared members. */
export const nothingKept: KeptForms = keptForms({ types: {} });

function keptForm(types: KeptTypes, part: KeptPart): KeptForm {
  const reached = reachedBy(types, part);
  const documents = [...reached.values()].flatMap(({ document }) => document?.() ?? []);
  const shape = shapeOf(part, reached, documents);
  const isAsDeclared = documents.every((spec) => isStoredAsDeclared(spec.shape));
  const whole = typeof part === "string" ? types[part]?.document?.() : undefined;
  return {
    shape,
    form: whole === undefined || whole.view !== undefined ? null : (whole.form ?? 1),
    stored(text) {
      return isAsDeclared ? text : JSON.stringify(asKept(types, part, JSON.parse(text)));
    },
    told(text, from) {
      if (from === shape && isAsDeclared) return text;
      const numbers = numbersIn(from);
      return JSON.stringify(asTold({ types, numbers }, part, JSON.parse(text)));
    },
  };
}

/** The objects that a part consists of, by the names of their types. */
function reachedBy(types: KeptTypes, whole: KeptPart): ReadonlyMap<string, KeptObject> {
  const reached = new Map<string, KeptObject>();
  const visit = (part: KeptPart): void => {
    if (typeof part === "string") {
      const type = types[part];
      if (type === undefined || reached.has(part)) return;
      reached.set(part, type);
      return visit(type);
    }
    if ("items" in part) return visit(part.items);
    if ("either" in part) return part.either.forEach((option) => visit(option.part));
    for (const inner of Object.values(part.within ?? {})) visit(inner);
    if (part.others !== undefined) visit(part.others);
  };
  visit(whole);
  return reached;
}

/** A hash of what is declared, and the numbers of the shapes of documents: `8e1f… tasks:3`. */
function shapeOf(
  part: KeptPart,
  reached: ReadonlyMap<string, KeptObject>,
  documents: readonly AnyDocumentSpec[],
): string {
  // Functions are left out.
  const declared = JSON.stringify([part, [...reached].sort()]);
  const hash = createHash("sha256").update(declared).digest("hex").slice(0, 16);
  const numbers = documents.map(({ table, shape }) => `${table}:${shapeNumber(shape)}`);
  return [hash, ...new Set(numbers.sort())].join(" ");
}

function numbersIn(shape: string | null): ReadonlyMap<string, number> {
  const numbers = (shape ?? "").split(" ").slice(1);
  return new Map(
    numbers.map((text) => {
      const at = text.lastIndexOf(":");
      return [text.slice(0, at), Number(text.slice(at + 1))];
    }),
  );
}

/**
 * What reading a kept value needs: the types, and the shapes of documents in which it was kept, by
 * table.
 */
interface Reading {
  readonly types: KeptTypes;
  readonly numbers: ReadonlyMap<string, number>;
}

/** What becomes of each object of a value: before its members are looked into, and afterwards. */
interface Visit {
  readonly enter?: (declared: KeptObject, members: Members) => Members;
  readonly leave?: (declared: KeptObject, members: Members) => Members;
}

const asItIs = (_declared: KeptObject, members: Members): Members => members;

/** A value, with each object changed that is declared. */
function mapObjects(types: KeptTypes, part: KeptPart, value: unknown, visit: Visit): unknown {
  const within = (inner: KeptPart | undefined, one: unknown): unknown =>
    inner === undefined ? one : mapObjects(types, inner, one, visit);
  if (typeof value !== "object" || value === null) return value;
  const declared = typeof part === "string" ? types[part] : part;
  if (declared === undefined) return value;
  if ("items" in declared)
    return Array.isArray(value) ? value.map((item) => within(declared.items, item)) : value;
  if (Array.isArray(value)) return value;
  const members = value as Members;
  if ("either" in declared)
    return within(declared.either.find(({ is }) => fits(members, is))?.part, value);
  const { enter = asItIs, leave = asItIs } = visit;
  const mapped = Object.entries(enter(declared, members)).map(([name, member]) => [
    name,
    within(own(declared.within, name) ?? declared.others, member),
  ]);
  return leave(declared, Object.fromEntries(mapped) as Members);
}

function fits(members: Members, is: Readonly<Record<string, readonly unknown[]>>): boolean {
  return Object.entries(is).every(([name, values]) => values.includes(own(members, name)));
}

function own<T>(record: Readonly<Record<string, T>> | undefined, name: string): T | undefined {
  return record !== undefined && Object.hasOwn(record, name) ? record[name] : undefined;
}

/**
 * A value as rows would have it: under first names, and with what is kept for the version before.
 */
function asKept(types: KeptTypes, part: KeptPart, value: unknown): unknown {
  return mapObjects(types, part, value, {
    leave({ document }, members) {
      if (document === undefined) return members;
      const { shape } = document();
      return { ...shape.kept, ...asStored(shape, members) };
    },
  });
}

function asTold({ types, numbers }: Reading, part: KeptPart, value: unknown): unknown {
  return mapObjects(types, part, value, {
    enter(declared, members) {
      const spec = declared.document?.();
      const renewed = spec === undefined ? members : renewedDocument(spec, numbers, members);
      return declaredOf(declared, spec?.defaults, renewed);
    },
  });
}

/** Members of documents that are no part of their bodies. */
const columnNames: readonly string[] = [...Object.keys(baseFields), "is_deleted"];

/** A document that was kept in another shape, under its names of today. */
function renewedDocument(
  { table, shape, converters }: AnyDocumentSpec,
  numbers: ReadonlyMap<string, number>,
  members: Members,
): Members {
  const number = shapeNumber(shape);
  const from = numbers.get(table) ?? number;
  if (from >= number) return asDeclared(shape, members);
  const columns = Object.entries(members).filter(([name]) => columnNames.includes(name));
  const body = broughtUp(shape, from, members, converters);
  return { ...Object.fromEntries(columns), ...asDeclared(shape, body) };
}

/** The members that are declared, with the defaults of those that are missing. */
function declaredOf(
  { members: names, defaults = {} }: KeptObject,
  ofDocument: Members = {},
  members: Members,
): Members {
  const known = { ...ofDocument, ...defaults, ...members };
  if (names === null) return { ...defaults, ...members };
  return Object.fromEntries(
    names.filter((name) => Object.hasOwn(known, name)).map((name) => [name, known[name]]),
  );
}
