// Express 5 with express.json() and Ajv.
import { Ajv2020 } from "ajv/dist/2020.js";
import express from "express";
import { formats } from "../../../dist/runtime/contract/validation.js";
import { findTask, makeTask, routeCount, schema } from "./work.mjs";

const validate = new Ajv2020({ formats, allErrors: true, strict: false }).compile(schema);
const app = express().disable("x-powered-by").disable("etag");
app.use(express.json());
for (let index = 0; index < routeCount / 2; index += 1) {
  app.get(`/tasks${index}/:id`, (req, res) => {
    const task = findTask(req.params.id);
    if (task === undefined) res.status(404).json({});
    else res.json(task);
  });
  app.post(`/tasks${index}`, (req, res) => {
    if (!validate(req.body)) res.status(422).json({});
    else res.status(201).json(makeTask(req.body));
  });
}
app.listen(Number(process.env.PORT), "127.0.0.1");
