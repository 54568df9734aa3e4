// The outbox family: integration events, what they carry and where they go.
import { ofGenerated, referenceOrNull } from "../../model/code.js";
import { expansion, family } from "../../kernel/family.js";
import { nothingWatched, watchBacklog } from "../../kernel/monitoring.js";
import { compare } from "./compare.js";
import { rollout } from "./rollout.js";
import { emitOutbox } from "./emit.js";
import { keptEvents, toldEvents } from "./event-data.js";
import { outboxModel } from "./expand.js";
import { diagnostics } from "./diagnostics.js";
import { format } from "./format.js";
import { models } from "./model.js";
import { tables } from "./tables.js";

export const outbox = family({
  name: "outbox",
  format,
  diagnostics,
  models,
  expand(context) {
    const model = outboxModel(context);
    const mail = referenceOrNull(context.declarations.outbox?.mail);
    return expansion(model, { frozen: () => ({ outbox: model, mail }) });
  },
  compare,
  rollout,
  emit: emitOutbox,
  told: toldEvents,
  keeps: keptEvents,
  tables: [{ areNeeded: (model) => model.outbox !== null, steps: tables }],
  observed: (model) =>
    model.outbox === null
      ? []
      : [{ member: "events", type: "OutboxEvents", names: ["OutboxEvents"], from: "./outbox.js" }],
  met: (model) => Object.values(model.outbox ?? {}).flatMap(({ typeName }) => typeName ?? []),
  watched: (model, metric) =>
    model.outbox === null
      ? nothingWatched
      : watchBacklog(
          {
            name: "Outbox",
            what: "events of the outbox",
            prefix: "opwright_outbox",
            page: "`server.js dead-letters` says why, `server.js redrive` sends them again.",
          },
          metric,
        ),
  service: (model) =>
    model.outbox === null ? {} : { outbox: ofGenerated("outbox", "outboxSpec") },
});
