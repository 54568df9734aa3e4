// The bytes in which transports send a text, made once for all connections that a signal goes to.

/** One final, unmasked text frame of a WebSocket (RFC 6455 §5.2). */
export function textFrame(text: string): Buffer {
  const length = Buffer.byteLength(text);
  const head = length < 126 ? 2 : length < 0x1_0000 ? 4 : 10;
  const frame = Buffer.allocUnsafe(head + length);
  // FIN and the opcode for text.
  frame[0] = 0x81;
  if (head === 2) frame[1] = length;
  if (head === 4) {
    frame[1] = 126;
    frame.writeUInt16BE(length, 2);
  }
  if (head === 10) {
    frame[1] = 127;
    frame.writeBigUInt64BE(BigInt(length), 2);
  }
  frame.write(text, head);
  return frame;
}

/** One chunk of an HTTP message (RFC 9112 §7.1). */
export function httpChunk(text: string): Buffer {
  return Buffer.from(`${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`);
}
