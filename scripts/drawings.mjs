// npm run drawings: draws the pictures of docs/ that show how things go, each in two rows of steps. With --check it says
// which are out of date.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "./prepare.mjs";

const drawings = {
  request: {
    title: "A request",
    description:
      "A request passes the route, the boundary, its input's checks and the guards; then one transaction runs the handler, and what follows happens after the commit.",
    rows: [
      [
        ["Route", "method and path", "deadline starts"],
        ["Boundary", "who is calling", "in which tenant"],
        ["Input", "parameters and body", "checked by schema"],
        ["Guards", "policies, scopes,", "your before hooks"],
      ],
      [
        ["Transaction", "your handler", "documents, events"],
        ["Commit", "all of it, or none"],
        ["After", "signals, webhooks", "after_commit hooks"],
        ["Answer", "cut and checked", "ETag, error table"],
      ],
    ],
  },
  signal: {
    title: "A durable signal",
    description:
      "A handler stages a signal in its transaction. After the commit it is numbered in the mailbox, the bus wakes all processes, and each connection of its principal hears it until it is acknowledged.",
    rows: [
      [
        ["Your handler", "stageSignal(…)", "in its transaction"],
        ["Commit", "rolled back: nobody", "ever hears it"],
        ["Mailbox", "numbered, no gaps", "one per principal"],
        ["Bus", "wakes every process", "PostgreSQL or Redis"],
      ],
      [
        ["Connection", "Socket.IO, SSE", "or WebSocket"],
        ["Client", "live.on(event, …)", "types from YAML"],
        ["Acknowledged", "the device's place", "moves on"],
        ["Away?", "it waits, and comes", "when you are back"],
      ],
    ],
  },
  change: {
    title: "A change, from YAML to the pull request",
    description:
      "You change the registry, generate, and commit both. In the pull request, check holds that nothing drifts and diff says what the change does to clients.",
    rows: [
      [
        ["registry/", "you change YAML", "or a handler"],
        ["generate", "routes, validators,", "client, migration"],
        ["commit", "registry/ and", "generated/ together"],
        ["pull request", "reviewers read", "what will run"],
      ],
      [
        ["check", "fails if generated/", "doesn't match"],
        ["diff", "opens, breaking,", "additive, safe to roll"],
        ["test", "your own tests,", "real engines"],
        ["merge", "client pack", "for the front end"],
      ],
    ],
  },
  rollout: {
    title: "A rollout without a pause",
    description:
      "The migration only adds. The new version runs beside the old one, both read and write the same rows; when the old one has ended, its rows are rewritten.",
    rows: [
      [
        ["migrate --plan", "what it would do,", "and which locks"],
        ["migrate", "only adds:", "the old one goes on"],
        ["Both run", "v1 and v2 read", "each other's rows"],
      ],
      [
        ["v1 ends", "connections drain,", "clients reconnect"],
        ["Rows follow", "older shapes are", "rewritten in batches"],
        ["Roll back?", "start v1 again:", "it reads v2's rows"],
      ],
    ],
  },
};

const width = 200;
const height = 96;
const gap = 44;
const margin = 20;

const style = `
    .box { fill: #f6f7f9; stroke: #d9dde3; }
    .head { font: 600 15px system-ui, sans-serif; fill: #1a1f27; }
    .text { font: 13px system-ui, sans-serif; fill: #545d6a; }
    .arrow { stroke: #2748c9; stroke-width: 2; fill: none; }
    .tip { fill: #2748c9; }
    @media (prefers-color-scheme: dark) {
      .box { fill: #171b21; stroke: #2b313a; }
      .head { fill: #e6e9ee; }
      .text { fill: #a3acb9; }
      .arrow { stroke: #8ea6ff; }
      .tip { fill: #8ea6ff; }
    }`;

for (const [name, drawing] of Object.entries(drawings)) {
  const path = join(root, `docs/pictures/${name}.svg`);
  const text = draw(drawing);
  if (process.argv[2] !== "--check") writeFileSync(path, text);
  else if (readFileSync(path, "utf8") !== text) {
    console.error(`docs/pictures/${name}.svg is not what is drawn: run npm run drawings`);
    process.exitCode = 1;
  }
}

function draw({ title, description, rows }) {
  const columns = Math.max(...rows.map((row) => row.length));
  const whole = margin * 2 + columns * width + (columns - 1) * gap;
  const high = margin * 2 + rows.length * height + (rows.length - 1) * gap;
  const parts = rows.flatMap((row, at) => [
    ...row.flatMap((step, column) => box(step, left(column), top(at))),
    ...row.slice(1).flatMap((_, column) => across(left(column) + width, top(at) + height / 2)),
    ...(at === 0 ? [] : back(left(rows[at - 1].length - 1), top(at - 1))),
  ]);
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${whole} ${high}" role="img" aria-labelledby="t d">
  <title id="t">${title}</title>
  <desc id="d">${description}</desc>
  <style>${style}
  </style>
${parts.map((part) => `  ${part}`).join("\n")}
</svg>
`;
}

function left(column) {
  return margin + column * (width + gap);
}

function top(row) {
  return margin + row * (height + gap);
}

/** A step: its name, and a line or two about it. */
function box([head, ...lines], x, y) {
  return [
    `<rect class="box" x="${x}" y="${y}" width="${width}" height="${height}" rx="8" />`,
    `<text class="head" x="${x + 14}" y="${y + 28}">${head}</text>`,
    ...lines.map(
      (line, at) => `<text class="text" x="${x + 14}" y="${y + 52 + at * 20}">${line}</text>`,
    ),
  ];
}

/** An arrow to the step beside it. */
function across(x, y) {
  return [
    `<path class="arrow" d="M${x + 6} ${y} H${x + gap - 14}" />`,
    `<path class="tip" d="M${x + gap - 16} ${y - 6} L${x + gap - 4} ${y} L${x + gap - 16} ${y + 6} Z" />`,
  ];
}

/** An arrow from the end of a row to the beginning of the next. */
function back(x, y) {
  const from = x + width / 2;
  const to = margin + width / 2;
  const middle = y + height + gap / 2;
  const end = y + height + gap;
  return [
    `<path class="arrow" d="M${from} ${y + height + 4} V${middle} H${to} V${end - 12}" />`,
    `<path class="tip" d="M${to - 6} ${end - 14} L${to} ${end - 2} L${to + 6} ${end - 14} Z" />`,
  ];
}
