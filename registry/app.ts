// The author's own Express app, behind the generated routes: here, pages that say where to look, an upload, a live board.
import { createRequire } from "node:module";
import { join } from "node:path";
import express from "express";
import { livePage, liveScript } from "./live-page.js";
import { uploadPage, uploadScript } from "./upload-page.js";

export const app = express().disable("x-powered-by");

app.get("/", (_req, res) => {
  res
    .type("text/plain")
    .send(
      "Tracker API\n\n/openapi.json  every operation\n/readyz        whether it takes requests\n/demo/upload   an upload in parts\n/demo/live     a board that two windows share\n",
    );
});

app.get("/demo/upload", (_req, res) => {
  // Parts go to this origin, or to the S3 that the service names: any, over HTTP.
  const policy =
    "default-src 'none'; script-src 'self'; style-src 'unsafe-inline'; connect-src 'self' http: https:";
  res.set("Content-Security-Policy", policy).type("html").send(uploadPage);
});

app.get("/demo/upload.js", (_req, res) => {
  res.type("text/javascript").send(uploadScript);
});

app.get("/demo/live", (_req, res) => {
  const policy =
    "default-src 'none'; script-src 'self'; style-src 'unsafe-inline'; connect-src 'self'";
  res.set("Content-Security-Policy", policy).type("html").send(livePage);
});

app.get("/demo/live.js", (_req, res) => {
  res.type("text/javascript").send(liveScript);
});

app.get("/demo/socket.io.js", (_req, res) => {
  const { resolve } = createRequire(import.meta.url);
  res.sendFile(join(resolve("socket.io/package.json"), "../client-dist/socket.io.esm.min.js"));
});
