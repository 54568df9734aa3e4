// The realtime plane in the frozen registry.
import type { FunctionReference } from "../../model/code.js";
import type { DeprecationModel } from "../../model/deprecation.js";
import type { ModelParts } from "../../model/model-parts.js";

/** A signal of the realtime plane. */
export interface SignalModel {
  readonly typeName: string;
  /** What it was called first, if otherwise. */
  readonly was?: string;
  readonly audience: readonly ("principal" | "topic")[];
  readonly delivery: "durable" | "ephemeral";
  /** Where documents send it; null if the registry doesn't say. */
  readonly to: SignalTargetModel | null;
  readonly deprecated: DeprecationModel | null;
}

/** The field with the principal's id, or a topic in which `{field}` is the value of a field. */
export type SignalTargetModel = { readonly principal: string } | { readonly topic: string };

export interface RealtimeModel {
  readonly path: string;
  readonly transports: readonly ("socketio" | "sse" | "websocket")[];
  readonly events: Readonly<Record<string, SignalModel>>;
  /** Keys of operations, by the name of the event that calls them. */
  readonly commands: Readonly<Record<string, string>>;
  readonly authorizer: FunctionReference | null;
  readonly presence: boolean;
  readonly retentionSeconds: number;
  readonly retentionEntries: number;
}

/** Its part of the model. */
export const models: ModelParts = { realtime: { empty: null } };

declare module "../../model/registry.js" {
  interface FamilyModels {
    readonly realtime: RealtimeModel | null;
  }
}
