// The author's code that an operation or a delivery may run, by the frozen registry: who finds a
// fault asks whose it can be.
import { readFileSync } from "node:fs";
import { join } from "node:path";

/** What something runs that is under way. */
export interface AuthorCode {
  /** The author's files that it names. */
  readonly files: readonly string[];
  /** Where an event goes; absent for operations. */
  readonly destination?: string;
}

/** The author's code of an invocation by its name; undefined if nobody knows. */
export type CodeOf = (name: string) => AuthorCode | undefined;

/** What is read of the frozen registry. */
interface Registry {
  readonly operations: Named;
  readonly hooks?: Named;
  readonly documents?: Named;
  readonly outbox?: Named | null;
  readonly identity?: unknown;
  readonly mail?: unknown;
  readonly realtime?: unknown;
}

type Named = Readonly<Record<string, unknown>>;

/**
 * Reads the registry of a generated folder when it is first asked. Where it was not deployed,
 * nobody knows.
 */
export function authorCode(folder: string): CodeOf {
  let registry: Registry | null | undefined;
  return (name) => {
    registry ??= read(folder);
    return registry === null ? undefined : codeIn(registry, name);
  };
}

function read(folder: string): Registry | null {
  try {
    return JSON.parse(readFileSync(join(folder, "registry.json"), "utf8")) as Registry;
  } catch {
    return null;
  }
}

function codeIn(registry: Registry, name: string): AuthorCode | undefined {
  const operation = own(registry.operations, name);
  if (operation !== undefined) {
    const { hooks = [] } = operation as { readonly hooks?: readonly string[] };
    const [namespace = ""] = name.split(".");
    // Who is calling, and what of a document is theirs, may be decided by the author's code as
    // well.
    return {
      files: filesIn([
        operation,
        hooks.map((hook) => own(registry.hooks, hook)),
        own(registry.documents, namespace),
        registry.identity,
      ]),
    };
  }
  if (name === "realtime.connect")
    return { files: filesIn([registry.realtime, registry.identity]) };
  const event = own(registry.outbox, name.replace(/^outbox\./, ""));
  if (event === undefined) return undefined;
  const { destination } = event as { readonly destination?: unknown };
  return { files: filesIn([event, registry.mail]), destination: destinationText(destination) };
}

/** A destination as the author writes it. */
function destinationText(destination: unknown): string {
  if (typeof destination === "string") return destination;
  const { file, name } = destination as { readonly file?: string; readonly name?: string };
  return `${file}#${name}`;
}

function own(all: Named | null | undefined, name: string): unknown {
  return all !== null && all !== undefined && Object.hasOwn(all, name) ? all[name] : undefined;
}

/** Files that values of the registry name, with an export or without. */
function filesIn(values: readonly unknown[]): readonly string[] {
  const text = JSON.stringify(values);
  return [...text.matchAll(/"([^"\\]+\.[cm]?[jt]s)(?:#\w+)?"/g)].map(([, path = ""]) => path);
}
