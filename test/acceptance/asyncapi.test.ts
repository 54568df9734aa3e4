// The AsyncAPI document of the realtime plane: valid by its own parser, served, and true of the frames that are sent.
import { readFileSync } from "node:fs";
import { Parser } from "@asyncapi/parser";
import { Ajv2020 } from "ajv/dist/2020.js";
import { expect, test } from "vitest";
import { WebSocket } from "ws";
import { formats } from "../../runtime/contract/validation.js";
import { engines } from "../engines.js";
import { peopleOf } from "./people.js";
import { generated, startTestService } from "./service.js";

const text = readFileSync(`${generated}/asyncapi.json`, "utf8");
const document = JSON.parse(text);

test("the document is valid AsyncAPI 3.0", async () => {
  const { document: parsed, diagnostics } = await new Parser().parse(text);
  const faults = diagnostics.filter(({ severity }) => severity === 0);
  expect(faults.map(({ message, path }) => `${path.join("/")}: ${message}`)).toEqual([]);
  expect(parsed?.version()).toBe("3.0.0");
  expect(document.info["x-svc-realtime-protocol"]).toBe(1);
  expect(document.channels["task_assigned"]).toMatchObject({
    "x-svc-audience-kinds": ["principal"],
    "x-svc-offline-delivery": true,
  });
});

test("it is served, and frames are as it says", async () => {
  const [engine] = engines;
  if (engine === undefined) throw new Error("there is no SQLite");
  const service = await startTestService(engine, { signsIn: false });
  const people = peopleOf(service);
  const writer = await people.member("", "tasks.write", "projects.read", "projects.write");
  expect((await service.call("GET", "/asyncapi.json")).body).toEqual(document);
  const project = (await people.as(writer.token, "POST", "/projects", { name: "P", key: "PP" }))
    .body.id;
  const address = `${service.url.replace("http", "ws")}/realtime/ws?topics=project:${project}`;
  const socket = new WebSocket(address, ["realtime.v1", `bearer.${writer.token}`]);
  const frames: { readonly event: string; readonly id: unknown; readonly data: unknown }[] = [];
  socket.on("message", (data: Buffer) => frames.push(JSON.parse(data.toString())));
  await new Promise((resolve) => socket.once("open", resolve));
  expect(socket.protocol).toBe("realtime.v1");
  const body = { title: "t", project, assignee: writer.id };
  await people.as(writer.token, "POST", "/tasks", body);
  await expect.poll(() => frames.length).toBe(3);
  const ajv = new Ajv2020({ strict: false, formats, validateFormats: true });
  ajv.addSchema(document, "asyncapi");
  for (const { event, id, data } of frames) {
    const name = event.replace(".", "_");
    const pointer = `asyncapi#/components/messages/${name}/payload`;
    expect([event, ajv.validate(pointer, { id, data }), ajv.errorsText()]).toEqual([
      event,
      true,
      "No errors",
    ]);
  }
  expect(frames.map(({ event }) => event).toSorted()).toEqual([
    "realtime.presence",
    "task.assigned",
    "task.changed",
  ]);
  socket.close();
  await service.stop();
});
