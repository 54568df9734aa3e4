// 128 MiB up and down in constant memory (1 GiB in `npm run test:long`), and hundreds of transfers that break off
// (service.md "Download behaviour").
import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { objectEngines, type FreshObjects } from "../../support/object-engines.js";
import { generated } from "../../support/service.js";

const mebibyte = 1024 * 1024;
const transfers = Number(process.env["OPWRIGHT_TEST_TRANSFERS"] ?? 200);
const mebibytes = Number(process.env["OPWRIGHT_TEST_MEBIBYTES"] ?? 128);
const size = mebibytes * mebibyte;
const isLinux = process.platform === "linux";
const folder = mkdtempSync(join(tmpdir(), "opwright-large-"));
const source = join(folder, "source.bin");
let digest = "";

beforeAll(() => {
  const made = spawnSync(
    "sh",
    ["-c", `head -c ${size} /dev/urandom > ${source}; sha256sum ${source}`],
    {
      encoding: "utf8",
    },
  );
  digest = made.stdout.split(" ")[0] ?? "";
}, 120_000);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

interface Server {
  readonly child: ChildProcess;
  readonly url: string;
}

async function startServer(objects: FreshObjects): Promise<Server> {
  const script = new URL("../../tools/storage-server.mjs", import.meta.url).pathname;
  const data = mkdtempSync(join(folder, "data-"));
  const child = spawn(process.execPath, [script, generated], {
    env: {
      PATH: process.env["PATH"],
      PORT: "0",
      DATA_DIR: data,
      OBJECTS_URL: objects.url,
      ...objects.environment,
    },
    stdio: ["ignore", "pipe", "inherit"],
  });
  process.once("exit", () => child.kill("SIGKILL"));
  const url = await new Promise<string>((resolve) => {
    child.stdout.once("data", (line: Buffer) => resolve(line.toString().trim()));
  });
  return { child, url };
}

/** Resident memory of a process in MiB. */
function residentMebibytes({ child }: Server): number {
  const status = readFileSync(`/proc/${child.pid}/status`, "utf8");
  return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1] ?? 0) / 1024;
}

/** Files of data that a process holds open. */
function objectFiles({ child }: Server): number {
  const folderOf = `/proc/${child.pid}/fd`;
  return readdirSync(folderOf).filter((name) => {
    try {
      return readlinkSync(join(folderOf, name)).startsWith("/tmp/");
    } catch {
      return false;
    }
  }).length;
}

/** The most memory that a process has more than before while `work` runs, in MiB. */
async function growthDuring(server: Server, work: () => Promise<void>): Promise<number> {
  const before = residentMebibytes(server);
  let most = before;
  const timer = setInterval(() => {
    most = Math.max(most, residentMebibytes(server));
  }, 20);
  try {
    await work();
  } finally {
    clearInterval(timer);
  }
  return most - before;
}

/** Runs a program to its end, and takes its output as it comes. */
function run(
  program: string,
  args: readonly string[],
  take: (chunk: Buffer) => void,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { stdio: ["ignore", "pipe", "inherit"] });
    child.stdout.on("data", take);
    child.on("close", (code) =>
      code === 0 ? resolve() : reject(new Error(`${program} ended with ${code}`)),
    );
  });
}

/** Resolves with the key of a file that has been sent. */
async function upload({ url }: Server, storage: string, path: string): Promise<string> {
  let answer = "";
  const form = ["-F", `file=@${path}`, `${url}/${storage}`];
  await run("curl", ["-sS", "--fail-with-body", ...form], (chunk) => (answer += chunk.toString()));
  return (JSON.parse(answer) as { readonly key: string }).key;
}

/** Resolves with the digest of an object. */
async function download({ url }: Server, storage: string, key: string): Promise<string> {
  const hash = createHash("sha256");
  await run("curl", ["-sS", `${url}/${storage}/${key}`], (chunk) => hash.update(chunk));
  return hash.digest("hex");
}

for (const engine of objectEngines) {
  describe.skipIf(!engine.isAvailable || !isLinux)(engine.name, () => {
    let objects: FreshObjects;
    let server: Server;
    beforeAll(async () => {
      objects = await engine.create();
      server = await startServer(objects);
      // What is loaded and compiled on first use is no growth.
      for (const storage of ["plain", "sealed"]) {
        const key = await upload(server, storage, process.execPath);
        await download(server, storage, key);
      }
    }, 60_000);
    afterAll(async () => {
      server.child.kill("SIGTERM");
      await objects.drop();
    }, 60_000);

    test.each(["plain", "sealed"])(
      `${mebibytes} MiB go up and come down unchanged (%s), in less than 64 MiB more`,
      async (storage) => {
        let key = "";
        const up = await growthDuring(server, async () => {
          key = await upload(server, storage, source);
        });
        let received = "";
        const down = await growthDuring(server, async () => {
          received = await download(server, storage, key);
        });
        expect(received).toBe(digest);
        expect(up).toBeLessThan(64);
        expect(down).toBeLessThan(64);
      },
      240_000,
    );

    /** A connection that sends a request, waits for `enough` bytes of its answer, and is gone. */
    const brokenOff = (request: string, enough: number): Promise<void> =>
      new Promise((resolve, reject) => {
        const { hostname, port } = new URL(server.url);
        const socket = connect(Number(port), hostname, () => socket.write(request));
        let received = 0;
        if (enough === 0) setTimeout(() => socket.destroy(), 30);
        socket.on("data", (chunk: Buffer) => {
          received += chunk.length;
          if (received >= enough && enough > 0) socket.destroy();
        });
        socket.on("close", () => resolve());
        socket.on("error", reject);
      });

    test(
      `${transfers} transfers that break off leave no descriptor, part, file or memory behind`,
      async () => {
        const key = await upload(server, "plain", process.execPath);
        const sealed = await upload(server, "sealed", process.execPath);
        const half = "x".repeat(100_000);
        const form = `--b\r\ncontent-disposition: form-data; name="file"; filename="x"\r\n\r\n${half}`;
        const uploading = (storage: string): string =>
          `POST /${storage} HTTP/1.1\r\nhost: x\r\ncontent-type: multipart/form-data; boundary=b\r\ncontent-length: 10000000\r\n\r\n${form}`;
        const downloading = (path: string): string => `GET /${path} HTTP/1.1\r\nhost: x\r\n\r\n`;
        const requests = [
          [uploading("plain"), 0],
          [uploading("sealed"), 0],
          [downloading(`plain/${key}`), 1],
          [downloading(`sealed/${sealed}`), 1],
        ] as const;
        const rounds = async (count: number): Promise<void> => {
          await Promise.all(
            Array.from({ length: 20 }, async (_, worker) => {
              for (let round = worker; round < count; round += 20) {
                const [request, enough] = requests[round % requests.length] ?? ["", 0];
                await brokenOff(request, enough);
              }
            }),
          );
        };
        await rounds(200);
        await expect.poll(() => objects.leftovers(), { timeout: 10_000 }).toBe(0);
        const before = { files: objectFiles(server), memory: residentMebibytes(server) };
        await rounds(transfers);
        await expect.poll(() => objects.leftovers(), { timeout: 10_000 }).toBe(0);
        await expect
          .poll(() => objectFiles(server), { timeout: 10_000 })
          .toBeLessThanOrEqual(before.files);
        expect(residentMebibytes(server) - before.memory).toBeLessThan(64);
      },
      120_000 + transfers * 120,
    );
  });
}
