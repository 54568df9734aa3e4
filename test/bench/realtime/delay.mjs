// A TCP proxy in a process of its own that brings every byte late, each way alike: a database that is a network away.
// Usage: fork with host, port and milliseconds as arguments; it sends the port that it listens on.
import { connect, createServer } from "node:net";

const [host, port, millis] = process.argv.slice(2);
const server = createServer({ noDelay: true }, (near) => {
  const far = connect({ host, port: Number(port), noDelay: true });
  late(near, far);
  late(far, near);
});
server.listen(0, "127.0.0.1", () => {
  const { port: own } = /** @type {import("node:net").AddressInfo} */ (server.address());
  process.send({ port: own });
});

function late(from, to) {
  const waiting = [];
  const deliver = () => {
    const now = performance.now();
    while (waiting.length > 0 && waiting[0].due <= now) to.write(waiting.shift().chunk);
    if (waiting.length > 0) setTimeout(deliver, waiting[0].due - now);
  };
  from.on("data", (chunk) => {
    waiting.push({ chunk, due: performance.now() + Number(millis) });
    // A timer of Node's is half a millisecond late on average.
    if (waiting.length === 1) setTimeout(deliver, Number(millis) - 0.5);
  });
  from.on("error", () => to.destroy());
  from.on("close", () => to.destroy());
}
