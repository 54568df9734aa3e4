// Rejections that nobody handles and exceptions that nobody catches: one line of the log each, and the process goes on, unless
// our own state is in doubt (decisions.md §4 "Faults that nobody holds").
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { authorFrames, authorLine, isOfOurs } from "../operations/author-lines.js";
import { isGiven } from "../operations/given-errors.js";
import { describedThrown, isError } from "../operations/thrown.js";
import { underWay, type InvocationName } from "../operations/under-way.js";
import type { Log } from "../ports/log.js";

/** Invocations that a line lists where more than one comes into question. */
const maxListed = 8;

/**
 * Holds them from now on; `folder` is the generated one. `drain` ends the process in order: it is called once, where an
 * exception has interrupted code of ours.
 */
export function holdFaults(log: Log, folder: string, drain: () => void): void {
  const files = filesOf(folder);
  let isDraining = false;
  process.on("unhandledRejection", (reason) => {
    log.error(factsOf(reason, files), "nobody handles a rejection: an await or a catch is missing");
  });
  process.on("uncaughtException", (error) => {
    const isInDoubt = !isGiven(error) && isOfOurs(error);
    const then = isInDoubt ? "it has interrupted the service, which drains" : "the service goes on";
    log.error(factsOf(error, files), `nobody catches an exception: ${then}`);
    if (!isInDoubt || isDraining) return;
    isDraining = true;
    drain();
  });
}

/** What a line says of a fault. */
function factsOf(fault: unknown, files: FilesOf): Readonly<Record<string, unknown>> {
  const err = isError(fault) ? { err: fault } : { thrown: describedThrown(fault) };
  const at = authorLine(fault);
  return { ...invocationOf(fault, files), ...(at === undefined ? {} : { at }), ...err };
}

/** The one invocation that the fault can belong to, or those that come into question. */
function invocationOf(fault: unknown, files: FilesOf): Readonly<Record<string, unknown>> {
  const places = authorFrames(fault).map(({ file }) => file);
  const all = [...underWay.names()];
  const named = all.filter(({ operation }) =>
    files(operation).some((path) => places.some((place) => place.endsWith(`/${path}`))),
  );
  const [only, other] = named;
  if (only !== undefined && other === undefined) return { ...only };
  const listed: readonly InvocationName[] = named.length > 0 ? named : all;
  const operations = new Set(listed.map(({ operation }) => operation));
  const [operation] = operations;
  return {
    ...(operations.size === 1 && named.length > 0 ? { operation } : {}),
    candidates: listed.slice(0, maxListed),
  };
}

/** The author's files that an operation names. */
type FilesOf = (operation: string) => readonly string[];

/** Reads the frozen registry when it is first asked. Where it was not deployed, nobody knows. */
function filesOf(folder: string): FilesOf {
  let operations: Readonly<Record<string, unknown>> | undefined;
  const read = (): Readonly<Record<string, unknown>> => {
    try {
      const text = readFileSync(join(folder, "registry.json"), "utf8");
      return (JSON.parse(text) as { readonly operations: Readonly<Record<string, unknown>> })
        .operations;
    } catch {
      return {};
    }
  };
  return (operation) => {
    operations ??= read();
    const text = JSON.stringify(operations[operation] ?? null);
    return [...text.matchAll(/"([^"\\]+\.[cm]?[jt]s)(?:#\w+)?"/g)].map(([, path = ""]) => path);
  };
}
