// node:http alone, with the least that the work needs.
import { createServer } from "node:http";
import { Ajv2020 } from "ajv/dist/2020.js";
import { formats } from "../../../dist/runtime/contract/validation.js";
import { findTask, makeTask, routeCount, schema } from "./work.mjs";

const validate = new Ajv2020({ formats, allErrors: true, strict: false }).compile(schema);
const names = new Set(Array.from({ length: routeCount / 2 }, (_, index) => `/tasks${index}`));

const send = (res, status, value) => {
  const text = JSON.stringify(value);
  res.writeHead(status, {
    "Content-Type": "application/json; charset=utf-8",
    "Content-Length": Buffer.byteLength(text),
  });
  res.end(text);
};

createServer((req, res) => {
  const [, root, id] = /^(\/tasks\d+)(?:\/([^/?]+))?$/.exec(req.url) ?? [];
  if (!names.has(root)) return send(res, 404, {});
  if (req.method === "GET" && id !== undefined) {
    const task = findTask(id);
    return task === undefined ? send(res, 404, {}) : send(res, 200, task);
  }
  const chunks = [];
  req.on("data", (chunk) => chunks.push(chunk));
  req.on("end", () => {
    const body = JSON.parse(Buffer.concat(chunks).toString());
    if (!validate(body)) return send(res, 422, {});
    send(res, 201, makeTask(body));
  });
}).listen(Number(process.env.PORT), "127.0.0.1");
