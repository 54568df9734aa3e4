// What changes of the outbox take of a rollout: where events go. What they carry is compared with
// all that is kept.
import { byStoredName, type NamedEvent } from "../../compare/events.js";
import {
  need,
  needsOfAll,
  type Need,
  type RolloutRules,
  type RolloutSide,
} from "../../compare/rollout.js";
import type { OutboxEventModel } from "./model.js";

const event: RolloutRules<NamedEvent<OutboxEventModel>> = {
  name: (was, is) =>
    need(
      "clients meet both versions",
      `events ${was.name} go out as ${is.name} where the next version delivers them, those that wait as well: receivers have to know both names while both versions run`,
    ),
  // Events are compared by the names under which they are stored.
  was: null,
  // Compared with all that is kept.
  typeName: null,
  // Whoever delivers looks it up when it delivers.
  destination: ({ name }) =>
    need(
      "clients meet both versions",
      `events ${name} that wait go to the destination of whichever version delivers them`,
    ),
  guard: null,
  deprecated: null,
};

/** Events by the names under which they are stored. */
export function rollout(before: RolloutSide, after: RolloutSide): readonly Need[] {
  const old = byStoredName(before.model.outbox ?? {});
  const next = byStoredName(after.model.outbox ?? {});
  const isNew = Object.keys(next).some((stored) => !Object.hasOwn(old, stored));
  return needsOfAll([old, next], event, [before, after], ({ name }, { name: stored }) =>
    need(
      "leaves stored things behind",
      `events ${name} that wait when the last older process ends are not delivered: first roll out what stages none, then what does not declare it${isNew ? `; if it is called otherwise, say \`was: ${stored}\`` : ""}`,
    ),
  );
}
