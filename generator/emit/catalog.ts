// catalog.json and tools.json: every operation by its key, for people and for tool callers (service.md "What the service does" 2).
import type { RegistryModel } from "../model/registry.js";
import { jsonFile, type EmittedFile } from "../print/file.js";
import { errorCodesOf } from "./openapi.js";
import { bundled } from "./validators.js";

export function emitCatalog(model: RegistryModel): readonly EmittedFile[] {
  const operations = Object.values(model.operations);
  const catalog = operations.map((operation) => ({
    key: operation.key,
    family: operation.family,
    summary: operation.summary,
    method: operation.route?.method ?? null,
    path: operation.route?.path ?? null,
    guard: operation.guard,
    hooks: operation.hooks.map(({ id, phase }) => ({ phase, id })),
    transaction: operation.transaction,
    deadline_seconds: operation.deadlineSeconds,
    idempotency_key: operation.idempotencyKey,
    errors: errorCodesOf(operation),
    source: operation.source,
  }));
  const tools = operations.map((operation) => ({
    name: operation.key,
    description: operation.description ?? operation.summary,
    inputSchema: bundled(operation.input.schema, model),
    ...(operation.output.schema === null
      ? {}
      : { outputSchema: bundled(operation.output.schema, model) }),
  }));
  return [jsonFile("catalog.json", { operations: catalog }), jsonFile("tools.json", { tools })];
}
