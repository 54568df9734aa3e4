// What changes of the outbox take of a rollout: where events go. What they carry is compared with all that is kept.
import {
  need,
  needsOfAll,
  type Need,
  type RolloutRules,
  type RolloutSide,
} from "../../compare/rollout.js";
import type { OutboxEventModel } from "../../model/registry.js";

const event: RolloutRules<OutboxEventModel> = {
  // Compared with all that is kept.
  typeName: null,
  // Whoever delivers looks it up when it delivers.
  destination: (_was, _is, { name }) =>
    need(
      "clients meet both versions",
      `events ${name} that wait go to the destination of whichever version delivers them`,
    ),
  guard: null,
  deprecated: null,
};

/** Events by their names. */
export function rollout(before: RolloutSide, after: RolloutSide): readonly Need[] {
  const [old, next] = [before.model.outbox ?? {}, after.model.outbox ?? {}];
  return needsOfAll([old, next], event, [before, after], (_was, { name }) =>
    need(
      "leaves stored things behind",
      `events ${name} that wait when the last older process ends are dead letters: first roll out what stages none, then what does not declare it`,
    ),
  );
}
