// What changes of realtime take of a rollout: durable signals are kept as they were staged.
import { byStoredName, type NamedEvent } from "../../compare/events.js";
import { own } from "../../model/records.js";
import {
  isTypeReplaced,
  need,
  needsOfAll,
  needsOfMembers,
  type Need,
  type RolloutRules,
  type RolloutSide,
} from "../../compare/rollout.js";
import type { RealtimeModel, SignalModel } from "../../model/registry.js";

const pruned = need(
  "safe to roll",
  "durable signals that are older, or more, than that are removed, and a rollback doesn't bring them back",
);

const plane: RolloutRules<RealtimeModel> = {
  path: null,
  transports: null,
  // Each by its name.
  events: null,
  commands: null,
  authorizer: null,
  presence: null,
  retentionSeconds: (was, is) => (is.retentionSeconds < was.retentionSeconds ? pruned : []),
  retentionEntries: (was, is) => (is.retentionEntries < was.retentionEntries ? pruned : []),
};

const event: RolloutRules<NamedEvent<SignalModel>> = {
  name: (was, is) =>
    need(
      "clients meet both versions",
      `signals ${was.name} are called ${is.name} on connections to the next version, those that are kept as well: clients of each version have to connect to it`,
    ),
  // Events are compared by the names under which they are stored.
  was: null,
  // A type may have changed where its name has not.
  typeName: null,
  audience: null,
  delivery: null,
  to: null,
  deprecated: null,
};

/** Events by the names under which they are kept. */
export function rollout(before: RolloutSide, after: RolloutSide): readonly Need[] {
  const [old, next] = [before.model.realtime, after.model.realtime];
  if (old === null) return [];
  const rolling = { name: "realtime", before, after };
  const kept = `until they are delivered or as old as ${old.retentionSeconds} s`;
  const isDurable = ({ delivery }: SignalModel): boolean => delivery === "durable";
  if (next === null)
    return need("leaves stored things behind", `signals that wait are not delivered any more`);
  const events = [byStoredName(old.events), byStoredName(next.events)] as const;
  const isNew = Object.keys(events[1]).some((stored) => !Object.hasOwn(events[0], stored));
  const changed = Object.entries(events[0]).filter(([stored, was]) => {
    const is = own(events[1], stored);
    return (
      isDurable(was) && is !== undefined && isTypeReplaced([was.typeName, is.typeName], rolling)
    );
  });
  return [
    ...needsOfMembers(old, next, plane, rolling),
    ...needsOfAll(events, event, [before, after], (was, { name: stored }) => {
      if (!isDurable(was)) return [];
      const still = `signals ${was.name} that are kept still go out, ${kept}`;
      return isNew
        ? need(
            "leaves stored things behind",
            `${still}, and clients of the next version don't know them: if they are called otherwise, say \`was: ${stored}\``,
          )
        : need("clients meet both versions", still);
    }),
    ...changed.flatMap(([, { name }]) =>
      need(
        "clients meet both versions",
        `signals ${name} go out as they were staged, ${kept}: clients of both versions have to take both types`,
      ),
    ),
  ];
}
