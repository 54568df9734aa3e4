// The realtime family: signals to people who are connected, and commands from them.
import { ofGenerated } from "../../model/code.js";
import { expansion, family } from "../../kernel/family.js";
import { documents } from "../documents/index.js";
import { answeredOperations, answeredPaths } from "./answered.js";
import { emitAsyncApi } from "./asyncapi.js";
import { compare } from "./compare.js";
import { rollout } from "./rollout.js";
import { emitRealtime } from "./emit.js";
import { realtimeClient } from "./emit-client.js";
import { checkEmits } from "./emits.js";
import { realtimeModel } from "./expand.js";
import { diagnostics } from "./diagnostics.js";
import { format } from "./format.js";
import { models } from "./model.js";
import { keptSignals, signalPlans } from "./validators.js";
import { tables } from "./tables.js";

export const realtime = family({
  name: "realtime",
  format,
  diagnostics,
  models,
  after: [documents],
  expand: (context) =>
    expansion(null, {
      // Commands may call operations of any family, so they are looked up when all are known.
      frozen(operations) {
        const model = realtimeModel(context, operations);
        checkEmits(context, context.of(documents), model);
        return { realtime: model };
      },
    }),
  compare,
  rollout,
  emit: (model, paths) => [...emitRealtime(model, paths), ...emitAsyncApi(model)],
  validators: signalPlans,
  keeps: keptSignals,
  tables: [{ areNeeded: (model) => model.realtime !== null, steps: tables }],
  paths: answeredPaths,
  answered: answeredOperations,
  client: realtimeClient,
  observed: ({ realtime: plane }) =>
    plane === null
      ? []
      : [
          {
            member: "signals",
            type: "DurableSignals & EphemeralSignals",
            names: ["DurableSignals", "EphemeralSignals"],
            from: "./signals.js",
          },
        ],
  met: ({ realtime: plane }) => Object.values(plane?.events ?? {}).map(({ typeName }) => typeName),
  service: (model) =>
    model.realtime === null ? {} : { realtime: ofGenerated("realtime", "realtimeSpec") },
});
