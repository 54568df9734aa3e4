// One attempt of a run: the author's function, invoked as the one on whose behalf it runs.
import { knownError } from "../../contract/errors.js";
import { defaultTenant } from "../../contract/default-tenant.js";
import type { ServiceAtWork } from "../../operations/family.js";
import { forgetAuthored } from "../../operations/authored.js";
import type { Identity } from "../../operations/identity.js";
import { json } from "../../operations/input.js";
import { invokeAs } from "../../operations/invoke-as.js";
import { operation } from "../../operations/operation.js";
import type { Lifetime } from "../../ports/lifetime.js";
import { jobStore, type ClaimedRun, type RunsAs } from "../../ports/jobs.js";
import { goOn } from "../../ports/tracer.js";
import { jobRun, type RunStops } from "./job-run.js";
import type { JobsSpec } from "./spec.js";

/** How the function has ended: what it has thrown, and what it has said. */
export interface JobOutcome {
  readonly fault: { readonly error: unknown } | null;
  readonly stops: RunStops;
}

/** Calls the function of a run's job. Doesn't reject for what that throws. */
export async function runJob(
  { handlers, jobs }: JobsSpec,
  service: ServiceAtWork,
  claimed: ClaimedRun,
  lifetime: Lifetime,
): Promise<JobOutcome> {
  const { job, tenant, as, hasSteps } = claimed;
  const handler = handlers[job];
  if (handler === undefined) throw new Error(`${job} is no job`);
  const kept = hasSteps
    ? await service.database.reader.of(jobStore).steps(claimed.id)
    : new Map<string, string>();
  const given: unknown = JSON.parse(service.kept.inputs(job).told(claimed.input, claimed.shape));
  let stops: RunStops = { sleepsUntil: null, givenUp: null };
  const invoked = operation<unknown, void>({
    operationId: `jobs.${job}`,
    // Nothing reads a request by it: the input is checked below.
    input: json(() => null),
    transaction: "read",
    // The name is that of the author's function, which messages about forgotten awaits show.
    run: nameAs(handler.name, (input, context) => {
      const made = jobRun(context, claimed, kept);
      stops = made.stops;
      return handler(input, context, made.run);
    }),
  });
  const { traceparent, attempt } = claimed;
  const about = { "opwright.attempt": attempt };
  const trace = goOn(service.tracer, `job ${job}`, "consumer", traceparent, about);
  try {
    const isAnonymous = as.kind === "nobody";
    // Outside all tenants, as a credential that is scoped to none is.
    const by = {
      tenant,
      identity: identityOf(as, tenant === defaultTenant ? null : tenant),
      isAnonymous,
      lifetime,
      correlationId: claimed.id,
      runId: claimed.id,
      trace,
    };
    // The version that has enqueued it may have declared less.
    const input = jobs[job]?.input(given, job);
    // It has a span already, by the name of its job.
    forgetAuthored(invoked.run);
    await trace.within(() => invokeAs(service, invoked, by, () => input));
    return { fault: null, stops };
  } catch (error) {
    // To sleep is no failure.
    if (stops.sleepsUntil === null) trace.span?.fail(knownError(error).code);
    return { fault: { error }, stops };
  } finally {
    trace.span?.end();
  }
}

function identityOf(as: RunsAs, tenant: string | null): Identity | null {
  if (as.kind !== "principal") return null;
  const { principalId, actorId, scopes } = as;
  return { principalId, actorId, sessionId: null, tenant, expiresAt: null, scopes };
}

function nameAs<Called extends (...given: never[]) => unknown>(
  name: string,
  called: Called,
): Called {
  return Object.defineProperty(called, "name", { value: name });
}
