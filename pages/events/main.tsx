// /docs/events: connect over any transport, hear what the service tells, and send it commands.
import { useEffect, useRef, useState } from "preact/hooks";
import type { JSX } from "preact";
import type { Line } from "../../client/realtime/port.js";
import type { Catalog } from "../openapi/catalog.js";
import type { OpenApi } from "../openapi/document.js";
import { Empty } from "../parts/empty.js";
import { Field } from "../parts/field.js";
import { Members } from "../parts/members.js";
import { config } from "../shell/config.js";
import { mountPage } from "../shell/mount.js";
import { requestJson } from "../shell/request.js";
import { onTokenChange } from "../shell/tokens.js";
import { useLoaded } from "../shell/use-loaded.js";
import { commandsOf, signalsOf, type AsyncApi, type Signal } from "./asyncapi.js";
import { CommandForm } from "./command-form.js";
import { openLine, transportNames } from "./connection.js";
import { Timeline, type Moment } from "./timeline.js";

/** Moments that are kept; older ones are forgotten. */
const mostMoments = 500;
const commandMillis = 30_000;

function Events({ openapi }: { readonly openapi: OpenApi }): JSX.Element {
  const loaded = useLoaded(() =>
    Promise.all([
      requestJson<AsyncApi>("GET", "/asyncapi.json"),
      requestJson<Catalog>("GET", `${config.files}/catalog.json`),
    ]),
  );
  return (
    <main id="main" class="page stack wide">
      <h1>Events</h1>
      {loaded.state === "failed" && (
        <Empty title="The service's documents could not be read">{loaded.error.message}</Empty>
      )}
      {loaded.state === "loaded" && (
        <Plane openapi={openapi} asyncapi={loaded.value[0]} catalog={loaded.value[1]} />
      )}
    </main>
  );
}

interface PlaneProps {
  readonly openapi: OpenApi;
  readonly asyncapi: AsyncApi;
  readonly catalog: Catalog;
}

/** How far a connection is; one that is being opened can't be opened again. */
type Phase = "closed" | "connecting" | "open";

function Plane({ openapi, asyncapi, catalog }: PlaneProps): JSX.Element {
  const [moments, setMoments] = useState<readonly Moment[]>([]);
  const [kind, setKind] = useState("");
  const [status, setStatus] = useState("Not connected");
  const line = useRef<Line | null>(null);
  const [phase, setPhase] = useState<Phase>("closed");
  const commands = commandsOf(asyncapi);
  const signals = signalsOf(asyncapi);
  const kinds = new Map(signals.map(({ name, isDurable }) => [name, isDurable]));
  const count = useRef(0);
  const add = (moment: Omit<Moment, "at" | "number">): void => {
    const number = (count.current += 1);
    setMoments((known) => [{ number, at: new Date(), ...moment }, ...known].slice(0, mostMoments));
  };
  const end = (text: string): void => {
    line.current = null;
    setPhase("closed");
    setStatus(text);
  };
  const connect = async (transport: string, topics: readonly string[]): Promise<void> => {
    setPhase("connecting");
    setStatus("Connecting");
    line.current = await openLine(
      { openapi, catalog, transport, topics, commands },
      {
        opened() {
          setPhase("open");
          setStatus(`Connected over ${transportNames[transport] ?? transport}`);
        },
        signal(name, data) {
          const isDurable = kinds.get(name);
          const is =
            isDurable === true ? "durable" : isDurable === false ? "ephemeral" : "connection";
          add({ kind: is, name, data });
        },
        ended({ code, detail }) {
          add({ kind: "error", name: "ended", data: detail ?? code });
          end(`Ended${code === undefined ? "" : `: ${code}`}`);
        },
      },
    );
  };
  const disconnect = (): void => {
    line.current?.close();
    end("Not connected");
  };
  const send = (name: string, payload: unknown): void => {
    add({ kind: "sent", name, data: payload });
    const signal = AbortSignal.timeout(commandMillis);
    line.current
      ?.command({
        name,
        payload,
        idempotencyKey: crypto.randomUUID(),
        signal,
        millis: commandMillis,
      })
      .then(
        (data) => add({ kind: "answer", name, data }),
        (error: { readonly code?: string; readonly message: string }) =>
          add({ kind: "error", name, data: `${error.code ?? ""}: ${error.message}` }),
      );
  };
  useEffect(() => {
    const off = onTokenChange(disconnect);
    return () => {
      off();
      line.current?.close();
    };
  }, []);
  return (
    <div class="split">
      <div class="stack wide">
        <ConnectForm
          phase={phase}
          status={status}
          connect={connect}
          disconnect={disconnect}
          hasTopics={signals.some(({ audience }) => audience.includes("topic"))}
        />
        <Timeline
          {...{ moments, kind, setKind }}
          clear={() => setMoments([])}
          isConnected={phase === "open"}
        />
      </div>
      <div class="aside stack wide">
        {commands.length > 0 && (
          <CommandForm
            document={asyncapi}
            commands={commands}
            isConnected={phase === "open"}
            send={send}
          />
        )}
        <Signals asyncapi={asyncapi} signals={signals} />
      </div>
    </div>
  );
}

