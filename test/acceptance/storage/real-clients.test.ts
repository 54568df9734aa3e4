// Programs that people download with, against real downloads: resume, several connections, seeking, a slicing proxy.
import { storageResources } from "../../../runtime/families/storage/resources.js";
import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { service as reference } from "../../../generated/service.js";
import { filesSpec } from "../../../generated/storage/files.js";
import {
  defineService,
  route,
  storage,
  storageInput,
  type AnyRoute,
} from "../../../runtime/index.js";
import { prefixOf } from "../../../runtime/families/storage/key.js";
import { engines } from "../../support/engines.js";
import { freePort } from "../../support/free-port.js";
import { objectEngines, type FreshObjects } from "../../support/object-engines.js";
import { startTestService, type TestService } from "../../support/service.js";

const [sqlite] = engines;
const without = (process.env["OPWRIGHT_TEST_WITHOUT"] ?? "").split(",");
const has = (program: string): boolean => !without.includes(program);
const mebibyte = 1024 * 1024;
const content = randomBytes(50 * mebibyte + 321);

/** The files of nobody in particular, open to all: the programs have no token. */
const open = route({
  operationId: "open.download",
  method: "GET",
  path: "/open/{+key}",
  status: 200,
  input: storageInput.download,
  hooks: [],
  transaction: "read",
  run: storage.download(filesSpec),
});
const definition = defineService({
  ...reference,
  routes: [...reference.routes, open] as readonly AnyRoute[],
});

