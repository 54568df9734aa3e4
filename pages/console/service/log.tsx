// The log of the process that answers, as it is written.
import { useRef, useState } from "preact/hooks";
import type { JSX } from "preact";
import { hasWords } from "../../openapi/operations.js";
import { Empty } from "../../parts/empty.js";
import { Field } from "../../parts/field.js";
import { Fault, errorOf } from "../../parts/fault.js";
import type { Api } from "../api.js";
import { Value } from "../value.js";
import { usePolled } from "./use-polled.js";

const everyMillis = 1_000;
/** Lines that are kept; older ones are forgotten. */
const mostLines = 500;

interface Line {
  readonly number: number;
  readonly text: string;
}

/** Levels by their numbers, as pino has them. */
const levels: Readonly<Record<number, string>> = {
  20: "debug",
  30: "info",
  40: "warn",
  50: "error",
};

export function ServiceLog({ api }: { readonly api: Api }): JSX.Element {
  const [lines, setLines] = useState<readonly Line[]>([]);
  const [error, setError] = useState<Error | null>(null);
  const [search, setSearch] = useState("");
  const [least, setLeast] = useState(0);
  const [isFollowing, setIsFollowing] = useState(true);
  const last = useRef(0);
  const ask = async (): Promise<void> => {
    try {
      const { lines: further } = await api.call<{ readonly lines: readonly Line[] }>(
        "console.log",
        { after: last.current },
      );
      last.current = further.at(-1)?.number ?? last.current;
      if (further.length > 0)
        setLines((known) => [...further.toReversed(), ...known].slice(0, mostLines));
      setError(null);
    } catch (fault) {
      setError(errorOf(fault));
    }
  };
  usePolled(ask, everyMillis, isFollowing);
  const shown = lines
    .map((line) => ({ ...line, entry: entryOf(line.text) }))
    .filter(({ text, entry }) => entry.level >= least && hasWords(text, search));
  return (
    <div class="stack">
      <h1>Log</h1>
      <div class="cards">
        <Field label="Search">
          <input
            id="log-search"
            type="search"
            value={search}
            onInput={(event) => setSearch(event.currentTarget.value)}
          />
        </Field>
        <Field label="From level">
          <select
            id="level"
            value={String(least)}
            onChange={(event) => setLeast(Number(event.currentTarget.value))}
          >
            <option value="0">all</option>
            {Object.entries(levels).map(([level, name]) => (
              <option key={level} value={level}>
                {name}
              </option>
            ))}
          </select>
        </Field>
        <div class="row">
          <button type="button" onClick={() => setIsFollowing(!isFollowing)}>
            {isFollowing ? "Pause" : "Go on"}
          </button>
        </div>
      </div>
      {error !== null && <Fault error={error} />}
      {shown.length === 0 ? (
        <Empty title="No line fits">Lines appear as the process writes them.</Empty>
      ) : (
        <ul class="log" tabIndex={0} aria-label="Lines of the log, the newest first">
          {shown.map(({ number, entry }) => (
            <li key={number}>
              <div class="row">
                <span class={badgeOf(entry.level)}>{levels[entry.level] ?? entry.level}</span>
                <span class="small quiet">
                  <Value value={entry.at} />
                </span>
                <span>{entry.message}</span>
              </div>
              {entry.rest !== "" && (
                <details>
                  <summary class="small quiet">Fields</summary>
                  <code class="small">{entry.rest}</code>
                </details>
              )}
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

function badgeOf(level: number): string {
  return `badge ${level >= 50 ? "bad" : level >= 40 ? "warn" : ""}`;
}

/** A line of JSON; what was cut off, or isn't JSON, is shown as it is. */
function entryOf(text: string) {
  try {
    const { level, time, msg, ...rest } = JSON.parse(text) as Readonly<Record<string, unknown>>;
    return {
      level: Number(level),
      at: new Date(Number(time)).toISOString(),
      message: messageOf(String(msg ?? ""), rest),
      rest: Object.keys(rest).length === 0 ? "" : JSON.stringify(rest, null, 1),
    };
  } catch {
    return { level: 50, at: null, message: text, rest: "" };
  }
}

/** `GET /tasks 200 in 3 ms` of a request; `audit tasks.kill ok` of an entry of the audit log. */
function messageOf(message: string, { request, audit }: Readonly<Record<string, unknown>>): string {
  if (typeof request === "object" && request !== null) {
    const { method, path, status, millis, code } = request as Readonly<Record<string, unknown>>;
    const answer = [status, ...(code === undefined ? [] : [code])].join(" ");
    return `${String(method)} ${String(path)} ${answer} in ${String(millis)} ms`;
  }
  if (typeof audit === "object" && audit !== null) {
    const { operation, outcome } = audit as Readonly<Record<string, unknown>>;
    return `audit ${String(operation)} ${String(outcome)}`;
  }
  return message;
}
