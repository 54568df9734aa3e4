// The families, in the order in which they are expanded: the only place that names them all.
import type { Family } from "../kernel/family.js";
import type { ModelParts } from "../model/model-parts.js";
import { mergeRecords } from "../model/records.js";
import { audit } from "./audit/index.js";
import { composites } from "./composites/index.js";
import { custom } from "./custom/index.js";
import { documents } from "./documents/index.js";
import { errors } from "./errors/index.js";
import { identity } from "./identity/index.js";
import { jobs } from "./jobs/index.js";
import { outbox } from "./outbox/index.js";
import { realtime } from "./realtime/index.js";
import { search } from "./search/index.js";
import { storage } from "./storage/index.js";
import { tenancy } from "./tenancy/index.js";
import { webhooks } from "./webhooks/index.js";

export const families: readonly Family[] = [
  errors,
  documents,
  identity,
  tenancy,
  audit,
  search,
  storage,
  composites,
  custom,
  outbox,
  webhooks,
  jobs,
  realtime,
];

/** The parts of the model by their names. */
export const modelParts: ModelParts = mergeRecords(families.map(({ models }) => models));
