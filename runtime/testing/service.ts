// A service under test: in this process, with its own database, signed-in clients and a clock that
// the test moves.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { makeMail } from "../families/outbox/mail.js";
import type { Destination } from "../families/outbox/spec.js";
import type { ExecutionContext } from "../operations/context.js";
import { jobStore } from "../ports/jobs.js";
import { outboxStore } from "../ports/outbox.js";
import { webhookStore } from "../ports/webhooks.js";
import { generatedFolder } from "../server/generated-folder.js";
import type { ServiceDefinition } from "../server/service.js";
import { readSettings } from "../server/settings.js";
import { start, type RunningService } from "../server/start.js";
import { StandingClock, testClockOf, timeOf, type TestClock } from "./clock.js";
import { testedJobs, type TestedJobs } from "./jobs.js";
import { peopleOf, type Person } from "./people.js";
import {
  recorder,
  type LogLine,
  type RecordedEvent,
  type RecordedMail,
  type RecordedSignal,
} from "./recorder.js";
import { epochMillis } from "../ports/ambient.js";

/** What a generated client is created with. */
export interface TestClientOptions {
  readonly baseUrl: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly tokens?: {
    get(): TestTokens | null;
    set(tokens: TestTokens | null): void;
    caller(): string;
  };
}

interface TestTokens {
  readonly access_token: string;
  readonly refresh_token?: string | null;
}

/** A generated service, as `generated/testing.ts` passes it. */
export interface TestedService<Client> {
  readonly service: ServiceDefinition;
  readonly createClient: (options: TestClientOptions) => Client;
  /** The URL of a module in the generated folder. */
  readonly moduleUrl: string;
}

export interface TestServiceOptions<Events> {
  /**
   * Where its clock stands at the beginning: an RFC 3339 text or a date. The machine's time if left
   * out.
   */
  readonly clock?: string | Date;
  /**
   * `postgres://…`: the test gets its own database on that server, whose user must be allowed to
   * create one. If left out, SQLite in a temporary folder.
   */
  readonly database?: string;
  /**
   * Functions to which the relay delivers events. Events without one go nowhere, but are in
   * `outbox` all the same.
   */
  readonly destinations?: { readonly [Name in keyof Events & string]?: Destination };
  /**
   * Environment variables of a deployment, such as `READ_LIMIT`. `DATABASE_URL` doesn't count: see
   * `database`.
   */
  readonly environment?: Readonly<Record<string, string>>;
}

/** Somebody's client, which calls operations in their name. */
export type SignedInClient<Client> = Client & {
  readonly principalId: string;
  /** Null where the session has no tenant. */
  readonly tenantId: string | null;
};

export interface TestService<Client, Events, Signals> extends AsyncDisposable {
  /** The URL at which the service answers. */
  readonly url: string;
  /** A client that isn't signed in. It sends the given headers with each request. */
  client(options?: Pick<TestClientOptions, "headers">): Client;
  /**
   * Signs somebody in, by any name. People and tenants are created when they are first named, and
   * permissions add up. The client has its own session, and refreshes it if the service has a route
   * for that.
   */
  as(name: string, person?: Person): Promise<SignedInClient<Client>>;
  /**
   * Runs `work` in one write transaction, as the service itself: with `collection`, for rows that
   * no route can create.
   */
  write<T>(work: (context: ExecutionContext) => Promise<T>, tenant?: string): Promise<T>;
  readonly clock: TestClock;
  /** Integration events that have been committed, oldest first. */
  readonly outbox: readonly RecordedEvent<Events>[];
  /**
   * The mails that `outbox.mail` makes of these events, oldest first. Each is made once, when it is
   * first asked for; rejects with what the function throws. Nothing is sent.
   */
  mails(): Promise<readonly RecordedMail<Events>[]>;
  /** Runs of jobs: what waits and what has failed, and when nothing is left to do. */
  readonly jobs: TestedJobs;
  /** Signals that have been committed, durable and ephemeral, oldest first. */
  readonly signals: readonly RecordedSignal<Signals>[];
  readonly logs: readonly LogLine[];
  /** Stops the service and removes its data. `await using` does so at the end of its block. */
  close(): Promise<void>;
}

/** The types of the data that a service's events and signals carry, by their names. */
export interface Says {
  readonly events?: object;
  readonly signals?: object;
}

type EventsOf<Said> = Said extends { readonly events: infer Events } ? Events : unknown;
type SignalsOf<Said> = Said extends { readonly signals: infer Signals } ? Signals : unknown;

/**
 * Makes the function that starts a service for one test. The services that it starts share nothing
 * with each other.
 */
export function prepareTestService<Client extends object, Said extends Says = Says>(
  tested: TestedService<Client>,
): (
  options?: TestServiceOptions<EventsOf<Said>>,
) => Promise<TestService<Client, EventsOf<Said>, SignalsOf<Said>>> {
  return async (options = {}) => {
    const folder = generatedFolder(tested.moduleUrl);
    const clock = new StandingClock(
      options.clock === undefined ? epochMillis() : timeOf(options.clock),
    );
    const record = recorder<EventsOf<Said>, SignalsOf<Said>>();
    const place = await newPlace(options.database);
    let running: RunningService;
    try {
      const definition = { ...tested.service, ...destinationsOf(tested.service, options) };
      const settings = readSettings(definition, environmentOf(place, options));
      const { log, observer } = record;
      running = await start(definition, { settings, folder, log, clock, observer });
    } catch (error) {
      await place.remove();
      throw error;
    }
    return serviceOf(tested, running, { clock, record, remove: place.remove });
  };
}

