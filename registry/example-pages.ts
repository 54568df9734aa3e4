// Pages that show the service at work: an upload in parts, and a board that two windows share. None in production.
import { createRequire } from "node:module";
import { join } from "node:path";
import express from "express";
import { livePage, liveScript } from "./live-page.js";
import { uploadPage, uploadScript } from "./upload-page.js";

export const demoPages = express.Router();

demoPages.get("/upload", (_req, res) => {
  // Parts go to this origin, or to the S3 that the service names: any, over HTTP.
  const policy =
    "default-src 'none'; script-src 'self'; style-src 'unsafe-inline'; connect-src 'self' http: https:";
  res.set("Content-Security-Policy", policy).type("html").send(uploadPage);
});

demoPages.get("/upload.js", (_req, res) => {
  res.type("text/javascript").send(uploadScript);
});

demoPages.get("/live", (_req, res) => {
  const policy =
    "default-src 'none'; script-src 'self'; style-src 'unsafe-inline'; connect-src 'self'";
  res.set("Content-Security-Policy", policy).type("html").send(livePage);
});

demoPages.get("/live.js", (_req, res) => {
  res.type("text/javascript").send(liveScript);
});

demoPages.get("/socket.io.js", (_req, res) => {
  const { resolve } = createRequire(import.meta.url);
  res.sendFile(join(resolve("socket.io/package.json"), "../client-dist/socket.io.esm.min.js"));
});
