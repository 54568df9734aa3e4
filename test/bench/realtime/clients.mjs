// Many connections of one kind on bare sockets, which count how often they hear a mark. They take as little CPU as can be,
// since they share the machine with what is measured.
import { randomBytes } from "node:crypto";
import { connect } from "node:net";

/** A ping of a WebSocket, its answer (RFC 6455 §5.5), and a ping of Engine.IO: the text "2". */
const ping = Buffer.from([0x89, 0x00]);
const pong = Buffer.from([0x8a, 0x80, 0, 0, 0, 0]);
const enginePing = Buffer.from([0x81, 0x01, 0x32]);

let heard = 0;
const sockets = [];

/** A masked text frame of a client (RFC 6455 §5.2). */
function textFrame(text) {
  const body = Buffer.from(text);
  const head =
    body.length < 126
      ? Buffer.from([0x81, 0x80 | body.length])
      : Buffer.from([0x81, 0x80 | 126, body.length >> 8, body.length & 255]);
  // A mask of zeros leaves the text as it is.
  return Buffer.concat([head, Buffer.alloc(4), body]);
}

function open({ kind, port, path, token, auth, mark }) {
  return new Promise((resolve, reject) => {
    const socket = connect(port, "127.0.0.1");
    sockets.push(socket);
    socket.setNoDelay(true);
    const headers = [
      `GET ${path} HTTP/1.1`,
      "Host: 127.0.0.1",
      ...(token === undefined ? [] : [`Authorization: Bearer ${token}`]),
      ...(kind === "sse"
        ? ["Accept: text/event-stream"]
        : [
            "Connection: Upgrade",
            "Upgrade: websocket",
            "Sec-WebSocket-Version: 13",
            `Sec-WebSocket-Key: ${randomBytes(16).toString("base64")}`,
          ]),
    ];
    socket.write(`${headers.join("\r\n")}\r\n\r\n`);
    let isOpen = false;
    let rest = Buffer.alloc(0);
    let tail = Buffer.alloc(0);
    const needle = Buffer.from(mark);
    const begin = (text) => {
      if (!/^HTTP\/1\.1 (?:101|200)/.test(text)) {
        reject(new Error(text));
        return;
      }
      isOpen = true;
      if (kind === "socketio") socket.write(textFrame(`40${JSON.stringify(auth ?? {})}`));
      resolve(undefined);
    };
    socket.on("data", (chunk) => {
      if (!isOpen) begin(chunk.toString("latin1"));
      const data = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
      let from = 0;
      for (;;) {
        const at = data.indexOf(needle, from);
        if (at < 0) break;
        heard += 1;
        from = at + needle.length;
      }
      // A mark may be cut in two.
      rest = Buffer.from(data.subarray(Math.max(from, data.length - needle.length + 1)));
      // Pings may come with signals, or in two pieces. Their bytes stand in no text of JSON.
      const seen = Buffer.concat([tail, chunk]);
      if (kind === "socketio" && seen.includes(enginePing)) socket.write(textFrame("3"));
      if (kind === "ws" && seen.includes(ping)) socket.write(pong);
      tail = Buffer.from(seen.subarray(kind === "socketio" ? -2 : -1));
    });
    socket.on("error", reject);
    socket.on("close", () => {
      if (!isEnding) process.send({ error: "a connection was ended" });
    });
  });
}

let isEnding = false;
process.on("message", async ({ connections, ask, end }) => {
  if (connections !== undefined) {
    for (let at = 0; at < connections.length; at += 100)
      await Promise.all(connections.slice(at, at + 100).map(open));
    process.send({ opened: true });
  }
  if (ask === true) process.send({ heard });
  if (end === true) {
    isEnding = true;
    for (const socket of sockets) socket.destroy();
    process.exit(0);
  }
});
