// The webhooks family: callers subscribe to integration events.
import { ofGenerated } from "../../model/code.js";
import { expansion, family } from "../../kernel/family.js";
import { nothingWatched, watchBacklog } from "../../kernel/monitoring.js";
import { documents } from "../documents/index.js";
import { outbox } from "../outbox/index.js";
import { compare } from "./compare.js";
import { rollout } from "./rollout.js";
import { emitWebhooks } from "./emit.js";
import { expandWebhooks } from "./expand.js";
import { diagnostics } from "./diagnostics.js";
import { format } from "./format.js";
import { models } from "./model.js";
import { tables } from "./tables.js";

export const webhooks = family({
  name: "webhooks",
  format,
  diagnostics,
  models,
  after: [documents, outbox],
  expand(context) {
    const { model, namespaces } = expandWebhooks(
      context,
      context.of(outbox),
      context.of(documents),
    );
    return expansion(model, {
      namespaces,
      frozen: () => (model === null ? {} : { webhooks: model }),
    });
  },
  compare,
  rollout,
  emit: emitWebhooks,
  tables: [{ areNeeded: (model) => model.webhooks !== undefined, steps: tables }],
  watched: (model, metric) =>
    model.webhooks === undefined
      ? nothingWatched
      : watchBacklog(
          {
            name: "Webhooks",
            what: "deliveries of webhooks",
            prefix: "opwright_webhooks",
            page: "Usually a receiver is down. Its owner can see each attempt.",
          },
          metric,
        ),
  service: (model) =>
    model.webhooks === undefined ? {} : { webhooks: ofGenerated("webhooks", "webhooksSpec") },
});
