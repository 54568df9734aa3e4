// What changes of the service as a whole mean for clients.
import type { RegistryModel, ServiceModel } from "../model/registry.js";
import type { Note } from "../compare/change.js";
import { compareMembers, tellOf, value, type Rules } from "../compare/rules.js";

const service: Rules<ServiceModel> = {
  name: value("breaking", (name) => `is named ${name}, and its client's package with it`),
  title: value("documentation", () => "has another title"),
  version: null,
  description: value("documentation", () => "is described otherwise"),
  contact: value("documentation", () => "has another contact"),
  license: value("documentation", () => "has another license"),
  // What follows from it is told of each operation.
  style: null,
  transaction: null,
  // Each operation tells of its own.
  deadlineSeconds: null,
  // Whoever runs the service asks them, no client.
  probes: null,
  app: null,
  extensions: value("documentation", () => "has other extensions"),
};

export function compareService(before: RegistryModel, after: RegistryModel, note: Note): void {
  const tell = tellOf(note, { kind: "service", name: "service" }, "http");
  compareMembers(before.service, after.service, service, tell);
}
