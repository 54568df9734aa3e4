// Peers of the storage bench on one port: Express sendFile for downloads, bare busboy to disk for uploads.
import { randomUUID } from "node:crypto";
import { createWriteStream } from "node:fs";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import busboy from "busboy";
import express from "express";

const [folder] = process.argv.slice(2);
const app = express();
app.get("/file", (_req, res) => res.sendFile(join(folder, "file.bin")));
app.post("/upload", (req, res) => {
  const form = busboy({ headers: req.headers });
  form.on("file", (_name, stream) => {
    pipeline(stream, createWriteStream(join(folder, randomUUID()))).then(
      () => res.status(201).json({}),
      () => res.destroy(),
    );
  });
  req.pipe(form);
});
app.listen(Number(process.env.PORT), "127.0.0.1");
