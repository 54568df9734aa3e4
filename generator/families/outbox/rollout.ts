// What changes of the outbox take of a rollout: events go out as they were staged.
import {
  isDataChanged,
  need,
  needsOfAll,
  type Need,
  type RolloutRules,
  type RolloutSide,
} from "../../compare/rollout.js";
import { own } from "../../model/records.js";
import type { OutboxEventModel } from "../../model/registry.js";

const event: RolloutRules<OutboxEventModel> = {
  // A type may have changed where its name has not, and be the same where it has.
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
  const changed = Object.entries(old).filter(([name, { typeName }]) => {
    const is = own(next, name);
    return is !== undefined && isDataChanged([typeName, is.typeName], { before, after });
  });
  return [
    ...needsOfAll([old, next], event, [before, after], (_was, { name }) =>
      need(
        "leaves stored things behind",
        `events ${name} that wait when the last older process ends are dead letters: first roll out what stages none, then what does not declare it`,
      ),
    ),
    ...changed.flatMap(([name]) =>
      need(
        "clients meet both versions",
        `events ${name} go out as they were staged, to webhooks and destinations alike: receivers have to take both types while any wait`,
      ),
    ),
  ];
}
