// Answers of an author's code: its handlers, and its hooks around operations of any family.
import type { Answer } from "./answer.js";
import type { HookFunctions } from "./hooks.js";
import { JsonText } from "./json-text.js";
import type { Handler } from "./operation.js";
import { isPending } from "../work/pending.js";

/** A handler whose answers are cut and checked before hooks, stores and callers see them. */
export function checkAnswers<Input, T>(
  declared: Answer<T>,
  run: Handler<Input, NoInfer<T>>,
): Handler<Input, T> {
  const handler: Handler<Input, T> = (input, context) => {
    const output = run(input, context);
    return isPending(output) ? Promise.resolve(output).then(declared) : declared(output);
  };
  return nameAfter(handler, run);
}

/** A function around an author's own goes by the name of that in messages. */
export function nameAfter<Run extends object>(
  around: Run,
  { name }: { readonly name: string },
): Run {
  return Object.defineProperty(around, "name", { value: name });
}

// oxlint-disable-next-line typescript/no-explicit-any -- it goes around operations of any type, and keeps that of its function
type Around = HookFunctions<any, any>["wrap"];

/**
 * A `wrap` hook: an answer that it passes on unchanged was checked before, any other is checked
 * now.
 */
export function checkAnswersAround<Run extends Around>(declared: Answer<unknown>, run: Run): Run {
  const around: Around = async (input, context, next) => {
    let passed: unknown;
    let text: string | undefined;
    const output: unknown = await run(input, context, async (given) => {
      const inner: unknown = await next(given);
      passed = inner;
      text = inner instanceof JsonText ? inner.text : undefined;
      return inner;
    });
    const isUntouched = output instanceof JsonText && output === passed && output.text === text;
    return isUntouched ? output : declared(output);
  };
  // It has the parameters and the result of the function.
  return nameAfter(around, run) as Run;
}
