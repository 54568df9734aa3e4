// The thread of compiler.ts: it compiles one request after another.
import { parentPort } from "node:worker_threads";
import { compileStandalone } from "./ajv-standalone.js";
import type { CompileReply, CompileRequest } from "./compiler.js";

parentPort?.on("message", ({ id, schemas }: CompileRequest) => {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, no window
  parentPort?.postMessage(replyTo(id, schemas));
});

function replyTo(id: number, schemas: CompileRequest["schemas"]): CompileReply {
  try {
    return { id, code: compileStandalone(schemas) };
  } catch (failure) {
    return { id, failure };
  }
}
