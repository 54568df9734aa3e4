// Writes the answers of one turn of the event loop at its end, each with one system call. A write
// wakes its reader. If the readers are on this machine (a proxy, a load generator), waking one
// after each answer takes longer than making the answer.
import { Socket } from "node:net";
import { runNextTurn } from "../ports/ambient.js";

const gather = Socket.prototype._writev;

/** How many answers may wait for each other. */
export const mostTogether = 16;

interface Answer {
  readonly socket: Socket;
  readonly piece: Piece;
  readonly done: Done;
}

type Piece = Parameters<NonNullable<typeof gather>>[0][number];
type Done = Parameters<NonNullable<typeof gather>>[1];

let waiting: Answer[] = [];

/**
 * Makes a socket write answers that are one piece of text at the end of the turn, or as soon as
 * `mostTogether` of them wait. Node ends each with an empty piece, and gathering the two would take
 * a fifth of a request's time. Other pieces are gathered and written at once, as Node does it. The
 * stream keeps the order on one socket.
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
  const count = waiting.push({ socket: this, piece, done });
  if (count === 1) runNextTurn(writeAll);
  else if (count >= mostTogether) writeAll();
}

function writeAll(): void {
  const answers = waiting;
  waiting = [];
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
