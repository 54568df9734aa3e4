// The author's own Express app, behind the generated routes: a page that says where to look and, in development, demos.
import express from "express";
import { demoPages } from "./example-pages.js";

const isProduction = process.env["NODE_ENV"] === "production";
const demos = isProduction
  ? ""
  : "/demo/upload   an upload in parts\n/demo/live     a board that two windows share\n";

export const app = express().disable("x-powered-by");

app.get("/", (_req, res) => {
  res
    .type("text/plain")
    .send(
      `Tracker API\n\n/openapi.json  every operation\n/readyz        whether it takes requests\n${demos}`,
    );
});

if (!isProduction) app.use("/demo", demoPages);
