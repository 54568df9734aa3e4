// What has been heard and sent, newest first.
import type { JSX } from "preact";
import { Empty } from "../parts/empty.js";

export interface Moment {
  readonly at: Date;
  /** `durable`, `ephemeral`, `connection`, `sent`, `answer` or `error`. */
  readonly kind: "durable" | "ephemeral" | "connection" | "sent" | "answer" | "error";
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
}: {
  readonly moments: readonly Moment[];
  readonly kind: string;
  readonly setKind: (kind: string) => void;
  readonly clear: () => void;
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
            {["durable", "ephemeral", "connection", "sent", "answer", "error"].map((one) => (
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
        {shown.map(({ at, kind: is, name, data }) => (
          <li key={`${at.getTime()} ${name} ${JSON.stringify(data)}`} class="stack tight">
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
        <Empty title="Nothing yet">Connect, and what you hear stands here.</Empty>
      )}
    </section>
  );
}
