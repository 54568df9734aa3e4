// Diagnostics of the realtime plane.
import { entry } from "../../diagnostics/catalogue-entry.js";

export const diagnostics = {
  OPW071: entry(
    "Command without an operation",
    "A realtime command names an operation that does not exist, or that is not one of your own.",
    "Name an operation of `operations:`.",
  ),
  OPW072: entry(
    "Durable topic",
    "A durable signal waits in the mailboxes of principals. A topic has no mailbox: only those who are connected hear it.",
    "Make it ephemeral, or address principals.",
  ),
  OPW073: entry(
    "Signal without a target",
    "`to` must say who hears the signal: a principal by a UUID field of the payload, or a topic that is made of text and fields.",
    "Write fields of the payload in braces.",
  ),
};

declare module "../../diagnostics/catalogue.js" {
  interface DiagnosticCodes extends Record<keyof typeof diagnostics, true> {}
}
