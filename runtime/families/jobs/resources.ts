// The jobs of a running service, for families that enqueue them.
import { resourceKey } from "../../ports/resource-key.js";
import type { JobDeclarations } from "./spec.js";

/** The key by which the declarations of a service's jobs are asked for. */
export const jobResources = resourceKey<JobDeclarations>("jobs");
