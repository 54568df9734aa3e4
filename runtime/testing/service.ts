// A service under test: in this process, on a database of its own, with signed-in clients and a clock that the test moves.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Destination } from "../families/outbox/spec.js";
import type { ExecutionContext } from "../operations/context.js";
import { outboxStore } from "../ports/outbox.js";
import { webhookStore } from "../ports/webhooks.js";
import { generatedFolder } from "../server/generated-folder.js";
import type { ServiceDefinition } from "../server/service.js";
import { readSettings } from "../server/settings.js";
import { start, type RunningService } from "../server/start.js";
import { StandingClock, testClockOf, timeOf, type TestClock } from "./clock.js";
import { peopleOf, type Person } from "./people.js";
import { recorder, type LogLine, type RecordedEvent, type RecordedSignal } from "./recorder.js";

/** What a client is made of. */
export interface TestClientOptions {
  readonly baseUrl: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly tokens?: {
    get(): TestTokens | null;
    set(tokens: TestTokens | null): void;
  };
}

interface TestTokens {
  readonly access_token: string;
  readonly refresh_token?: string | null;
}

/** A generated service, as `generated/testing.ts` hands it over. */
export interface TestedService<Client> {
  readonly service: ServiceDefinition;
  readonly createClient: (options: TestClientOptions) => Client;
  /** Of a module of the generated folder. */
  readonly moduleUrl: string;
}

export interface TestServiceOptions<Events> {
  /** Where its clock stands at the beginning: an RFC 3339 text or a date. The machine's time where left out. */
  readonly clock?: string | Date;
  /**
   * `postgres://…`: the test gets a database of its own on that server, whose user must be allowed to make one. SQLite in a
   * folder of its own where left out.
   */
  readonly database?: string;
  /** What is called for events, as the relay would call it; events without one go nowhere, and are in `outbox` all the same. */
  readonly destinations?: { readonly [Name in keyof Events & string]?: Destination };
  /** Settings as a deployment has them, such as `READ_LIMIT`. */
  readonly environment?: Readonly<Record<string, string>>;
}

/** Somebody's client: calls in that name. */
export type SignedInClient<Client> = Client & {
  readonly principalId: string;
  /** Null where the session has no tenant. */
  readonly tenantId: string | null;
};

export interface TestService<Client, Events, Signals> extends AsyncDisposable {
  /** Where it answers. */
  readonly url: string;
  /** A client that nobody has signed in, with headers of its own where some are given. */
  client(options?: Pick<TestClientOptions, "headers">): Client;
  /**
   * Signs somebody in, by any name; who or which tenant is not there yet is made. Permissions add up. The client has a session
   * of its own, and refreshes it where the service has a route for that.
   */
  as(name: string, person?: Person): Promise<SignedInClient<Client>>;
  /** Does something in one write transaction, as the service itself: with `collection`, for what no route gives a test. */
  write<T>(work: (context: ExecutionContext) => Promise<T>, tenant?: string): Promise<T>;
  readonly clock: TestClock;
  /** Integration events that have been committed, oldest first. */
  readonly outbox: readonly RecordedEvent<Events>[];
  /** Signals that have been committed, durable and ephemeral, oldest first. */
  readonly signals: readonly RecordedSignal<Signals>[];
  readonly logs: readonly LogLine[];
  /** Stops it and removes its data. `await using` does so at the end of its block. */
  close(): Promise<void>;
}

/** What a service says to others: by name, what events and signals carry. */
export interface Says {
  readonly events?: object;
  readonly signals?: object;
}

type EventsOf<Said> = Said extends { readonly events: infer Events } ? Events : unknown;
type SignalsOf<Said> = Said extends { readonly signals: infer Signals } ? Signals : unknown;

/** Makes the function that starts a service for one test. Whatever it starts shares nothing with what else it has started. */
export function testing<Client extends object, Said extends Says = Says>(
  tested: TestedService<Client>,
): (
  options?: TestServiceOptions<EventsOf<Said>>,
) => Promise<TestService<Client, EventsOf<Said>, SignalsOf<Said>>> {
  return async (options = {}) => {
    const folder = generatedFolder(tested.moduleUrl);
    const clock = new StandingClock(
      options.clock === undefined ? Date.now() : timeOf(options.clock),
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

/** What a test has in its hand. */
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
    signals: record.signals,
    logs: record.logs,
    clock: testClockOf(clock, () => {
      // What was to be tried again later may be due by now.
      connection.wake(outboxStore);
      connection.wake(webhookStore);
    }),
    client: ({ headers = {} } = {}) => createClient({ baseUrl: url, headers }),
    async as(name, person = {}) {
      const { principalId, tenantId, tokens } = await people.signIn(name, person);
      let kept: TestTokens | null = tokens;
      const client = createClient({
        baseUrl: url,
        tokens: {
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

/** The events of the service with the destinations of the test: nothing leaves the process unless the test says so. */
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

/** Where a service under test keeps what it keeps. */
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

/** The settings of a service under test: nothing of the process's own environment comes in. */
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
