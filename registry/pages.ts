// The author's own Express app: the home page and, in development, demos.
import express from "express";
import type { AppHandler } from "opwright/runtime";
import { demoPages, homePage } from "./example-pages.js";

const isProduction = process.env["NODE_ENV"] === "production";

const app = express().disable("x-powered-by");

app.get("/", (_req, res) => {
  if (isProduction)
    res
      .type("text/plain")
      .send(
        "Tracker API\n\n/openapi.json  every operation\n/readyz        whether it takes requests\n",
      );
  else
    res
      .set(
        "Content-Security-Policy",
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; connect-src 'self'",
      )
      .type("html")
      .send(homePage);
});

if (!isProduction) app.use("/demo", demoPages);

export const pages: AppHandler = app;
