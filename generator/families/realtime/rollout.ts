// What changes of realtime take of a rollout: durable signals are kept as they were staged.
import {
  isDataChanged,
  need,
  needsOfAll,
  needsOfMembers,
  type Need,
  type RolloutRules,
  type RolloutSide,
} from "../../compare/rollout.js";
import { own } from "../../model/records.js";
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

const isDurable = ({ delivery }: SignalModel): boolean => delivery === "durable";

/** How long signals wait. */
function keptOf(realtime: RealtimeModel | null): string {
  return `until they are delivered or as old as ${realtime?.retentionSeconds ?? 0} s`;
}

const event: RolloutRules<SignalModel> = {
  // A type may have changed where its name has not, and be the same where it has.
  typeName: null,
  audience: null,
  delivery: (was, _is, { name, before }) =>
    need(
      "clients meet both versions",
      isDurable(was)
        ? `signals ${name} that are kept still go out, ${keptOf(before.model.realtime)}`
        : `signals ${name} are kept by the next version, and clients of the one before get them with an id`,
    ),
  to: null,
  deprecated: null,
};

/** Events by their names: what is kept was staged under one of them. */
export function rollout(before: RolloutSide, after: RolloutSide): readonly Need[] {
  const [old, next] = [before.model.realtime, after.model.realtime];
  if (old === null) return [];
  const rolling = { name: "realtime", before, after };
  const kept = keptOf(old);
  if (next === null)
    return need("leaves stored things behind", `signals that wait are not delivered any more`);
  const changed = Object.entries(old.events).filter(([name, was]) => {
    const is = own(next.events, name);
    return (
      isDurable(was) && is !== undefined && isDataChanged([was.typeName, is.typeName], rolling)
    );
  });
  const added = Object.entries(next.events).filter(
    ([name, is]) => isDurable(is) && !Object.hasOwn(old.events, name),
  );
  return [
    ...needsOfMembers(old, next, plane, rolling),
    ...needsOfAll([old.events, next.events], event, [before, after], (was, { name }) =>
      isDurable(was)
        ? need("clients meet both versions", `signals ${name} that are kept still go out, ${kept}`)
        : [],
    ),
    ...added.flatMap(([name]) =>
      need(
        "clients meet both versions",
        `signals ${name} of the next version reach clients of the one before, which know none of that name`,
      ),
    ),
    ...changed.flatMap(([name]) =>
      need(
        "clients meet both versions",
        `signals ${name} go out as they were staged, ${kept}: clients of both versions have to take both types`,
      ),
    ),
  ];
}
