// Who calls, as the application tells it, and the credentials that go with that.
import { ApiError } from "./error.js";
import type { CallerSource, CallOptions, Client, Held } from "./options.js";

/** The current caller; null if nobody is signed in, or the client wasn't told. */
export function callerOf({ caller }: Partial<CallerSource>): string | null {
  return caller?.() || null;
}

/** Refuses work begun by a caller who is no longer signed in. */
export function anotherCaller(): ApiError {
  return new ApiError("client.aborted", "another caller signed in");
}

/**
 * Options of calls that make up one piece of work: all of them are of whoever starts it, which is
 * now.
 */
export function ofCaller<Options extends Pick<CallOptions, "caller">>(
  client: Client,
  options: Options,
): Options {
  // Only whoever is told can be held to one caller.
  const isKnown = options.caller !== undefined || client.caller === undefined;
  return isKnown ? options : { ...options, caller: callerOf(client) };
}

/** How often a caller may change while tokens are read. */
const maxChanges = 5;

/**
 * The stored tokens and their caller. If somebody signs in meanwhile, both are read again. Work
 * that one caller has begun (`begun`) never gets another's tokens.
 */
export async function heldBy(client: Client, begun?: string | null): Promise<Held> {
  for (let changes = 0; changes < maxChanges; changes += 1) {
    const caller = callerOf(client);
    if (begun !== undefined && caller !== begun) break;
    const tokens = (await client.tokens?.get()) ?? null;
    if (callerOf(client) === caller) return { tokens, caller };
  }
  throw anotherCaller();
}
