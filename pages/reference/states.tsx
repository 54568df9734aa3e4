// The states of a document as a picture: what may follow what, and who may have it follow.
import type { JSX } from "preact";
import type { StatesFacts } from "../openapi/document.js";

const box = { height: 34, across: 120, down: 30 } as const;
/** Moves that don't go on to the next column have a lane each, above or below all states. */
const lane = { height: 26, margin: 18 } as const;
const letter = 8;
/** Letters of a name that are shown. */
const shown = 22;
/** Where lines turn, beside the first and the last column. */
const side = 64;

type Move = StatesFacts["moves"][number];

interface Placed {
  readonly name: string;
  readonly x: number;
  readonly y: number;
}

interface Drawn {
  readonly move: Move;
  readonly path: string;
  readonly label: { readonly x: number; readonly y: number };
}

interface StatesPictureProps {
  readonly namespace: string;
  readonly states: StatesFacts;
}

/** A picture of the moves, and the same in words. */
export function StatesPicture({ namespace, states }: StatesPictureProps): JSX.Element {
  const { placed, drawn, width, height, wide } = drawStates(states);
  const id = `arrow-${namespace}`;
  return (
    <figure class="stack tight states">
      <figcaption>
        <strong>{namespace}</strong> <span class="quiet">{`by ${states.field}`}</span>
      </figcaption>
      <div class="scrolls" tabIndex={0}>
        <svg role="img" aria-label={`The states of ${namespace}`} width={width} height={height}>
          <defs>
            <marker
              id={id}
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
          {drawn.map(({ move, path }) => (
            <path key={keyOf(move)} class="move" d={path} marker-end={`url(#${id})`} />
          ))}
          {placed.map(({ name, x, y }) => (
            <g key={name} class={states.initial.includes(name) ? "state initial" : "state"}>
              <rect x={x} y={y} width={wide} height={box.height} rx={box.height / 2} />
              <text x={x + wide / 2} y={y + box.height / 2}>
                {name.length > shown ? `${name.slice(0, shown - 1)}…` : name}
              </text>
            </g>
          ))}
          {drawn.map(({ move, label }) =>
            move.by === undefined ? null : (
              <text key={keyOf(move)} class="by" x={label.x} y={label.y}>
                {move.by}
              </text>
            ),
          )}
        </svg>
      </div>
      <details>
        <summary>In words</summary>
        <ul>
          {states.initial.map((name) => (
            <li key={name}>{`New ones may be ${name}.`}</li>
          ))}
          {states.moves.map((move) => (
            <li
              key={keyOf(move)}
            >{`From ${move.from} to ${move.to}${move.by === undefined ? "" : `, by ${move.by}`}`}</li>
          ))}
        </ul>
      </details>
    </figure>
  );
}

function keyOf({ from, to }: Move): string {
  return JSON.stringify([from, to]);
}

function drawStates(states: StatesFacts) {
  const columns = columnsOf(states);
  const longest = Math.max(...columns.flat().map((name) => Math.min(name.length, shown)));
  const wide = Math.max(96, longest * letter + 32);
  const columnOf = new Map(
    columns.flatMap((names, at) => names.map((name) => [name, at] as const)),
  );
  const gap = (move: Move): number => (columnOf.get(move.to) ?? 0) - (columnOf.get(move.from) ?? 0);
  const above = states.moves.filter((move) => gap(move) > 1);
  const below = states.moves.filter((move) => gap(move) < 1);
  const top = lane.margin + above.length * lane.height;
  const rows = Math.max(...columns.map(({ length }) => length));
  const bottom = top + rows * (box.height + box.down);
  const placed = columns.flatMap((names, column) =>
    names.map((name, row): Placed => ({
      name,
      x: side + column * (wide + box.across),
      y: top + row * (box.height + box.down),
    })),
  );
  const at = new Map(placed.map((one) => [one.name, one]));
  const drawn = states.moves.flatMap((move): readonly Drawn[] => {
    const [from, to] = [at.get(move.from), at.get(move.to)];
    if (from === undefined || to === undefined) return [];
    if (gap(move) === 1) return [{ move, ...lineOn(from, to, wide) }];
    const isAbove = gap(move) > 1;
    const order = (isAbove ? above : below).indexOf(move);
    const level = isAbove ? top - 12 - order * lane.height : bottom - 8 + order * lane.height;
    return [{ move, ...lineAround(from, to, wide, { level, order }) }];
  });
  return {
    placed,
    drawn,
    wide,
    width: columns.length * (wide + box.across) - box.across + 2 * side,
    height: bottom + below.length * lane.height + lane.margin,
  };
}

/** Each state in the column of how many moves lead to it at least; what nothing leads to is last. */
function columnsOf({ initial, moves }: StatesFacts): readonly (readonly string[])[] {
  const columns: string[][] = [];
  const seen = new Set<string>(initial);
  for (let next = [...initial]; next.length > 0;) {
    columns.push(next);
    const followers = moves.filter(({ from }) => next.includes(from)).map(({ to }) => to);
    next = [...new Set(followers)].filter((name) => !seen.has(name));
    for (const name of next) seen.add(name);
  }
  const others = new Set(moves.flatMap(({ from, to }) => [from, to]));
  const left = [...others].filter((name) => !seen.has(name));
  return left.length === 0 ? columns : [...columns, left];
}

/** A line to the next column. */
function lineOn(from: Placed, to: Placed, wide: number): Omit<Drawn, "move"> {
  const half = box.height / 2;
  const [x1, y1, x2, y2] = [from.x + wide, from.y + half, to.x, to.y + half];
  const bend = (x2 - x1) / 2;
  return {
    path: `M${x1} ${y1}C${x1 + bend} ${y1} ${x2 - bend} ${y2} ${x2} ${y2}`,
    label: { x: (x1 + x2) / 2, y: (y1 + y2) / 2 - 8 },
  };
}

/** A line around all states, in a lane of its own. */
function lineAround(
  from: Placed,
  to: Placed,
  wide: number,
  { level, order }: { readonly level: number; readonly order: number },
): Omit<Drawn, "move"> {
  // Lines leave and reach a box beside each other, in the space between columns.
  const shift = 10 + ((order * 9) % (box.across / 2 - 14));
  const half = box.height / 2;
  const [x1, x2] = [from.x + wide + shift, to.x - shift];
  const [y1, y2] = [from.y + half, to.y + half];
  return {
    path: `M${from.x + wide} ${y1}H${x1}V${level}H${x2}V${y2}H${to.x}`,
    label: { x: (x1 + x2) / 2, y: level - 8 },
  };
}
