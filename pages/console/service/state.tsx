// How the service is: its metrics over the last minutes, its migrations, and what an operator can
// have it do.
import { useState } from "preact/hooks";
import type { JSX } from "preact";
import { errorOf, Fault } from "../../parts/fault.js";
import { Field } from "../../parts/field.js";
import type { Api } from "../api.js";
import { Action } from "../action.js";
import { useNotice } from "../notice.js";
import { linesOf, samplesOf, valueOf, type Line, type Reading } from "./metrics.js";
import { momentText } from "../value.js";
import { Sparkline } from "./sparkline.js";
import { usePolled } from "./use-polled.js";

const everyMillis = 2_000;
/** Readings that are kept: four minutes of them. */
const mostReadings = 120;

/** They stay when another room is shown. */
let readings: readonly Reading[] = [];

interface Command {
  readonly name: string;
  readonly usage: string;
  readonly summary: string;
}

interface State {
  readonly pending_migrations: readonly string[];
  readonly metrics: string | null;
  readonly commands: readonly Command[];
}

export function ServiceState({ api }: { readonly api: Api }): JSX.Element {
  const [state, setState] = useState<State | null>(null);
  const [error, setError] = useState<Error | null>(null);
  usePolled(async () => {
    try {
      const next = await api.call<State>("console.state");
      const reading = { at: Date.now(), samples: samplesOf(next.metrics ?? "") };
      readings = [...readings, reading].slice(-mostReadings);
      setState(next);
      setError(null);
    } catch (fault) {
      setError(errorOf(fault));
    }
  }, everyMillis);
  const lines = linesOf(readings);
  return (
    <div class="stack wide">
      <h1>Service state</h1>
      {error !== null && <Fault error={error} />}
      {state !== null && (
        <>
          {state.metrics === null ? (
            <p>Metrics are off (METRICS).</p>
          ) : (
            <section class="stack tight">
              <h2>Metrics</h2>
              <p class="small quiet">
                Read every 2 s. The lines go back to when you opened the console, four minutes at
                most.
              </p>
              <Verdict lines={lines} reading={readings.at(-1)} />
              <div class="cards narrow">
                {lines.map((line) => (
                  <Sparkline key={line.title} line={line} />
                ))}
              </div>
            </section>
          )}
          <Migrations pending={state.pending_migrations} />
          <Commands api={api} commands={state.commands} />
        </>
      )}
    </div>
  );
}

interface VerdictProps {
  readonly lines: readonly Line[];
  readonly reading: Reading | undefined;
}

/** Whether there is something to look after, now and since the process has started. */
function Verdict({ lines, reading }: VerdictProps): JSX.Element {
  const bad = lines.filter(({ isBad }) => isBad).map(({ title }) => title.toLowerCase());
  const sinceStart = totalsText(reading);
  return bad.length === 0 ? (
    <p class="message good">
      {`No server errors in this time, and no dead letters. ${sinceStart}`}
    </p>
  ) : (
    <p class="message bad">
      {`Needs attention: ${bad.join(" and ")}. `}
      <a href="#log">The log</a> {`says more. ${sinceStart}`}
    </p>
  );
}

/** What went wrong since the process started, also before the console was opened. */
function totalsText(reading: Reading | undefined): string {
  const started = valueOf(reading, "process_start_time_seconds");
  if (started === null) return "";
  const totals = [
    ["server errors", valueOf(reading, "opwright_request_seconds_count", 'status="5xx"') ?? 0],
    ["refused requests", valueOf(reading, "opwright_request_seconds_count", 'status="4xx"') ?? 0],
    ["events given up", valueOf(reading, "opwright_outbox_given_up_total")],
    ["webhook deliveries given up", valueOf(reading, "opwright_webhooks_given_up_total")],
  ] as const;
  const known = totals.filter(([, count]) => count !== null);
  const words = known.map(([what, count]) => `${count} ${what}`).join(", ");
  return `Since the process started ${agoText(started)}: ${words}.`;
}

/** `20 minutes ago (…)`. */
function agoText(seconds: number): string {
  const minutes = Math.round((Date.now() / 1_000 - seconds) / 60);
  const [count, unit] =
    minutes < 120
      ? ([minutes, "minutes"] as const)
      : minutes < 48 * 60
        ? ([Math.round(minutes / 60), "hours"] as const)
        : ([Math.round(minutes / 1_440), "days"] as const);
  return `${count} ${unit} ago (${momentText(seconds * 1_000)})`;
}

function Migrations({ pending }: { readonly pending: readonly string[] }): JSX.Element {
  return (
    <section class="stack tight">
      <h2>Migrations</h2>
      {pending.length === 0 ? (
        <p>All have been applied.</p>
      ) : (
        <>
          <p>These wait for the command migrate:</p>
          <ul>
            {pending.map((name) => (
              <li key={name}>
                <code>{name}</code>
              </li>
            ))}
          </ul>
        </>
      )}
    </section>
  );
}

function Commands({
  api,
  commands,
}: {
  readonly api: Api;
  readonly commands: readonly Command[];
}): JSX.Element | null {
  if (commands.length === 0 || !api.can("console.run")) return null;
  return (
    <section class="stack">
      <h2>Commands</h2>
      {commands.map((command) => (
        <CommandCard key={command.name} api={api} command={command} />
      ))}
    </section>
  );
}

function CommandCard({
  api,
  command: { name, usage, summary },
}: {
  readonly api: Api;
  readonly command: Command;
}): JSX.Element {
  const [text, setText] = useState("");
  const [output, setOutput] = useState<string | null>(null);
  const [notice, say] = useNotice();
  return (
    <div class="card stack tight">
      <h3>
        <code>{name}</code>
      </h3>
      <p>{summary}</p>
      {usage !== "" && (
        <Field label={usage}>
          <input
            id={`args-${name}`}
            value={text}
            onInput={(event) => setText(event.currentTarget.value)}
          />
        </Field>
      )}
      <div class="row">
        <Action
          label="Run"
          done={`${name} has run.`}
          say={say}
          run={async () => {
            const args = text.split(/\s+/).filter((one) => one !== "");
            setOutput((await api.call<{ output: string }>("console.run", { name, args })).output);
          }}
        />
      </div>
      {notice}
      {output !== null && (
        <div class="code-block">
          <pre tabIndex={0} role="region" aria-label={`What ${name} has printed`}>
            {output}
          </pre>
        </div>
      )}
    </div>
  );
}
