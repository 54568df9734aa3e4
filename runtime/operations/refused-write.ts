// What handlers write and the type of a document refuses: the caller's fault where the caller has
// sent it, else the author's (decisions.md §4 "Writes of handlers").
import { fail, ServiceError } from "../contract/errors.js";
import { isObject, pointer } from "../contract/json-pointer.js";
import { jsonEqual, type ValidationFault } from "../contract/validation.js";

/** Objects of an input that are looked through, the outer ones first. */
const maxObjects = 2_000;

/** A payload and its fault. */
export interface Refusal {
  readonly payload: unknown;
  readonly faults: readonly ValidationFault[];
}

/** A write of a handler that was refused. To the handler it is the error that it was made of. */
export class RefusedWrite extends ServiceError {
  readonly #document: string;
  readonly #refusals: readonly Refusal[];

  constructor(document: string, refusals: readonly Refusal[], error: ServiceError) {
    const { code, definition, context } = error;
    super(code, definition, context, { cause: error });
    this.#document = document;
    this.#refusals = refusals;
  }

  /**
   * The error as an invocation with this input ends with it: as it is where all that is wrong
   * stands in the input, with the pointers of the input; else a masked one, whose cause names the
   * places.
   */
  toldOf(input: unknown): ServiceError {
    const objects = objectsOf(input);
    const told = this.#refusals.map(({ payload, faults }) =>
      faults.map((fault) => placeFault(fault, payload, objects)),
    );
    const [only] = told;
    const isOfCaller = (one: ValidationFault | null): one is ValidationFault => one !== null;
    if (!told.flat().every(isOfCaller)) return this.#masked();
    if (this.code !== "core.validation" || only === undefined) return this;
    return fail("core.validation", { errors: only });
  }

  #masked(): ServiceError {
    const faults = this.#refusals.flatMap((refusal) => refusal.faults);
    const each = faults.map(({ path, message }) => `${path === "" ? "it" : path} ${message}`);
    const text = `a handler writes what ${this.#document} do not take: ${each.join("; ")}`;
    return fail("core.internal", {}, { cause: new TypeError(text, { cause: this }) });
  }
}

/** The error with which an invocation ends. */
export function pointIntoInput(error: unknown, input: unknown): unknown {
  return error instanceof RefusedWrite ? error.toldOf(input) : error;
}

interface Placed {
  readonly at: string;
  readonly value: object;
}

/**
 * A fault where it stands in the input: in an object that was passed on, or in a member that has
 * the same name and value. Null where it does not stand there.
 */
function placeFault(
  fault: ValidationFault,
  payload: unknown,
  objects: readonly Placed[],
): ValidationFault | null {
  // That something is gone, nobody could know before.
  if (fault.keyword === "ref") return fault;
  const tokens = fault.path.split("/").slice(1);
  for (let at = 0; at <= tokens.length; at += 1) {
    const inner = valueAt(payload, tokens.slice(0, at));
    const passedOn = objects.find(({ value }) => value === inner);
    if (passedOn !== undefined)
      return { ...fault, path: [passedOn.at, ...tokens.slice(at)].join("/") };
  }
  const refused = valueAt(payload, tokens);
  if (refused === undefined) {
    // What the caller has left out of an object whose members were all passed on.
    const whole = objects.find(({ value }) => isPartOf(payload, value));
    return whole === undefined ? null : { ...fault, path: `${whole.at}${fault.path}` };
  }
  const same = objects.find(({ value }) => jsonEqual(valueAt(value, tokens), refused));
  return same === undefined ? null : { ...fault, path: `${same.at}${fault.path}` };
}

/** Whether an object has members, and another one has all of them. */
function isPartOf(payload: unknown, value: unknown): boolean {
  if (!isObject(payload) || !isObject(value)) return false;
  const members = Object.entries(payload);
  return members.length > 0 && members.every(([name, one]) => jsonEqual(value[name], one));
}

/** The objects in a value with their pointers. */
function objectsOf(input: unknown): readonly Placed[] {
  const found: Placed[] = [];
  const look = (at: string, value: unknown): void => {
    if (typeof value === "object" && value !== null && found.length < maxObjects)
      found.push({ at, value });
  };
  look("", input);
  // What is found in one is looked through behind it.
  for (const { at, value } of found)
    for (const [name, member] of Object.entries(value)) look(pointer(at, name), member);
  return found;
}

/** The value behind tokens of a pointer. */
function valueAt(value: unknown, tokens: readonly string[]): unknown {
  return tokens.reduce<unknown>((inner, token) => {
    const name = token.replaceAll("~1", "/").replaceAll("~0", "~");
    if (Array.isArray(inner)) return inner[Number(name)];
    return isObject(inner) && Object.hasOwn(inner, name) ? inner[name] : undefined;
  }, value);
}