for (const engine of objectEngines) {
  describe.skipIf(!engine.isAvailable)(engine.name, () => {
    let service: TestService;
    let objects: FreshObjects;
    const folder = mkdtempSync(join(tmpdir(), "opwright-clients-"));
    const target = join(folder, "target.bin");
    beforeAll(async () => {
      objects = await engine.create();
      if (sqlite === undefined) throw new Error("there is no SQLite");
      service = await startTestService(sqlite, {
        definition,
        signsIn: false,
        environment: { OBJECTS_URL: objects.url, ...objects.environment },
      });
      await put("large.bin", content, "application/octet-stream");
    }, 60_000);
    afterAll(async () => {
      await service.stop();
      await objects.drop();
      rmSync(folder, { recursive: true, force: true });
    });

    const put = async (key: string, bytes: Buffer, contentType: string): Promise<void> => {
      const store = service.running.connection.of(storageResources).of(filesSpec);
      const chunks = async function* (): AsyncGenerator<Buffer> {
        for (let at = 0; at < bytes.length; at += mebibyte) yield bytes.subarray(at, at + mebibyte);
      };
      const description = { contentType, filename: key, description: null };
      const signal = new AbortController().signal;
      await store.write(prefixOf(filesSpec, "default") + key, chunks(), description, signal);
    };
    /** Runs a program to its end; resolves with its exit code. */
    const run = (program: string, ...args: readonly string[]): Promise<number | null> =>
      new Promise((resolve) => {
        spawn(program, args, { cwd: folder, stdio: "ignore" }).on("exit", resolve);
      });
    const isWhole = (): boolean => readFileSync(target).equals(content);

    test.skipIf(!has("curl"))("curl goes on with what it has, window by window", async () => {
      writeFileSync(target, content.subarray(0, 3 * mebibyte + 7));
      // A window is 16 MiB at most: each run brings one more.
      for (let round = 0; round < 4 && statSync(target).size < content.length; round += 1)
        expect(
          await run("curl", "-sS", "-C", "-", "-o", target, `${service.url}/open/large.bin`),
        ).toBe(0);
      expect(isWhole()).toBe(true);
    });

    test.skipIf(!has("wget"))("wget -c goes on with what it has", async () => {
      writeFileSync(target, content.subarray(0, 5 * mebibyte + 1));
      // It takes the end of a window for the end of the file, and goes on when it is run again.
      for (let round = 0; round < 4 && statSync(target).size < content.length; round += 1)
        expect(await run("wget", "-q", "-c", "-O", target, `${service.url}/open/large.bin`)).toBe(
          0,
        );
      expect(isWhole()).toBe(true);
    });

    test.skipIf(!has("aria2c"))("aria2 takes four connections", async () => {
      rmSync(target, { force: true });
      const options = [
        "-q",
        "-x4",
        "-s4",
        "-k1M",
        "--file-allocation=none",
        "-d",
        folder,
        "-o",
        "target.bin",
      ];
      expect(await run("aria2c", ...options, `${service.url}/open/large.bin`)).toBe(0);
      expect(isWhole()).toBe(true);
    });

    test("a player that asks for two bytes first gets two bytes", async () => {
      const answer = await fetch(`${service.url}/open/large.bin`, {
        headers: { range: "bytes=0-1" },
      });
      expect([answer.status, answer.headers.get("content-range")]).toEqual([
        206,
        `bytes 0-1/${content.length}`,
      ]);
      expect((await answer.arrayBuffer()).byteLength).toBe(2);
    });

    test.skipIf(!has("ffmpeg"))(
      "ffmpeg seeks in a film without reading all of it",
      async () => {
        const film = join(folder, "film.mp4");
        const made = spawnSync("ffmpeg", [
          "-y",
          "-loglevel",
          "error",
          "-f",
          "lavfi",
          "-i",
          "testsrc2=duration=60:size=640x360:rate=25",
          "-c:v",
          "mpeg4",
          "-b:v",
          "4M",
          film,
        ]);
        expect(made.status).toBe(0);
        const bytes = readFileSync(film);
        await put("film.mp4", bytes, "video/mp4");
        const frame = async (source: string, name: string): Promise<Buffer> => {
          const path = join(folder, name);
          const args = [
            "-y",
            "-loglevel",
            "error",
            "-ss",
            "45",
            "-i",
            source,
            "-frames:v",
            "1",
            path,
          ];
          expect(await run("ffmpeg", ...args)).toBe(0);
          return readFileSync(path);
        };
        const local = await frame(film, "local.png");
        expect((await frame(`${service.url}/open/film.mp4`, "remote.png")).equals(local)).toBe(
          true,
        );
      },
      60_000,
    );

    describe.skipIf(!has("nginx"))("behind nginx, which asks for slices", () => {
      let port: number;
      let proxy: ChildProcess;
      beforeAll(async () => {
        port = await freePort();
        mkdirSync(join(folder, "cache"), { recursive: true });
        const configuration = `
          daemon off; pid ${folder}/nginx.pid; error_log ${folder}/error.log; user root;
          events {}
          http {
            access_log off;
            client_body_temp_path ${folder}/body; proxy_temp_path ${folder}/proxy;
            fastcgi_temp_path ${folder}/f; uwsgi_temp_path ${folder}/u; scgi_temp_path ${folder}/s;
            proxy_cache_path ${folder}/cache keys_zone=slices:1m;
            server {
              listen 127.0.0.1:${port};
              location / {
                slice 4m;
                proxy_cache slices; proxy_cache_key $uri$slice_range;
                proxy_ignore_headers Cache-Control Vary;
                proxy_set_header Range $slice_range; proxy_http_version 1.1;
                proxy_cache_valid 200 206 1h;
                proxy_pass ${service.url};
              }
            }
          }`;
        writeFileSync(join(folder, "nginx.conf"), configuration);
        proxy = spawn("nginx", ["-p", folder, "-c", join(folder, "nginx.conf")], {
          stdio: "inherit",
        });
      });
      afterAll(() => {
        proxy.kill("SIGTERM");
      });

      test("the whole and any part come together from slices", async () => {
        const at = `http://127.0.0.1:${port}/open/large.bin`;
        const answers = (): Promise<boolean> =>
          fetch(at, { method: "HEAD" }).then(
            ({ ok }) => ok,
            () => false,
          );
        await expect.poll(answers, { timeout: 10_000 }).toBe(true);
        const whole = await fetch(at);
        expect(whole.status).toBe(200);
        expect(Buffer.from(await whole.arrayBuffer()).equals(content)).toBe(true);
        const [first, last] = [3 * mebibyte, 30 * mebibyte];
        const part = await fetch(at, { headers: { range: `bytes=${first}-${last}` } });
        expect(part.status).toBe(206);
        const bytes = Buffer.from(await part.arrayBuffer());
        expect(bytes.equals(content.subarray(first, last + 1))).toBe(true);
      });
    });
  });
}
