// The author's own Express app: a page that says where to look and, in development, demos.
import express from "express";
import type { AppHandler } from "opwright/runtime";
import { demoPages } from "./example-pages.js";

const isProduction = process.env["NODE_ENV"] === "production";
const demos = isProduction
  ? ""
  : "/demo/upload   an upload in parts\n/demo/live     a board that two windows share\n";

const app = express().disable("x-powered-by");

app.get("/", (_req, res) => {
  res
    .type("text/plain")
    .send(
      `Tracker API\n\n/openapi.json  every operation\n/readyz        whether it takes requests\n${demos}`,
    );
});

if (!isProduction) app.use("/demo", demoPages);

export const pages: AppHandler = app;
