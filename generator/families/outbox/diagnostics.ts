// Diagnostics of integration events.
import { entry } from "../../diagnostics/catalogue-entry.js";

export const diagnostics = {
  OPW058: entry(
    "Type of an event",
    "An integration event of your own needs `data`; opwright's own events have a fixed type and take none.",
    "Give the event `data`, or remove it.",
  ),
};

declare module "../../diagnostics/catalogue.js" {
  interface DiagnosticCodes extends Record<keyof typeof diagnostics, true> {}
}
