// What has been heard and sent, newest first.
import type { JSX } from "preact";
import { Empty } from "../parts/empty.js";

const kinds = ["durable", "ephemeral", "connection", "sent", "answer", "error"] as const;

export interface Moment {
  /** Counts up: the same may be heard twice within a millisecond. */
  readonly number: number;
  readonly at: Date;
  readonly kind: (typeof kinds)[number];
  readonly name: string;
  readonly data: unknown;
}

const tones: Readonly<Partial<Record<Moment["kind"], string>>> = {
  durable: "good",
  answer: "good",
  error: "bad",
};

/** The timeline, with a filter by kind. */
export function Timeline({
  moments,
  kind,
  setKind,
  clear,
  isConnected,
}: {
  readonly moments: readonly Moment[];
  readonly kind: string;
  readonly setKind: (kind: string) => void;
  readonly clear: () => void;
  readonly isConnected: boolean;
}): JSX.Element {
  const shown = moments.filter((one) => kind === "" || one.kind === kind);
  return (
    <section class="stack" aria-labelledby="timeline">
      <div class="row">
        <h2 id="timeline">Timeline</h2>
        <label class="row small">
          Show
          <select value={kind} onChange={(event) => setKind(event.currentTarget.value)}>
            <option value="">everything</option>
            {kinds.map((one) => (
              <option key={one} value={one}>
                {one}
              </option>
            ))}
          </select>
        </label>
        <button type="button" onClick={clear}>
          Clear
        </button>
      </div>
      <ol class="log" id="console" aria-live="polite" tabIndex={0} aria-label="Timeline">
        {shown.map(({ number, at, kind: is, name, data }) => (
          <li key={number} class="stack tight">
            <div class="row">
              <time class="small quiet" dateTime={at.toISOString()}>
                {at.toLocaleTimeString()}
              </time>
              <span class={`badge ${tones[is] ?? ""}`}>{is}</span>
              <code>{name}</code>
            </div>
            {data !== undefined && <code class="small">{JSON.stringify(data)}</code>}
          </li>
        ))}
      </ol>
      {shown.length === 0 && (
        <Empty title="Nothing yet">
          {isConnected ? "Signals appear here as they arrive." : "Connect to see events here."}
        </Empty>
      )}
    </section>
  );
}
