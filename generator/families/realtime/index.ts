// The realtime family: signals to people who are connected, and commands from them.
import { ofGenerated } from "../../model/code.js";
import { expansion, family } from "../../kernel/family.js";
import { documents } from "../documents/index.js";
import { compare } from "./compare.js";
import { emitRealtime } from "./emit.js";
import { checkEmits } from "./emits.js";
import { realtimeModel } from "./expand.js";
import { format } from "./format.js";
import { signalPlans } from "./validators.js";

const tables = [
  "opwright_signals",
  "opwright_staged_signals",
  "opwright_staged_signals.shard",
  "opwright_mailbox_heads",
  "opwright_mailbox_heads.length",
  "opwright_mailbox",
  "opwright_cursors",
  "opwright_cursors.check_at",
];

export const realtime = family({
  name: "realtime",
  format,
  after: [documents],
  expand: (context) =>
    expansion(null, {
      // Commands are operations of any family, so that they are looked for last.
      frozen(operations) {
        const model = realtimeModel(context, operations);
        checkEmits(context, context.of(documents), model);
        return { realtime: model };
      },
    }),
  compare,
  emit: emitRealtime,
  validators: signalPlans,
  tables: (model) => (model.realtime === null ? [] : tables),
  paths: (model) => (model.realtime === null ? [] : ["/asyncapi.json"]),
  service: (model) =>
    model.realtime === null ? {} : { realtime: ofGenerated("realtime", "realtimeSpec") },
});
