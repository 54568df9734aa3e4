// Receivers of webhooks that answer oddly, or not at all: what each does with a request, and how that attempt ends.
import { createServer, type Server, type Socket } from "node:net";

/** Writes again and again until the socket is gone, as fast as it is read. */
function endlessly(socket: Socket, text: string): void {
  const write = (): void => {
    while (!socket.destroyed && socket.write(text));
  };
  socket.on("drain", write);
  write();
}

/** One byte, then another whenever the timer fires: never silent, and never done. */
function drip(socket: Socket, text: string): void {
  const timer = setInterval(() => socket.write(text), 100);
  socket.on("close", () => clearInterval(timer));
}

const head = "HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\n";

/** By name: what a receiver does, and the error of its attempt; null where it counts as delivered. */
export const oddReceivers: Readonly<
  Record<string, readonly [(socket: Socket) => void, RegExp | null]>
> = {
  "101 with a protocol": [
    (socket) =>
      socket.write("HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n"),
    /answered 101/,
  ],
  "101 without one": [(socket) => socket.write("HTTP/1.1 101 Switching Protocols\r\n\r\n"), /./],
  "a flood of interim answers": [
    (socket) => endlessly(socket, "HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n".repeat(100)),
    /interim answers/,
  ],
  "an interim answer and nothing more": [
    (socket) => socket.write("HTTP/1.1 102 Processing\r\n\r\n"),
    /no answer within/,
  ],
  "a redirect to itself": [
    (socket) =>
      socket.end("HTTP/1.1 307 Temporary Redirect\r\nlocation: \r\ncontent-length: 0\r\n\r\n"),
    /answered 307/,
  ],
  silence: [() => undefined, /no answer within/],
  "half a connection": [(socket) => socket.end(), /./],
  "a header without end": [
    (socket) => endlessly(socket, "HTTP/1.1 200 OK\r\nx: " + "y".repeat(9_000)),
    /./,
  ],
  "a dripping header": [
    (socket) => {
      socket.write("HTTP/1.1 200 OK\r\n");
      drip(socket, "x: y\r\n");
    },
    /no answer within|./,
  ],
  "a body without end": [(socket) => endlessly(socket, `${head}\r\n${"y".repeat(9_000)}`), null],
  "a dripping body": [
    (socket) => {
      socket.write(`${head}\r\n`);
      drip(socket, "y");
    },
    null,
  ],
  "a reset after the header": [
    (socket) => socket.write(`${head}content-length: 5\r\n\r\n`, () => socket.resetAndDestroy()),
    null,
  ],
  "a reset": [(socket) => socket.resetAndDestroy(), /./],
  garbage: [(socket) => socket.write("\u0000\u0001\u0002 what?\r\n\r\n"), /./],
  "a preface of HTTP/2": [(socket) => socket.write("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), /./],
  trailers: [
    (socket) =>
      socket.write(`${head}transfer-encoding: chunked\r\n\r\n1\r\ny\r\n0\r\nx-end: yes\r\n\r\n`),
    null,
  ],
};

/** A server that does with `POST /<name>` what the receiver of that name does; its open sockets go into `sockets`. */
export function oddServer(sockets: Set<Socket>): Server {
  return createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => undefined);
    socket.on("close", () => sockets.delete(socket));
    let isAsked = false;
    socket.on("data", (chunk: Buffer) => {
      if (isAsked) return;
      isAsked = true;
      const path = /^POST \/(\S*)/.exec(chunk.toString())?.[1] ?? "";
      oddReceivers[decodeURIComponent(path)]?.[0](socket);
    });
  });
}
