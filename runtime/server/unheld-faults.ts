// Rejections that nobody handles and exceptions that nobody catches: one line of the log each, and
// the process goes on, unless our own state is in doubt (decisions.md §4 "Faults that nobody
// holds").
import { authorFrames, authorLine, isOfOurs } from "../operations/author-lines.js";
import { isGiven } from "../operations/given-errors.js";
import { describedThrown, isError } from "../operations/thrown.js";
import { underWay, type InvocationName } from "../work/under-way.js";
import type { Log } from "../ports/log.js";
import { authorCode, type AuthorCode, type CodeOf } from "./author-code.js";

/** Invocations that a line lists where more than one comes into question. */
const maxListed = 8;

/**
 * Holds them from now on; `folder` is the generated one. `drain` ends the process in order: it is
 * called once, where an exception has interrupted code of ours.
 */
export function holdFaults(log: Log, folder: string, drain: () => void): void {
  const codeOf = authorCode(folder);
  let isDraining = false;
  process.on("unhandledRejection", (reason) => {
    log.error(
      factsOf(reason, codeOf),
      "nobody handles a rejection: an await or a catch is missing",
    );
  });
  process.on("uncaughtException", (error) => {
    const isInDoubt = !isGiven(error) && isOfOurs(error);
    const then = isInDoubt ? "it has interrupted the service, which drains" : "the service goes on";
    log.error(factsOf(error, codeOf), `nobody catches an exception: ${then}`);
    if (!isInDoubt || isDraining) return;
    isDraining = true;
    drain();
  });
}

/** What a line says of a fault. */
function factsOf(fault: unknown, codeOf: CodeOf): Readonly<Record<string, unknown>> {
  const err = isError(fault) ? { err: fault } : { thrown: describedThrown(fault) };
  const at = authorLine(fault);
  return { ...invocationOf(fault, codeOf), ...(at === undefined ? {} : { at }), ...err };
}

/**
 * The one invocation that the fault can belong to, or those that come into question: whatever runs
 * the author's code.
 */
function invocationOf(fault: unknown, codeOf: CodeOf): Readonly<Record<string, unknown>> {
  const places = authorFrames(fault).map(({ file }) => file);
  const all = [...underWay.names()].map((name) => ({ name, code: codeOf(name.operation) }));
  const named = all.filter(({ code }) =>
    code?.files.some((path) => places.some((place) => place.endsWith(`/${path}`))),
  );
  const [only, other] = named;
  if (only !== undefined && other === undefined) return toldOf(only);
  // What is ours alone leaves nothing unheld of an author's.
  const possible = all.filter(({ code }) => code === undefined || code.files.length > 0);
  const listed = (named.length > 0 ? named : possible).map(toldOf);
  const operations = new Set(listed.map(({ operation }) => operation));
  const [operation] = operations;
  return {
    ...(operations.size === 1 && named.length > 0 ? { operation } : {}),
    candidates: listed.slice(0, maxListed),
  };
}

/** What a line says of an invocation: its names, and where the event goes that it delivers. */
function toldOf({
  name,
  code,
}: {
  readonly name: InvocationName;
  readonly code?: AuthorCode | undefined;
}) {
  const destination = code?.destination;
  return destination === undefined ? { ...name } : { ...name, destination };
}
