// What changes of the service as a whole mean for clients.
import type { RegistryModel, ServiceModel } from "../model/registry.js";
import type { Note } from "../compare/change.js";
import { compareVersions } from "./version.js";
import {
  compareFunction,
  compareMembers,
  compareDecision,
  tellOf,
  value,
  type Rules,
} from "../compare/rules.js";

const service: Rules<ServiceModel> = {
  name: value("breaking", (name) => `is named ${name}, and its client's package with it`),
  // Stored names are a matter of rollouts.
  was: null,
  title: value("documentation", () => "has another title"),
  // Told apart: it is about no part of the interface, and no version follows from it.
  version: null,
  description: value("documentation", () => "is described otherwise"),
  contact: value("documentation", () => "has another contact"),
  license: value("documentation", () => "has another license"),
  // Its consequences are reported with each operation.
  style: null,
  transaction: null,
  // Each operation tells of its own.
  deadlineSeconds: null,
  // Whoever runs the service asks them, no client.
  probes: null,
  errors: (before, after) => {
    // The function is told where it is another one; what its type has become, where the type
    // stands.
    const typeOf = (errors: ServiceModel["errors"]): string => errors?.typeName ?? "ErrorEnvelope";
    if (typeOf(before) !== typeOf(after))
      return [["breaking", `answers errors with ${typeOf(after)}`]];
    return compareFunction("makes the bodies of errors otherwise")(
      before?.envelope ?? null,
      after?.envelope ?? null,
    );
  },
  // It answers what no operation does, under no guard that the registry has.
  app: (before, after) => {
    if (before === null) return [["opens", `answers other requests with ${after?.name}`]];
    if (after === null)
      return [["breaking", `no longer answers other requests with ${before.name}`]];
    return compareDecision(`answers other requests with ${after.name} instead of ${before.name}`)(
      before,
      after,
    );
  },
  // Its own people hear of it, no client.
  slo: null,
  extensions: value("documentation", () => "has other extensions"),
};

export function compareService(before: RegistryModel, after: RegistryModel, note: Note): void {
  const subject = { kind: "service", name: "service" } as const;
  const tell = tellOf(note, subject, "http");
  compareMembers(before.service, after.service, service, tell);
  const [was, is] = [before.service.version, after.service.version];
  if (compareVersions(is, was) < 0)
    tellOf(note, subject, "version")("breaking", `has version ${is}, which comes before ${was}`);
}
