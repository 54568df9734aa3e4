// Addresses that are watched: whether they answer, and how long that takes.
import { collection } from "opwright/runtime";
import { uptimeChecksSpec } from "../generated/documents/uptime_checks.js";
import type { UptimeCheckJob } from "../generated/jobs.js";

export const check: UptimeCheckJob = async (_input, context) => {
  const checks = collection(uptimeChecksSpec, context);
  for (const { id, url } of await checks.find({ filters: { $values: { active: true } } })) {
    const begun = performance.now();
    const signal = AbortSignal.any([context.signal, AbortSignal.timeout(5000)]);
    const status = await fetch(url, { signal }).then(
      ({ ok }) => ok,
      () => false,
    );
    const latency = Math.round(performance.now() - begun);
    await context.commit(() =>
      collection(uptimeChecksSpec, context).update(id, "any", { status, latency }),
    );
  }
};
