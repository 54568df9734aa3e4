// What changes of the outbox take of a rollout: events go out as they were staged.
import { byStoredName, type NamedEvent } from "../../compare/events.js";
import { own } from "../../model/records.js";
import {
  isTypeReplaced,
  need,
  needsOfAll,
  type Need,
  type RolloutRules,
  type RolloutSide,
} from "../../compare/rollout.js";
import type { OutboxEventModel } from "../../model/registry.js";

const event: RolloutRules<NamedEvent<OutboxEventModel>> = {
  name: (was, is) =>
    need(
      "clients meet both versions",
      `events ${was.name} go out as ${is.name} where the next version delivers them, those that wait as well: receivers have to know both names while both versions run`,
    ),
  // Events are compared by the names under which they are stored.
  was: null,
  // A type may have changed where its name has not.
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
  const changed = Object.entries(old).filter(([stored, { typeName }]) => {
    const type = own(next, stored)?.typeName ?? null;
    return (
      typeName !== null && type !== null && isTypeReplaced([typeName, type], { before, after })
    );
  });
  return [
    ...needsOfAll([old, next], event, [before, after], ({ name }, { name: stored }) =>
      need(
        "leaves stored things behind",
        `events ${name} that wait when the last older process ends are not delivered: first roll out what stages none, then what does not declare it${isNew ? `; if it is called otherwise, say \`was: ${stored}\`` : ""}`,
      ),
    ),
    ...changed.flatMap(([, { name }]) =>
      need(
        "clients meet both versions",
        `events ${name} go out as they were staged, to webhooks and destinations alike: receivers have to take both types while any wait`,
      ),
    ),
  ];
}
