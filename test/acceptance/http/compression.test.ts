// Documents with validators and compressed forms, and large answers that are compressed where the deployment says so.
import { request } from "node:http";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { engines } from "../../support/engines.js";
import { startTestService, type TestService } from "../../support/service.js";

interface Plain {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly bytes: Buffer;
}

for (const engine of engines) {
  describe.skipIf(!engine.isAvailable)(engine.name, () => {
    let service: TestService;
    let compressing: TestService;
    let task = "";
    beforeAll(async () => {
      const environment = { CORS_ORIGINS: "https://app.example" };
      service = await startTestService(engine, { environment });
      compressing = await startTestService(engine, { environment: { COMPRESS_BYTES: "2048" } });
      for (const one of [service, compressing]) {
        const body = {
          title: "t",
          project: "01890000-0000-7000-8000-000000000006",
          labels: Array.from({ length: 60 }, (_, at) => `a label that is rather long ${at}`),
        };
        const made = await one.post("/tasks", body);
        expect(made.status).toBe(201);
        task = `/tasks/${made.body.id}`;
      }
    });
    afterAll(async () => {
      await service.stop();
      await compressing.stop();
    });

    /** As it comes: fetch would decompress it. */
    const ask = (
      { url, tester }: TestService,
      path: string,
      headers: Readonly<Record<string, string>> = {},
      method = "GET",
    ): Promise<Plain> =>
      new Promise((resolve, reject) => {
        const all = { authorization: `Bearer ${tester.token}`, ...headers };
        request(`${url}${path}`, { method, headers: all }, (answer) => {
          const chunks: Buffer[] = [];
          answer.on("data", (chunk: Buffer) => chunks.push(chunk));
          answer.on("end", () =>
            resolve({
              status: answer.statusCode ?? 0,
              headers: answer.headers,
              bytes: Buffer.concat(chunks),
            }),
          );
        })
          .on("error", reject)
          .end();
      });

    test.each(["/openapi.json", "/asyncapi.json", "/docs/style.css", "/docs/catalog.json"])(
      "%s has a strong validator for each of its forms",
      async (path) => {
        const plain = await ask(service, path);
        const forms = await Promise.all(
          ["gzip", "br"].map((coding) => ask(service, path, { "accept-encoding": coding })),
        );
        const [zipped, brotli] = forms;
        // Not toEqual, which compares megabytes of bytes one by one for seconds.
        expect(gunzipSync(zipped?.bytes ?? "").equals(plain.bytes)).toBe(true);
        expect(brotliDecompressSync(brotli?.bytes ?? "").equals(plain.bytes)).toBe(true);
        const tags = [plain, ...forms].map(({ headers }) => String(headers["etag"]));
        expect(new Set(tags).size).toBe(3);
        for (const [index, coding] of ["identity", "gzip", "br"].entries()) {
          const tag = tags[index] ?? "";
          expect(tag).toMatch(/^"[^"]+"$/);
          const asked = { "accept-encoding": coding, "if-none-match": `"x", ${tag}` };
          const unchanged = await ask(service, path, asked);
          expect([unchanged.status, unchanged.bytes.length]).toEqual([304, 0]);
          expect([unchanged.headers["etag"], unchanged.headers["vary"]]).toEqual([
            tag,
            forms[0]?.headers["vary"],
          ]);
        }
        expect(plain.headers["cache-control"]).toBe("no-cache");
        expect(plain.headers["vary"]).toContain("Accept-Encoding");
        const failed = await ask(service, path, { "if-match": '"other"' });
        expect([failed.status, failed.headers["x-error-code"]]).toEqual([
          412,
          "precondition_failed",
        ]);
        const head = await ask(service, path, { "accept-encoding": "gzip" }, "HEAD");
        expect([head.headers["content-length"], head.bytes.length]).toEqual([
          String(zipped?.bytes.length),
          0,
        ]);
      },
    );

    test("answers are not compressed unless the deployment says so", async () => {
      const list = await ask(service, "/places/list", { "accept-encoding": "gzip" }, "POST");
      expect(list.headers["content-encoding"]).toBeUndefined();
    });

    test("large answers are compressed, with a weak tag that every write understands", async () => {
      for (const coding of ["gzip", "br"]) {
        const answer = await ask(compressing, task, { "accept-encoding": coding });
        expect([answer.status, answer.headers["content-encoding"], answer.headers["etag"]]).toEqual(
          [200, coding, 'W/"1"'],
        );
        const unchanged = await ask(compressing, task, {
          "accept-encoding": coding,
          "if-none-match": String(answer.headers["etag"]),
        });
        expect([unchanged.status, unchanged.headers["etag"], unchanged.headers["vary"]]).toEqual([
          304,
          answer.headers["etag"],
          answer.headers["vary"],
        ]);
        expect(answer.headers["vary"]).toBe("Authorization, X-API-Key, Cookie, Accept-Encoding");
        const unpacked = coding === "gzip" ? gunzipSync : brotliDecompressSync;
        expect(JSON.parse(unpacked(answer.bytes).toString())).toMatchObject({ title: "t" });
      }
      const plain = await ask(compressing, task, { "accept-encoding": "identity" });
      expect([plain.headers["content-encoding"], plain.headers["etag"]]).toEqual([
        undefined,
        '"1"',
      ]);
      const patched = await compressing.call("PATCH", task, {
        headers: { "if-match": 'W/"1"' },
        body: { title: "u" },
      });
      expect(patched.status).toBe(200);
    });

    test("short answers stay as they are", async () => {
      const answer = await ask(compressing, "/tenants", { "accept-encoding": "gzip" });
      expect([answer.status, answer.headers["content-encoding"]]).toEqual([200, undefined]);
    });
  });
}