interface ConnectFormProps {
  readonly phase: Phase;
  readonly status: string;
  readonly hasTopics: boolean;
  readonly connect: (transport: string, topics: readonly string[]) => Promise<void>;
  readonly disconnect: () => void;
}

function ConnectForm({
  phase,
  status,
  hasTopics,
  connect,
  disconnect,
}: ConnectFormProps): JSX.Element {
  const transports = config.realtime?.transports ?? [];
  const [transport, setTransport] = useState(
    transports.includes("websocket") ? "websocket" : (transports[0] ?? ""),
  );
  const [topics, setTopics] = useState("");
  const submit = (event: SubmitEvent): void => {
    event.preventDefault();
    const asked = topics.split(",").map((topic) => topic.trim());
    if (phase === "open") disconnect();
    else void connect(transport, asked.filter(Boolean));
  };
  return (
    <form class="card stack" onSubmit={submit}>
      <div class="cards">
        <Field label="Transport">
          <select
            id="transport"
            value={transport}
            disabled={phase !== "closed"}
            onChange={(event) => setTransport(event.currentTarget.value)}
          >
            {transports.map((name) => (
              <option key={name} value={name}>
                {transportNames[name] ?? name}
              </option>
            ))}
          </select>
        </Field>
        {hasTopics && (
          <Field
            label="Topics"
            hint="With commas between them. The service decides which names there are, such as project:ID."
          >
            <input
              id="topics"
              value={topics}
              disabled={phase !== "closed"}
              onInput={(event) => setTopics(event.currentTarget.value)}
            />
          </Field>
        )}
      </div>
      <div class="row">
        <button
          id="connect"
          type="submit"
          class={phase === "open" ? "" : "primary"}
          disabled={phase === "connecting"}
        >
          {phase === "open" ? "Disconnect" : "Connect"}
        </button>
        <span id="status" role="status">
          {status}
        </span>
      </div>
    </form>
  );
}

/** The signals of the service, each with what it tells. */
function Signals({
  asyncapi,
  signals,
}: {
  readonly asyncapi: AsyncApi;
  readonly signals: readonly Signal[];
}): JSX.Element {
  return (
    <section class="stack tight" aria-labelledby="signals">
      <h2 id="signals">Signals</h2>
      <p class="small">
        <a href="/asyncapi.json">asyncapi.json</a>
      </p>
      {signals.map(({ name, summary, audience, isDurable, data }) => (
        <details key={name}>
          <summary>
            <code>{name}</code>{" "}
            {audience.map((one) => (
              <span key={one} class="badge">
                {one}
              </span>
            ))}{" "}
            {isDurable !== null && <span class="badge">{isDurable ? "durable" : "ephemeral"}</span>}
          </summary>
          <p class="small quiet">{summary}</p>
          <Members openapi={asyncapi} schema={data} />
        </details>
      ))}
    </section>
  );
}

mountPage(Events);
