// Answers of authors' code: cut to what the operation declares, checked, and printed once
// (service.md "Answers of the team's code").
import { validator, type CompiledValidator, type ValidationFault } from "../contract/validation.js";
import { ByteReply } from "./byte-reply.js";
import { JsonText, type Output } from "./json-text.js";
import type { Cut } from "./plain-json.js";
import { unprintable } from "./unprintable.js";

/**
 * Turns what an author's code returned into what is sent. Throws `UndeclaredAnswer` if it doesn't
 * match the declaration.
 */
export interface Answer<T> {
  (output: unknown): Output<T>;
}

/**
 * An answer that doesn't match its operation's declaration: a masked 500, and a line in the log
 * that names the place.
 */
export class UndeclaredAnswer extends Error {
  readonly faults: readonly ValidationFault[];

  constructor(
    faults: readonly ValidationFault[],
    options?: ErrorOptions,
    what = "the answer is not what `out` declares",
  ) {
    const each = faults.map(({ path, message }) => `${path === "" ? "it" : path} ${message}`);
    super(`${what}: ${each.join("; ")}`, options);
    this.name = "UndeclaredAnswer";
    this.faults = faults;
  }
}

/** How many faults of an answer the log names. */
const maxFaults = 8;

/** An answer of a declared type: `copy` takes the declared members, `check` proves them. */
export function answer<T>(copy: Cut, check: CompiledValidator): Answer<T> {
  const faultsOf = validator<T>(check, maxFaults);
  return (output) => {
    const value = valueOf(output);
    const kept = copyDeclared(copy, value);
    const faults = faultsOf(kept);
    if (faults !== null) throw new UndeclaredAnswer(faults);
    try {
      return new JsonText<T>(JSON.stringify(kept));
    } catch (cause) {
      throw new UndeclaredAnswer([unprintable(value)], { cause });
    }
  };
}

/** The context of an error of the registry, which has a declared type: as `answer`, but a value. */
export function errorContext<T>(copy: Cut, check: CompiledValidator): (context: unknown) => T {
  const held = heldValue<T>(copy, check);
  return (context) => held(context, "the context of an error is not what `errors` declares");
}

/** The data of an integration event, given its name: as `answer`, but a value. */
export function eventData<T>(
  copy: Cut,
  check: CompiledValidator,
): (data: unknown, event: string) => T {
  const held = heldValue<T>(copy, check);
  return (data, event) => held(data, `the data of ${event} is not what \`outbox\` declares`);
}

/** The input of a job, given its name: as `answer`, but a value. */
export function jobInput<T>(
  copy: Cut,
  check: CompiledValidator,
): (input: unknown, job: string) => T {
  const held = heldValue<T>(copy, check);
  return (input, job) => held(input, `the input of ${job} is not what \`jobs\` declares`);
}

function heldValue<T>(copy: Cut, check: CompiledValidator): (value: unknown, what: string) => T {
  const faultsOf = validator<T>(check, maxFaults);
  return (value, what) => {
    const kept = copyDeclared(copy, value, what);
    const faults = faultsOf(kept);
    if (faults !== null) throw new UndeclaredAnswer(faults, {}, what);
    // The check has just proven the type.
    return kept as T;
  };
}

/** The declared members of a value. Throws `UndeclaredAnswer` for one that JSON can't print. */
function copyDeclared(copy: Cut, value: unknown, what?: string): unknown {
  try {
    return copy(value);
  } catch (cause) {
    throw new UndeclaredAnswer([unprintable(value)], { cause }, what);
  }
}

/**
 * What was answered as a value: text of JSON is read, and its entity tag, which is not declared, is
 * left.
 */
function valueOf(output: unknown): unknown {
  if (output instanceof ByteReply) return refuseBytes(output);
  if (!(output instanceof JsonText)) return output;
  try {
    return output.parse() as unknown;
  } catch (cause) {
    throw new UndeclaredAnswer([whole("is text that is not JSON")], { cause });
  }
}

function refuseBytes({ body }: ByteReply): never {
  body?.destroy();
  throw new UndeclaredAnswer([whole("is bytes")]);
}

function whole(message: string): ValidationFault {
  return { path: "", keyword: "type", message };
}

/** The answer of an operation without `out`: whatever the handler returns, no body is sent. */
export const noAnswer: Answer<unknown> = (output) => {
  if (output instanceof ByteReply) output.body?.destroy();
  return undefined;
};

/** The answer of an operation that sends bytes. */
export const byteAnswer: Answer<ByteReply> = (output) => {
  if (output instanceof ByteReply) return output;
  throw new UndeclaredAnswer([whole("must be bytes")]);
};
