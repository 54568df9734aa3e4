// Answers that are kept under idempotency keys, which a repetition gets from whichever version has given them.
import { isDeepStrictEqual } from "node:util";
import { need, refersToChanged, type Need, type RolloutSide } from "../compare/rollout.js";
import { own } from "../model/records.js";
import { undescribed, type JsonSchema } from "../model/json-schema.js";

/** Operations whose kept answers are of another type than those of the next version. */
export function replayed(before: RolloutSide, after: RolloutSide): readonly Need[] {
  const changed = Object.values(before.model.operations).filter(
    ({ key, idempotencyKey, output }) => {
      const next = own(after.model.operations, key);
      if (!idempotencyKey || next === undefined || !next.idempotencyKey) return false;
      return isAnswerChanged([output.schema, next.output.schema], before, after);
    },
  );
  return changed.flatMap(({ key }) =>
    need(
      "clients meet both versions",
      `${key} repeats under an Idempotency-Key what the other version has answered, for 24 h`,
    ),
  );
}

function isAnswerChanged(
  [was, is]: readonly [JsonSchema | null, JsonSchema | null],
  before: RolloutSide,
  after: RolloutSide,
): boolean {
  if (!isDeepStrictEqual(undescribed(was), undescribed(is))) return true;
  return is !== null && refersToChanged(is, { before, after });
}
