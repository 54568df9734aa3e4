// Diagnostics of webhooks.
import { entry } from "../../diagnostics/catalogue-entry.js";

export const diagnostics = {
  OPW075: entry(
    "Nothing to subscribe to",
    "`webhooks` names an event that the outbox does not have, or one of opwright's own, which carries secrets.",
    "Name events of your own under `outbox`.",
  ),
  OPW098: entry(
    "Event under a scope",
    "An event goes whole to whoever subscribes, so a guard that narrows rows cannot hold for it.",
    "Give the event a `guard` without a scope, or leave it out of `webhooks.events`.",
  ),
};

declare module "../../diagnostics/catalogue.js" {
  interface DiagnosticCodes extends Record<keyof typeof diagnostics, true> {}
}
