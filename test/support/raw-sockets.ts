// Connections of bytes, for clients that break rules which libraries keep.
import { connect, type Socket } from "node:net";

/** A connection of bytes, and what has come back on it. */
export interface RawSocket {
  readonly socket: Socket;
  received(): Buffer;
  hasEnded(): boolean;
}

/** Connects to a service and sends its first bytes. */
export async function raw(url: string, first: string): Promise<RawSocket> {
  const socket = connect(Number(new URL(url).port), "127.0.0.1");
  let received = Buffer.alloc(0);
  let hasEnded = false;
  socket.on("data", (chunk: Buffer) => (received = Buffer.concat([received, chunk])));
  socket.on("close", () => (hasEnded = true));
  socket.on("error", () => undefined);
  await new Promise((resolve) => socket.once("connect", resolve));
  socket.write(first);
  return { socket, received: () => received, hasEnded: () => hasEnded };
}

/** The request of a WebSocket. */
export const upgrade = (token: string, path = "/realtime/ws"): string =>
  `GET ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n` +
  "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n";

export const fin = 0x80;
export const opcodes = { continuation: 0, text: 1, close: 8, ping: 9 };

/** A frame as a client sends it: masked with zeros, which leave the payload as it is. */
export function frame(first: number, payload: Buffer, isMasked = true): Buffer {
  const mask = isMasked ? 0x80 : 0;
  const head =
    payload.length < 126
      ? Buffer.from([first, mask | payload.length])
      : Buffer.from([first, mask | 126, payload.length >> 8, payload.length & 255]);
  return Buffer.concat([head, Buffer.alloc(isMasked ? 4 : 0), payload]);
}

/** A whole text frame. */
export const textFrame = (text: string): Buffer => frame(fin | opcodes.text, Buffer.from(text));
