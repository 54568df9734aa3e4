// What changes of the service itself take of a rollout: what it has given out, and what its
// processes share, has its first name.
import {
  need,
  needsOfMembers,
  type Need,
  type RolloutRules,
  type RolloutSide,
} from "../compare/rollout.js";
import type { ServiceModel } from "../model/registry.js";

const service: RolloutRules<ServiceModel> = {
  // Compared by the first one.
  name: null,
  was: null,
  title: null,
  version: null,
  description: null,
  contact: null,
  license: null,
  style: null,
  transaction: null,
  deadlineSeconds: null,
  probes: null,
  errors: null,
  app: null,
  slo: null,
  extensions: null,
};

/** The service is one thing. */
export function serviceRollout(before: RolloutSide, after: RolloutSide): readonly Need[] {
  const [was, is] = [before.model.service, after.model.service];
  const [old, next] = [was, is].map((one) => one.was ?? one.name);
  return [
    ...needsOfMembers(was, is, service, { name: "service", before, after }),
    ...(old === next
      ? []
      : need(
          "leaves stored things behind",
          `access tokens and API keys of ${old} are refused, and processes of both versions hear nothing of each other over Redis: if the service is called otherwise, say \`was: ${old}\``,
        )),
  ];
}
