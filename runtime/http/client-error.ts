// Requests that Node's parser refuses: they too are answered with the error envelope (decisions.md
// "Errors").
import { STATUS_CODES, type Server } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { fail, headersOf, type ErrorCode, type ServiceError } from "../contract/errors.js";
import type { PrintError } from "../operations/error-envelope.js";
import type { Connections } from "./connections.js";
import { breakBody } from "./input/read-body.js";
import { jsonType } from "./reply.js";
import { securityHeaders } from "./security-headers.js";
import { startTimer } from "../ports/ambient.js";

/** Milliseconds that a client has to read a refusal. */
const unreadMillis = 5_000;

const codes: Readonly<Record<string, ErrorCode>> = {
  HPE_HEADER_OVERFLOW: "headers_too_large",
  ERR_HTTP_REQUEST_TIMEOUT: "request_timeout",
};

/**
 * Answers malformed HTTP with 400, 408 or 431, and CONNECT with 405, each after what came before on
 * its connection, and closes the connection.
 */
export function answerClientErrors(
  server: Server,
  connections: Connections,
  print: PrintError,
): void {
  server.on("clientError", (error: NodeJS.ErrnoException, socket: Socket) => {
    if (error.code === "ECONNRESET" || !socket.writable) {
      socket.destroy();
      return;
    }
    const refusal = fail(codes[error.code ?? ""] ?? "http_malformed");
    connections.refuseRest(socket, {
      hasLeft: error.code === "HPE_INVALID_EOF_STATE",
      refuse: () => refuse(socket, refusal, print),
      breakBody: (req) => breakBody(req, refusal),
    });
  });
  server.on("connect", (_req, socket: Socket) => {
    const headers = { Allow: "GET, HEAD, POST, PUT, PATCH, DELETE" };
    connections.switchOver(socket, () =>
      refuse(socket, fail("method_not_allowed", {}, { headers }), print),
    );
  });
}

/** Answers on a bare connection, and ends it. */
export function refuse(socket: Duplex, error: ServiceError, print: PrintError): void {
  const body = print(error);
  const headers = {
    "Content-Type": jsonType,
    "Content-Length": String(Buffer.byteLength(body)),
    ...securityHeaders,
    Connection: "close",
    ...headersOf(error),
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  // Node takes its own listener away before "connect": a caller who resets must not end the
  // process.
  socket.on("error", () => socket.destroy());
  // A client that doesn't read it isn't waited for.
  const patience = startTimer(() => socket.destroy(), unreadMillis).unref();
  socket.once("close", () => clearTimeout(patience));
  socket.end(
    `HTTP/1.1 ${error.status} ${STATUS_CODES[error.status] ?? ""}\r\n${lines.join("")}\r\n${body}`,
    () => socket.destroy(),
  );
}
