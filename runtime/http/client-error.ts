// Requests that Node's parser refuses: they too are answered with the error envelope (decisions.md "Errors").
import type { Server } from "node:http";
import type { Duplex } from "node:stream";
import { fail, toEnvelope, type ErrorCode, errors } from "../contract/errors.js";

const codes: Readonly<Record<string, ErrorCode>> = {
  HPE_HEADER_OVERFLOW: "headers_too_large",
  ERR_HTTP_REQUEST_TIMEOUT: "request_timeout",
};

const reasons: Readonly<Record<number, string>> = {
  400: "Bad Request",
  408: "Request Timeout",
  431: "Request Header Fields Too Large",
};

/** Answers malformed HTTP with 400, 408 or 431 and closes the connection. */
export function answerClientErrors(server: Server): void {
  server.on("clientError", (error: NodeJS.ErrnoException, socket: Duplex) => {
    if (error.code === "ECONNRESET" || !socket.writable) {
      socket.destroy();
      return;
    }
    const code = codes[error.code ?? ""] ?? "http_malformed";
    const { status } = errors[code];
    const body = JSON.stringify(toEnvelope(fail(code)));
    socket.end(
      `HTTP/1.1 ${status} ${reasons[status] ?? "Bad Request"}\r\n` +
        `Content-Type: application/json; charset=utf-8\r\nContent-Length: ${Buffer.byteLength(body)}\r\n` +
        `X-Error-Code: ${code}\r\nConnection: close\r\n\r\n${body}`,
    );
  });
}
