// A port that is in use is reported in one line, even if another process was to open it.
import cluster from "node:cluster";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { startFault } from "./start-fault.js";

test("a process of a cluster says that its port is in use", async () => {
  const other = createServer();
  await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
  const { port } = other.address() as AddressInfo;
  cluster.setupPrimary({
    exec: "data:text/javascript,",
    execArgv: [
      "--input-type=module",
      "--eval",
      `import { createServer } from "node:net";
       const server = createServer();
       server.on("error", ({ code, syscall, address, port, message }) =>
         process.send({ code, syscall, address, port, message }, () => process.exit()));
       server.listen(${port}, "127.0.0.1");`,
    ],
    silent: true,
  });
  const worker = cluster.fork();
  const fault = await new Promise<object>((resolve) =>
    worker.on("message", (message) => resolve(message as object)),
  );
  other.close();
  expect(startFault(Object.assign(new Error("fault"), fault), "127.0.0.1")).toBe(
    `port ${port} of 127.0.0.1 is in use: end the process that has it, or set PORT to another one`,
  );
});
