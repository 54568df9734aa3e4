// The states of a document as a picture: what may follow what, and who may have it follow.
import type { JSX } from "preact";
import type { StatesFacts } from "../openapi/document.js";

const box = { width: 128, height: 34, across: 104, down: 34 } as const;

interface Placed {
  readonly name: string;
  readonly x: number;
  readonly y: number;
}

interface StatesPictureProps {
  readonly namespace: string;
  readonly states: StatesFacts;
}

/** A picture of the moves, with the same in words for whoever can't see it. */
export function StatesPicture({ namespace, states }: StatesPictureProps): JSX.Element {
  const placed = placeStates(states);
  const at = new Map(placed.map((one) => [one.name, one]));
  const width = Math.max(...placed.map(({ x }) => x)) + box.width + 24;
  const height = Math.max(...placed.map(({ y }) => y)) + box.height + 64;
  const told = states.moves.map(
    ({ from, to, by }) => `${from} to ${to}${by === undefined ? "" : ` by ${by}`}`,
  );
  return (
    <figure class="stack tight states">
      <figcaption>
        <strong>{namespace}</strong> <span class="quiet">{`by ${states.field}`}</span>
      </figcaption>
      <svg
        role="img"
        aria-label={`${namespace} begin as ${states.initial.join(" or ")}, and go from ${told.join(", ")}`}
        viewBox={`0 0 ${width} ${height}`}
        width={width}
        height={height}
      >
        <defs>
          <marker
            id="arrow"
            viewBox="0 0 8 8"
            refX="7"
            refY="4"
            markerWidth="8"
            markerHeight="8"
            orient="auto"
          >
            <path d="M0 0L8 4L0 8z" />
          </marker>
        </defs>
        {states.moves.map(({ from, to, by }) => {
          const [start, end] = [at.get(from), at.get(to)];
          if (start === undefined || end === undefined) return null;
          const { path, middle } = lineBetween(start, end);
          return (
            <g key={`${from} ${to}`}>
              <path class="move" d={path} marker-end="url(#arrow)" />
              {by !== undefined && (
                <text class="by" x={middle.x} y={middle.y}>
                  {by}
                </text>
              )}
            </g>
          );
        })}
        {placed.map(({ name, x, y }) => (
          <g key={name} class={states.initial.includes(name) ? "state initial" : "state"}>
            <rect x={x} y={y} width={box.width} height={box.height} rx={box.height / 2} />
            <text x={x + box.width / 2} y={y + box.height / 2}>
              {name}
            </text>
          </g>
        ))}
      </svg>
    </figure>
  );
}

/** Each state in the column of how many moves lead to it at least. */
function placeStates({ initial, moves }: StatesFacts): readonly Placed[] {
  const columns: string[][] = [];
  const seen = new Set<string>(initial);
  for (let next = [...initial]; next.length > 0;) {
    columns.push(next);
    const followers = moves.filter(({ from }) => next.includes(from)).map(({ to }) => to);
    next = [...new Set(followers)].filter((name) => !seen.has(name));
    for (const name of next) seen.add(name);
  }
  return columns.flatMap((names, column) =>
    names.map((name, row) => ({
      name,
      x: 12 + column * (box.width + box.across),
      y: 12 + row * (box.height + box.down),
    })),
  );
}

interface Line {
  readonly path: string;
  readonly middle: { readonly x: number; readonly y: number };
}

/** A line forward goes from side to side; one back, or within a column, goes below. */
function lineBetween(from: Placed, to: Placed): Line {
  const half = box.height / 2;
  if (to.x > from.x) {
    const [x1, y1, x2, y2] = [from.x + box.width, from.y + half, to.x, to.y + half];
    const bend = (x2 - x1) / 2;
    return {
      path: `M${x1} ${y1}C${x1 + bend} ${y1} ${x2 - bend} ${y2} ${x2} ${y2}`,
      middle: { x: (x1 + x2) / 2, y: (y1 + y2) / 2 - 7 },
    };
  }
  const [x1, x2] = [from.x + box.width * 0.4, to.x + box.width * 0.6];
  const [y1, y2] = [from.y + box.height, to.y + box.height];
  const depth = Math.max(y1, y2) + 30;
  return {
    path: `M${x1} ${y1}C${x1} ${depth} ${x2} ${depth} ${x2} ${y2}`,
    middle: { x: (x1 + x2) / 2, y: depth - 4 },
  };
}
