// Writes the answers of one turn of the event loop at its end, each with one system call. A write
// wakes its reader. If the readers are on this machine (a proxy, a load generator), waking one
// after each answer takes longer than making the answer.
import { Socket } from "node:net";
import { monotonicMillis, runNextTurn } from "../ports/ambient.js";

const gather = Socket.prototype._writev;

/** How long an answer may wait for others, in milliseconds. */
const longestMillis = 1;
/**
 * Where other work takes its time turn by turn, so that answers have waited for longer, they are
 * written at once for a while. What happens now and then, such as a collection of garbage, doesn't
 * count: a late turn is made up for by twenty in time.
 */
const rest = { afterLate: 3, timelyShare: 1 / 20, millis: 1_000 } as const;

interface Answer {
  readonly socket: Socket;
  readonly piece: Piece;
  readonly done: Done;
}

type Piece = Parameters<NonNullable<typeof gather>>[0][number];
type Done = Parameters<NonNullable<typeof gather>>[1];

let waiting: Answer[] = [];
/** When the first of them began to wait. */
let waitingSince = 0;
/** Turns that were late, less what others have made up for. */
let late = 0;
let restsUntil = 0;

/**
 * Makes a socket write answers that are one piece of text at the end of the turn, or as soon as the
 * first of them has waited for half of its time. Node ends each with an empty piece, and gathering
 * the two would take a fifth of a request's time. Other pieces are gathered and written at once, as
 * Node does it. The stream keeps the order on one socket. Whoever destroys the socket in between
 * takes the answer with it.
 */
export function writeWithOthers(socket: Socket): void {
  if (gather !== undefined) socket._writev = write;
}

function write(this: Socket, pieces: Piece[], done: Done): void {
  const [piece, end] = pieces;
  if (piece === undefined || pieces.length !== 2 || end?.chunk.length !== 0) {
    gather?.call(this, pieces, done);
    return;
  }
  const now = monotonicMillis();
  const isFirst = waiting.push({ socket: this, piece, done }) === 1;
  if (isFirst && now >= restsUntil) {
    waitingSince = now;
    runNextTurn(writeAll);
  } else if (isFirst || now - waitingSince >= longestMillis / 2) writeAll();
}

function writeAll(): void {
  if (waiting.length === 0) return;
  const answers = waiting;
  waiting = [];
  const now = monotonicMillis();
  if (now >= restsUntil) restAfter(now - waitingSince, now);
  for (const { socket, piece, done } of answers) {
    try {
      socket._write(piece.chunk, piece.encoding, done);
    } catch (error) {
      // Who listens for the end of this answer has thrown. The others must not stay unwritten for
      // that.
      process.nextTick(() => {
        throw error;
      });
    }
  }
}

/** Lets answers wait for nobody for a while, where they have waited for too long. */
function restAfter(waitedMillis: number, now: number): void {
  late = waitedMillis > longestMillis ? late + 1 : Math.max(0, late - rest.timelyShare);
  if (late < rest.afterLate) return;
  // Then one that is late is enough for another rest.
  late -= 1;
  restsUntil = now + rest.millis;
}
