// The author's own Express app, behind the generated routes: here, a page that says where to look.
import express from "express";

export const app = express().disable("x-powered-by");

app.get("/", (_req, res) => {
  res
    .type("text/plain")
    .send(
      "Tracker API\n\n/openapi.json  every operation\n/readyz        whether it takes requests\n",
    );
});
