// What a service keeps besides documents and another version may read (decisions.md "What is stored
// knows its shape and its name").
import type { JsonSchema } from "./json-schema.js";
import type { RegistryModel } from "./registry.js";

/** One kind of value that is kept. */
export interface KeptValue {
  readonly kind: "answers" | "events" | "signals" | "inputs";
  /** The operation, the event, or what is enqueued. */
  readonly name: string;
  /** The name under which it is kept, where that is another one. */
  readonly was?: string | undefined;
  readonly schema: JsonSchema;
}

/** Answers that are kept under idempotency keys. */
export function keptAnswers({ operations }: RegistryModel): readonly KeptValue[] {
  return Object.values(operations).flatMap(({ key, idempotencyKey, output }) =>
    idempotencyKey && output.schema !== null
      ? [{ kind: "answers", name: key, schema: output.schema } as const]
      : [],
  );
}
