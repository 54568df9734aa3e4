// The author's own Express app, behind the generated routes: here, pages that say where to look and show an upload.
import express from "express";
import { uploadPage, uploadScript } from "./upload-page.js";

export const app = express().disable("x-powered-by");

app.get("/", (_req, res) => {
  res
    .type("text/plain")
    .send(
      "Tracker API\n\n/openapi.json  every operation\n/readyz        whether it takes requests\n/demo/upload   an upload in parts\n",
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
