// A herd of WebSockets in a process of its own, which counts what each hears. Usage: node realtime-herd.mjs URL TOPIC, with the
// tokens as a JSON list on its input's first line; then a line `open`, `kill` or `count` each, answered by a line of JSON.
import { createInterface } from "node:readline";
import { WebSocket } from "ws";

const [url, topic] = process.argv.slice(2);
const address = `${url.replace("http", "ws")}/realtime/ws?topics=${topic}`;
let tokens = [];
let sockets = [];
let frames = 0;
/** The last count of those on the topic that each connection has heard. */
let counts = new Map();

const opened = (token) =>
  new Promise((resolve, reject) => {
    const socket = new WebSocket(address, { headers: { authorization: `Bearer ${token}` } });
    sockets.push(socket);
    socket.on("error", reject);
    socket.on("close", (code) => reject(new Error(`closed with ${code}`)));
    socket.on("message", (text) => {
      const { event, data } = JSON.parse(text.toString());
      if (event === undefined) return;
      frames += 1;
      if (data.count !== undefined) counts.set(socket, data.count);
      resolve();
    });
  });

const answers = {
  async open() {
    frames = 0;
    await Promise.all(tokens.map(opened));
    return {};
  },
  async kill() {
    for (const socket of sockets) socket.terminate();
    sockets = [];
    counts = new Map();
    return {};
  },
  async count() {
    const open = sockets.filter(({ readyState }) => readyState === WebSocket.OPEN).length;
    const told = [...counts.values()];
    return { open, frames, least: Math.min(...told), most: Math.max(...told), told: told.length };
  },
};

for await (const line of createInterface({ input: process.stdin })) {
  if (line.startsWith("[")) tokens = JSON.parse(line);
  else
    process.stdout.write(
      `${JSON.stringify(await answers[line]().catch((error) => ({ error: String(error) })))}\n`,
    );
}
