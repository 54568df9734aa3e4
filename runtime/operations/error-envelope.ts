// The bodies of errors: opwright's envelope, or one that a function of the author's returns for
// each error.
import { toEnvelope, type ErrorEnvelope, type ServiceError } from "../contract/errors.js";
import type { Log } from "../ports/log.js";
import type { Answer } from "./answer.js";
import { JsonText } from "./json-text.js";

/** An error as the caller may know it, whoever threw it: what is internal has been masked. */
export interface ToldError extends ErrorEnvelope {
  readonly status: number;
}

/**
 * Returns the body of an error. It is called for every error over HTTP, and must depend on its
 * argument only.
 */
export type ErrorShape<Body> = (error: ToldError) => Body;

/** The body of an error as JSON text. */
export type PrintError = (error: ServiceError) => string;

/** Opwright's own. */
export const usualEnvelope: PrintError = (error) => JSON.stringify(toEnvelope(error));

/** The bodies that `shape` makes, cut to what the registry declares of them and checked. */
export function errorEnvelope<Body>(body: Answer<Body>, shape: ErrorShape<Body>): PrintError {
  return (error) => {
    const answer = body(shape({ status: error.status, ...toEnvelope(error) }));
    return answer instanceof JsonText ? answer.text : JSON.stringify(answer);
  };
}

/**
 * The body as text: if the author's envelope fails, the log says so and the answer has opwright's
 * envelope.
 */
export function reliably(print: PrintError, log: Log): PrintError {
  return (error) => {
    try {
      return print(error);
    } catch (cause) {
      log.error({ err: cause, code: error.code }, "the envelope of an error could not be made");
      return usualEnvelope(error);
    }
  };
}
