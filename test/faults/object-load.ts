// A load of uploads and downloads; afterwards, whether every acknowledged upload has its bytes.
import { createHash, randomBytes } from "node:crypto";
import { expect } from "vitest";
import { budgetOf, budgetSeconds } from "./answers.js";
import type { Client, Outcome } from "./client.js";
import { startWorkers, type Load } from "./load.js";

export interface ObjectLoad extends Load {
  /** Holds that each acknowledged upload can be downloaded, byte for byte. */
  expectAllUploads(client: Client): Promise<void>;
}

const fileBytes = 20_000;

export function startObjectLoad(
  client: Client,
  options: { readonly pauseMillis?: number; readonly seconds?: number } = {},
): ObjectLoad {
  const { pauseMillis = 100, seconds = budgetSeconds } = options;
  const headers = budgetOf(seconds);
  const acknowledged = new Map<string, string>();
  const upload = async (by: Client): Promise<Outcome> => {
    const content = randomBytes(fileBytes);
    const outcome = await uploadBytes(by, content, seconds);
    if (outcome.status === 201) acknowledged.set(outcome.body.key, digest(content));
    return outcome;
  };
  const download = (by: Client): Promise<Outcome> => {
    const key = [...acknowledged.keys()].at(-1);
    // Where there is nothing yet, its list.
    return key === undefined
      ? by.call("POST", "/files/list", { body: {}, headers })
      : by.call("GET", `/files/${key}`, { headers });
  };
  return {
    ...startWorkers(client, [upload, upload, download, download], pauseMillis),
    async expectAllUploads(by) {
      for (const [key, expected] of acknowledged) {
        const { status, bytes: content } = await by.call("GET", `/files/${key}`);
        expect([key, status, digest(content)]).toEqual([key, 200, expected]);
      }
      expect(acknowledged.size).toBeGreaterThan(0);
    },
  };
}

/** Uploads a file as a form does. */
export function uploadBytes(
  by: Client,
  content: Buffer,
  seconds = budgetSeconds,
): Promise<Outcome> {
  const boundary = "a-boundary-that-no-content-has";
  const head = `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="f.bin"\r\nContent-Type: application/octet-stream\r\n\r\n`;
  return by.call("POST", "/files", {
    body: Buffer.concat([Buffer.from(head), content, Buffer.from(`\r\n--${boundary}--\r\n`)]),
    headers: { ...budgetOf(seconds), "content-type": `multipart/form-data; boundary=${boundary}` },
  });
}

function digest(content: Buffer): string {
  return createHash("sha256").update(content).digest("hex");
}
