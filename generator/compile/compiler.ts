// Compiles schemas in a thread of its own, while everything else is printed.
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { Worker } from "node:worker_threads";
import { join } from "node:path";
import type { SchemaObject } from "../model/json-schema.js";
import { packageRoot } from "../project/package-root.js";
import type { TextCache } from "./text-cache.js";

type Schemas = Readonly<Record<string, object>>;

/** Requests to the thread and its answers; both carry the number of the request. */
export interface CompileRequest {
  readonly id: number;
  readonly schemas: Schemas;
}
export type CompileReply =
  | { readonly id: number; readonly code: string }
  | { readonly id: number; readonly failure: unknown };

interface Waiting {
  readonly resolve: (code: string) => void;
  readonly reject: (cause: unknown) => void;
}

/**
 * A thread that compiles, started when it is first needed. While idle, it doesn't keep the process
 * alive.
 */
class CompilerThread {
  readonly #waiting = new Map<number, Waiting>();
  #thread: Worker | undefined;
  #asked = 0;

  start(): Worker {
    if (this.#thread !== undefined) return this.#thread;
    const thread = new Worker(threadFile());
    this.#thread = thread;
    thread.on("message", (reply: CompileReply) => this.#settle(reply));
    thread.on("error", (cause) => this.#fail(thread, cause));
    thread.on("exit", () => this.#fail(thread, hasEnded()));
    thread.unref();
    return thread;
  }

  compile(schemas: Schemas): Promise<string> {
    const thread = this.start();
    thread.ref();
    this.#asked += 1;
    const id = this.#asked;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, no window
      thread.postMessage({ id, schemas } satisfies CompileRequest);
    });
  }

  /** Ends the thread. What it was compiling is rejected. */
  end(): void {
    if (this.#thread === undefined) return;
    void this.#thread.terminate();
    this.#fail(this.#thread, hasEnded());
  }

  #settle(reply: CompileReply): void {
    const waiting = this.#waiting.get(reply.id);
    this.#waiting.delete(reply.id);
    if (this.#waiting.size === 0) this.#thread?.unref();
    if ("failure" in reply) waiting?.reject(reply.failure);
    else waiting?.resolve(reply.code);
  }

  #fail(thread: Worker, cause: unknown): void {
    // Another thread may have taken its place already.
    if (this.#thread !== thread) return;
    this.#thread = undefined;
    for (const { reject } of this.#waiting.values()) reject(cause);
    this.#waiting.clear();
  }
}

function hasEnded(): Error {
  return new Error("The thread that compiles schemas has ended.");
}

const thread = new CompilerThread();

/** The file of the thread: the bundled one if it exists. */
function threadFile(): string {
  const bundled = join(packageRoot(), "dist/cli/ajv-thread.js");
  return existsSync(bundled)
    ? bundled
    : join(packageRoot(), "dist/generator/compile/ajv-thread.js");
}

/** Starts the thread before there is anything to compile, so that it is ready when there is. */
export function startCompiler(): void {
  thread.start();
}

/** Ends the thread. Pending calls of `compileAside` are rejected. */
export function endCompiler(): void {
  thread.end();
}

/** As `compileStandalone`, in the thread. Rejects with what that throws, or if the thread ends. */
function compileAside(schemas: Schemas): Promise<string> {
  return thread.compile(schemas);
}

/**
 * The text of the functions that check schemas, which refer to each other by name. Compiles it
 * unless it is cached.
 */
export async function compileChecks(
  schemas: Readonly<Record<string, SchemaObject>>,
  cache: TextCache,
): Promise<string> {
  const key = createHash("sha256").update(JSON.stringify(schemas)).digest("base64url");
  return cache.get(key, () => compileAside(schemas));
}