/** The running service, as a test controls it. */
function serviceOf<Client extends object, Events, Signals>(
  { service, createClient }: TestedService<Client>,
  { url, connection, stop }: RunningService,
  {
    clock,
    record,
    remove,
  }: {
    readonly clock: StandingClock;
    readonly record: ReturnType<typeof recorder<Events, Signals>>;
    readonly remove: () => Promise<void>;
  },
): TestService<Client, Events, Signals> {
  const people = peopleOf(connection, service.identity);
  let closing: Promise<void> | undefined;
  const close = (): Promise<void> => (closing ??= stop().then(remove));
  return {
    url,
    outbox: record.outbox,
    mails: mailsOf(service, connection, record.outbox),
    jobs: testedJobs(service.jobs, { connection }, (name) => people.tenantId(name)),
    signals: record.signals,
    logs: record.logs,
    clock: testClockOf(clock, () => {
      // Deliveries that were to be tried again later may be due now, and jobs.
      connection.wake(outboxStore);
      connection.wake(webhookStore);
      connection.wake(jobStore);
    }),
    client: ({ headers = {} } = {}) => createClient({ baseUrl: url, headers }),
    async as(name, person = {}) {
      const { principalId, tenantId, tokens } = await people.signIn(name, person);
      let kept: TestTokens | null = tokens;
      const client = createClient({
        baseUrl: url,
        tokens: {
          caller: () => `${principalId}@${tenantId ?? ""}`,
          get: () => kept,
          set: (fresh) => {
            kept = fresh;
          },
        },
      });
      return Object.assign(client, { principalId, tenantId });
    },
    write: async (work, tenant = "test") =>
      connection.write("test.write", work, await people.tenantId(tenant)),
    close,
    [Symbol.asyncDispose]: close,
  };
}

/**
 * The events of the service with the destinations of the test, so that nothing leaves the process
 * unless the test says so.
 */
function destinationsOf<Events>(
  { outbox }: ServiceDefinition,
  { destinations }: TestServiceOptions<Events>,
): Pick<ServiceDefinition, "outbox"> {
  if (outbox === undefined) return {};
  const given = (destinations ?? {}) as Readonly<Record<string, Destination | undefined>>;
  const names = Object.keys(outbox.events);
  return {
    outbox: {
      events: Object.fromEntries(
        names.map((name) => [name, given[name] ?? (async () => undefined)]),
      ),
    },
  };
}

/** Makes the mails of events, those of an event once. */
function mailsOf<Events>(
  { outbox }: ServiceDefinition,
  connection: RunningService["connection"],
  events: readonly RecordedEvent<Events>[],
): () => Promise<readonly RecordedMail<Events>[]> {
  const made = new Map<string, Promise<RecordedMail<Events> | null>>();
  const mailOf = async (event: RecordedEvent<Events>): Promise<RecordedMail<Events> | null> => {
    if (outbox?.mail === undefined) return null;
    const { id, name, data, tenant, created_at } = event;
    const context = connection.context(`outbox.${name}`, tenant);
    const told = { id, name, data, tenant, created_at, attempt: 1 };
    const mail = await makeMail(outbox.mail, told, context);
    return mail === null ? null : { ...mail, event };
  };
  return async () => {
    const mails = events.map((event) => {
      const mail = made.get(event.id) ?? mailOf(event);
      made.set(event.id, mail);
      return mail;
    });
    return (await Promise.all(mails)).filter((mail) => mail !== null);
  };
}

/** Where a service under test keeps its data. */
interface Place {
  readonly folder: string;
  readonly databaseUrl: string;
  remove(): Promise<void>;
}

async function newPlace(server: string | undefined): Promise<Place> {
  const folder = await mkdtemp(join(tmpdir(), "opwright-test-"));
  const clear = (): Promise<void> => rm(folder, { recursive: true, force: true });
  if (server === undefined)
    return { folder, databaseUrl: `sqlite:${join(folder, "test.db")}`, remove: clear };
  try {
    const { createOwnDatabase } = await import("../engines/postgres/own-database.js");
    const { url, drop } = await createOwnDatabase(server);
    return { folder, databaseUrl: url, remove: () => drop().finally(clear) };
  } catch (error) {
    await clear();
    throw error;
  }
}

/** The environment of a service under test. Variables of the process itself have no effect. */
function environmentOf<Events>(
  { folder, databaseUrl }: Place,
  { environment }: TestServiceOptions<Events>,
): Readonly<Record<string, string>> {
  return {
    PORT: "0",
    DATA_DIR: folder,
    BUS_URL: "none",
    METRICS: "off",
    DOCS: "off",
    LOG_LEVEL: "debug",
    READERS: "1",
    DATABASE_POOL: "4",
    ...environment,
    DATABASE_URL: databaseUrl,
  };
}
