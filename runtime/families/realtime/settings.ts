// The settings of realtime that a deployment chooses.
import type { SettingsSource } from "../../operations/family.js";
import type { RealtimeLimits } from "./limits.js";

export function readRealtimeLimits({ environment }: SettingsSource): RealtimeLimits {
  return {
    framesPerSecond: environment.integer("FRAMES_PER_SECOND", 200, 1, 1_000_000),
    framesBurst: environment.integer("FRAMES_BURST", 400, 1, 1_000_000),
    connections: environment.integer("REALTIME_CONNECTIONS", 10_000, 1, 1_000_000),
    silentSeconds:
      environment.text("SSE_SILENT_SECONDS", "") === ""
        ? null
        : environment.number("SSE_SILENT_SECONDS", 0, 0.1, 86_400),
  };
}
