// What opwright's fan-out is held against: `ws`, each connection sent the same string, and rooms of Socket.IO.
// Usage: fork with "ws" or "socketio" as the argument.
import { createServer } from "node:http";
import { Server } from "socket.io";
import { WebSocketServer } from "ws";

const http = createServer();
const kind = process.argv[2];
let broadcast;
if (kind === "ws") {
  const server = new WebSocketServer({ server: http, perMessageDeflate: false });
  broadcast = (text) => {
    const frame = JSON.stringify({ event: "bench.signal", id: null, data: { text } });
    for (const client of server.clients) client.send(frame);
  };
} else {
  const io = new Server(http, { transports: ["websocket"], serveClient: false });
  io.on("connection", (socket) => socket.join("bench"));
  broadcast = (text) => io.to("bench").emit("bench.signal", { id: null, data: { text } });
}
process.on("message", ({ text, each = 1, collect = false }) => {
  if (collect) globalThis.gc();
  else for (let index = 0; index < each; index += 1) broadcast(text);
  process.send({ done: true });
});
http.listen(0, "127.0.0.1", () => {
  const { port } = /** @type {import("node:net").AddressInfo} */ (http.address());
  process.send({ url: `http://127.0.0.1:${port}` });
});
