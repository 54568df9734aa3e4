// What handlers, and lists of many, write with: held to what callers may send.
import { fail, ServiceError, type ErrorEnvelope } from "../../contract/errors.js";
import { serviceFields } from "../../contract/fields.js";
import { isObject, pointer } from "../../contract/json-pointer.js";
import type { ValidationFault, Validator } from "../../contract/validation.js";
import { RefusedWrite } from "../../operations/refused-write.js";
import type { AnyDocumentSpec } from "../../ports/document-spec.js";
import { plainPayload } from "../../operations/plain-json.js";

/**
 * What a handler passes on, as JSON has it: held to what callers may send, and without what only
 * the service sets. Throws `core.validation` with the pointers.
 */
export function checkedPayload(
  payload: unknown,
  validate: Validator<unknown> | undefined,
  isOfService: (name: string) => boolean = () => true,
): Readonly<Record<string, unknown>> {
  // The stored value is checked: a copy, without undefined members.
  const given = plainPayload(payload);
  if (!isObject(given)) throw invalid([{ path: "", keyword: "type", message: "must be object" }]);
  const taken = serviceFields.filter((name) => Object.hasOwn(given, name) && isOfService(name));
  if (taken.length > 0)
    throw invalid(
      taken.map((name) => ({
        path: pointer("", name),
        keyword: "readOnly",
        message: "is set by the service",
      })),
    );
  const faults = validate?.(given) ?? null;
  if (faults !== null) throw invalid(faults);
  return given;
}

/** As `checkedPayload`, what a document is made of: with its id, where that may be chosen. */
export function createPayload(
  { validateCreate, takesIds }: AnyDocumentSpec,
  payload: unknown,
): Readonly<Record<string, unknown>> {
  return checkedPayload(payload, validateCreate, (name) => takesIds !== true || name !== "id");
}

/** Marks the refusal of a handler's payload as such; see `RefusedWrite`. */
export async function heldTo<T>(
  { name }: AnyDocumentSpec,
  payload: unknown,
  write: () => Promise<T>,
): Promise<T> {
  try {
    return await write();
  } catch (error) {
    if (!(error instanceof ServiceError) || error.code !== "core.validation") throw error;
    throw new RefusedWrite(name, [{ payload, faults: faultsOf(error.context) }], error);
  }
}

/** The same of many payloads, in their order. */
export async function allHeldTo<T>(
  { name }: AnyDocumentSpec,
  payloads: readonly unknown[],
  write: () => Promise<T>,
): Promise<T> {
  try {
    return await write();
  } catch (error) {
    if (!(error instanceof ServiceError) || error.code !== "bulk_refused") throw error;
    // `allWritten` has put them together.
    const refused = error.context["errors"] as readonly RefusedItem[];
    const refusals = refused
      .filter(({ code }) => code === "core.validation")
      .map(({ item, context }) => ({ payload: payloads[item], faults: faultsOf(context) }));
    throw refusals.length === 0 ? error : new RefusedWrite(name, refusals, error);
  }
}

interface RefusedItem extends ErrorEnvelope {
  readonly item: number;
}

/** What `core.validation` tells. */
function faultsOf({ errors }: Readonly<Record<string, unknown>>): readonly ValidationFault[] {
  return errors as readonly ValidationFault[];
}

const written = new WeakMap<AnyDocumentSpec, AnyDocumentSpec>();

/**
 * A spec by which handlers write: their payloads may have what no caller's has, and what the caller
 * may not see. The former is checked with the whole body.
 */
export function ofHandlers<Spec extends AnyDocumentSpec>(spec: Spec): Spec {
  const { handled = [], visible, validateCreate, validatePatch } = spec;
  if (handled.length === 0 && visible === undefined) return spec;
  const without =
    (validate: Validator<unknown>): Validator<unknown> =>
    (given) =>
      validate(
        isObject(given)
          ? Object.fromEntries(Object.entries(given).filter(([name]) => !handled.includes(name)))
          : given,
      );
  const known = written.get(spec) ?? {
    ...spec,
    isOfHandlers: true,
    ...(validateCreate === undefined ? {} : { validateCreate: without(validateCreate) }),
    ...(validatePatch === undefined ? {} : { validatePatch: without(validatePatch) }),
  };
  written.set(spec, known);
  // It is the same spec but for its validators.
  return known as Spec;
}

function invalid(faults: readonly ValidationFault[]): ServiceError {
  return fail("core.validation", { errors: faults });
}
