// The family of the outbox: integration events, and where they go.
import { eraseSealed } from "../../operations/erase-sealed.js";
import {
  askedOnce,
  familyOf,
  hourly,
  openedAs,
  type ServiceAtWork,
} from "../../operations/family.js";
import { gauge, type DeclaredMetrics } from "../../operations/metric.js";
import { tallies } from "../../operations/tally.js";
import { outboxStore } from "../../ports/outbox.js";
import { deadLettersCommand, outboxCommand, redriveCommand } from "./commands.js";
import { destinationsOf } from "./destinations.js";
import { keepMails, keptMails } from "./kept-mails.js";
import { startRelay } from "./relay.js";
import { readOutboxSettings } from "./settings.js";
import type { OutboxSpec } from "./spec.js";

/** Dead letters may hold secrets, so they are kept for a week only. */
const deadFor = 7 * 24 * 60 * 60 * 1_000;
/** Rows that one batch removes. */
const batchSize = 1_000;

export const outboxFamily = familyOf<OutboxSpec>()({
  member: "outbox",
  settings: readOutboxSettings,
  open: async (_spec, _service, { isProduction }) => [
    openedAs(keptMails, isProduction ? null : keepMails()),
  ],
  jobs: (_spec, { clock }) => [
    hourly(
      "outbox.dead",
      async (transaction) =>
        (await transaction.of(outboxStore).prune(clock.now() - deadFor, batchSize)) === batchSize,
    ),
  ],
  questions: ({ mail }, service) => {
    const kept = service.of(keptMails);
    if (kept === null || mail === undefined) return [];
    return [{ name: "mails", ask: () => ({ mails: kept.list() }) }];
  },
  commands: (spec) => [outboxCommand, deadLettersCommand(spec), redriveCommand(spec)],
  metrics: (_spec, service) => metricsOf(service),
  erased: async (_spec, context, who) => ({
    // What still waits is delivered: nobody else's system may miss it.
    dead_letters: await eraseSealed(
      context,
      who,
      (transaction, after, limit) => transaction.of(outboxStore).walkDead(after, limit),
      async (transaction, ids) => {
        for (const id of ids) await transaction.of(outboxStore).remove(id);
      },
    ),
  }),
  start(spec, service, settings) {
    const { maxAttempts, backoffMillis } = settings;
    const destinations = destinationsOf(spec, settings, service.log, service.of(keptMails));
    const relay = startRelay({
      service,
      destinations: destinations.of,
      was: spec.was,
      maxAttempts,
      backoffMillis,
    });
    service.whenWoken(outboxStore, relay.wake);
    return {
      async stop(patienceMillis) {
        await relay.stop(patienceMillis);
        await destinations.close();
      },
    };
  },
});

function metricsOf(service: ServiceAtWork): DeclaredMetrics {
  const { clock, database } = service;
  const state = askedOnce(() => database.reader.of(outboxStore).state(clock.now()));
  return {
    outbox_pending: gauge("Events that wait.", async () => (await state()).pending),
    outbox_dead: gauge("Dead letters.", async () => (await state()).dead),
    outbox_lag_seconds: gauge(
      "How long the oldest event has waited.",
      async () => (await state()).lagMillis / 1000,
    ),
    ...tallies(service, {
      outbox_failed: "Attempts to publish an event that failed.",
      outbox_given_up: "Events that became dead letters.",
    }),
  };
}
