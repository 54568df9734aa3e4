// A line of values over time, with the last of them in words.
import type { JSX } from "preact";
import type { Line } from "./metrics.js";

const width = 160;
const height = 32;
/** So that a value that stays the same doesn't look as if it had reached a limit. */
const headroom = 1.5;

/** A card with a title, the last value, and the line. */
export function Sparkline({ line }: { readonly line: Line }): JSX.Element {
  const { title, unit, values, limit } = line;
  const last = values.at(-1);
  const most = Math.max(...values, 0) || 1;
  const step = width / Math.max(1, values.length - 1);
  const points = values.map((value, index) => {
    const y = height - 1 - (value / most / headroom) * (height - 2);
    return `${(index * step).toFixed(1)},${y.toFixed(1)}`;
  });
  return (
    <div class="card stack tight">
      <h3>{title}</h3>
      <p>
        <strong class={line.isBad ? "figure bad" : "figure"}>
          {last === undefined ? "…" : numberText(last)}
        </strong>{" "}
        <span class="small quiet">{limit === null ? unit : `of ${numberText(limit)} ${unit}`}</span>
      </p>
      <svg
        class="spark"
        viewBox={`0 0 ${width} ${height}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`${title} over the last minutes, at most ${numberText(most)}`}
      >
        <polyline points={points.join(" ")} fill="none" />
      </svg>
    </div>
  );
}

function numberText(value: number): string {
  return value.toLocaleString(undefined, { maximumFractionDigits: value < 10 ? 2 : 0 });
}
