// Compares the realtime planes of two registries: events, commands, transports, retention.
import { deprecations } from "../../compare/deprecations.js";
import type { RealtimeModel, SignalModel } from "./model.js";
import type { RegistryModel } from "../../model/registry.js";
import { compareEvents } from "../../compare/events.js";
import {
  amount,
  admissions,
  choices,
  compareMembers,
  compareNamed,
  compareDecision,
  tellExchange,
  tellOf,
  type Rules,
  type Tell,
} from "../../compare/rules.js";
import type { Comparison } from "../../compare/comparison.js";

const plane: Rules<RealtimeModel> = {
  path: (before, after) => [["breaking", `is at ${after} instead of ${before}`]],
  transports: choices(
    (one) => `is spoken over ${one}`,
    (one) => `is not spoken over ${one}`,
  ),
  // `compare` reports each event and command by its name.
  events: null,
  commands: null,
  // Without a function there are no topics.
  authorizer: (before, after) => {
    if (before === null) return [["opens", "grants topics"]];
    if (after === null) return [["breaking", "grants no topics"]];
    return compareDecision("grants topics otherwise")(before, after);
  },
  presence: (_before, after) => [
    after ? ["opens", "tells who is there"] : ["breaking", "tells nobody who is there"],
  ],
  retentionSeconds: amount((text) => `keeps signals for ${text}`, " s"),
  retentionEntries: amount((text) => `keeps up to ${text}`, " signals"),
};

const event: Rules<SignalModel> = {
  // `compareEvents` compares the types.
  typeName: null,
  // Nor the names.
  was: null,
  deprecated: deprecations,
  audience: admissions(
    (one) => `may be for a ${one}`,
    (one) => `is not for a ${one}`,
  ),
  delivery: (_before, after) => [[after === "durable" ? "additive" : "breaking", `is ${after}`]],
  to: (before, after) => {
    const what = `goes ${targetText(after)} instead of ${targetText(before)}`;
    // Handlers say by themselves whom they send it to.
    return after === null ? [["breaking", what]] : tellExchange(what);
  },
};

/** Reports how the plane, its events and its commands have changed for clients. */
export function compare(before: RegistryModel, after: RegistryModel, comparison: Comparison): void {
  const { note } = comparison;
  const [old, next] = [before.realtime, after.realtime];
  const tell = tellOf(
    note,
    { kind: "realtime", name: "realtime", declared: ["realtime"] },
    "realtime",
  );
  if (old === null && next === null) return;
  if (next === null) return tell("breaking", "is gone");
  if (old === null) return tell("additive", "is new");
  compareMembers(old, next, plane, tell);
  compareEvents(
    { kind: "event", section: "realtime" },
    [old.events, next.events],
    event,
    comparison,
  );
  const tellOfCommand = (name: string): Tell => {
    const declared = ["realtime", "commands", name] as const;
    return tellOf(note, { kind: "command", name, declared }, "realtime", `command ${name}`);
  };
  compareNamed(old.commands, next.commands, tellOfCommand, (name, was, is) => {
    if (was !== is) tellOfCommand(name)("breaking", `calls ${is} instead of ${was}`);
  });
}

function targetText(to: SignalModel["to"]): string {
  if (to === null) return "where handlers send it";
  return "topic" in to ? `to the topic ${to.topic}` : `to the principal in ${to.principal}`;
}
