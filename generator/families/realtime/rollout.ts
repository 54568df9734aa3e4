// What changes of realtime take of a rollout: which signals are kept. What they carry is compared
// with all that is kept.
import { byStoredName, type NamedEvent } from "../../compare/events.js";
import {
  need,
  needsOfAll,
  needsOfMembers,
  type Need,
  type RolloutRules,
  type RolloutSide,
} from "../../compare/rollout.js";
import type { RealtimeModel, SignalModel } from "./model.js";

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

const event: RolloutRules<NamedEvent<SignalModel>> = {
  name: (was, is) =>
    need(
      "clients meet both versions",
      `signals ${was.name} are called ${is.name} on connections to the next version, those that are kept as well: clients of each version have to connect to it`,
    ),
  // Events are compared by the names under which they are stored.
  was: null,
  // Compared with all that is kept.
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

/** Events by the names under which they are kept. */
export function rollout(before: RolloutSide, after: RolloutSide): readonly Need[] {
  const [old, next] = [before.model.realtime, after.model.realtime];
  if (old === null) return [];
  const rolling = { name: "realtime", before, after };
  if (next === null)
    return need("leaves stored things behind", `signals that wait are not delivered any more`);
  const events = [byStoredName(old.events), byStoredName(next.events)] as const;
  const isNew = Object.keys(events[1]).some((stored) => !Object.hasOwn(events[0], stored));
  return [
    ...needsOfMembers(old, next, plane, rolling),
    ...needsOfAll(events, event, [before, after], (was, { name: stored }) =>
      isDurable(was)
        ? need(
            "leaves stored things behind",
            `signals ${was.name} that are kept are no longer told to those who connect to the next version${isNew ? `: if they are called otherwise, say \`was: ${stored}\`` : ""}`,
          )
        : [],
    ),
  ];
}
