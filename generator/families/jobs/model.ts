// Jobs in the frozen registry.
import type { FunctionReference } from "../../model/code.js";
import type { ModelParts } from "../../model/model-parts.js";

/** When a job runs by itself. */
export interface JobPlanModel {
  readonly cron: string;
  readonly timezone: string;
  readonly isPerTenant: boolean;
  readonly missed: "once" | "skip" | "all";
}

export interface JobModel {
  readonly summary: string | null;
  /** The type of its input. */
  readonly typeName: string;
  /** What it was called first, if otherwise. */
  readonly was?: string;
  readonly run: FunctionReference;
  /** How often it is tried again. */
  readonly retries: number;
  readonly timeoutSeconds: number;
  readonly limit: { readonly max: number; readonly per: "service" | "tenant" | "key" } | null;
  /** Members of the input whose values one waiting run alone has. */
  readonly unique: readonly string[];
  readonly as: "caller" | "service";
  /** How long runs that are done are kept; null for not at all. */
  readonly keepSeconds: number | null;
  readonly plan: JobPlanModel | null;
}

/** What jobs usually are. */
export const usualJob = {
  summary: null,
  retries: 5,
  timeoutSeconds: 60,
  limit: null,
  unique: [],
  as: "caller",
  keepSeconds: null,
  plan: null,
} as const;

/** Its part of the model, absent where the registry declares none. */
export const models: ModelParts = { jobs: { ofEach: usualJob } };

declare module "../../model/registry.js" {
  interface FamilyModels {
    /** Jobs by name; absent if the registry declares none. */
    readonly jobs?: Readonly<Record<string, JobModel>>;
  }
}
