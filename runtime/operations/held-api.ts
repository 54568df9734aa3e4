// What authors call of an object of functions: each call is one that they have to await.
import type { ExecutionContext } from "./context.js";
import { callInTurn } from "./held-calls.js";

/**
 * The same functions, whose calls the invocation knows; `name` is what authors call the object.
 * With `inTurn`, those of one transaction run one after another.
 */
export function heldApi<Api extends object>(
  context: ExecutionContext,
  name: string,
  api: Api,
  { inTurn }: { readonly inTurn: boolean },
): Api {
  return new Proxy(api, {
    get(target, verb) {
      const member: unknown = Reflect.get(target, verb);
      if (typeof member !== "function" || typeof verb !== "string") return member;
      const work = (given: readonly unknown[]) => async (): Promise<unknown> =>
        Reflect.apply(member, target, given);
      return (...given: readonly unknown[]): Promise<unknown> =>
        inTurn
          ? callInTurn(context, `${name}.${verb}`, work(given))
          : context.call(`${name}.${verb}`, work(given));
    },
  });
}
