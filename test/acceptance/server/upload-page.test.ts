// The demo's upload page in a real browser: parts go up beside the service, a reload in the middle loses nothing.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { randomBytes } from "node:crypto";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "esbuild";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { service as reference } from "../../../generated/service.js";
import type { AppHandler } from "../../../runtime/index.js";
import { hasBrowser, openBrowser } from "../../support/browser.js";
import { engines } from "../../support/engines.js";
import { objectEngines, type FreshObjects } from "../../support/object-engines.js";
import { peopleOf, type Member } from "../../support/people.js";
import { startTestService, type TestService } from "../../support/service.js";

const [sqlite] = engines;
const partBytes = 5 * 1024 * 1024;
const content = randomBytes(9 * partBytes + 12_345);

/** Waits until the page's status is as the pattern has it. */
async function toldOn(page: Page, pattern: RegExp): Promise<void> {
  const status = page.locator("#status");
  await expect.poll(() => status.textContent(), { timeout: 30_000 }).toMatch(pattern);
}

/** A page with Uppy and its S3 plug-in, which knows of this service what its options say and nothing else. */
async function uppyScript(): Promise<string> {
  const contents = `
    import Uppy from "@uppy/core";
    import AwsS3 from "@uppy/aws-s3";
    const call = async (path, body) => {
      const headers = { "content-type": "application/json", authorization: "Bearer " + location.hash.slice(1) };
      const answer = await fetch("/files/" + path, { method: "POST", headers, body: JSON.stringify(body) });
      if (!answer.ok) throw new Error(path + ": " + answer.status);
      return answer.status === 204 ? undefined : answer.json();
    };
    const kept = () => JSON.parse(localStorage.getItem("session"));
    const uppy = new Uppy({ autoProceed: false });
    uppy.use(AwsS3, {
      shouldUseMultipart: true,
      getChunkSize: () => ${partBytes},
      async createMultipartUpload(file) {
        const session = await call("uploads", { key: "uppy/" + file.name, content_type: file.type });
        localStorage.setItem("session", JSON.stringify(session));
        return { key: session.key, uploadId: session.upload_id };
      },
      async listParts() {
        const { parts } = await call("uploads/parts", { session: kept() });
        return parts.map(({ part_number, etag, size }) => ({ PartNumber: part_number, ETag: etag, Size: size }));
      },
      async signPart(_file, { partNumber }) {
        const { url, headers } = await call("uploads/parts/url", {
          session: kept(), part_number: partNumber, expires_in: 600,
        });
        return { url, headers };
      },
      async completeMultipartUpload(_file, { parts }) {
        const listed = parts.map(({ PartNumber, ETag }) => ({ part_number: PartNumber, etag: ETag }));
        const head = await call("uploads/complete", { session: kept(), parts: listed });
        return { location: head.key };
      },
      abortMultipartUpload: () => call("uploads/abort", { session: kept() }),
    });
    const say = (text) => { document.getElementById("status").textContent = text; };
    uppy.on("s3-multipart:part-uploaded", (_file, { PartNumber }) => say("part " + PartNumber));
    uppy.on("complete", ({ successful, failed }) => say(failed.length ? "Failed" : "Done: " + successful[0].uploadURL));
    uppy.on("error", (error) => say("Failed: " + error.message));
    document.getElementById("file").addEventListener("change", (event) => {
      const [file] = event.target.files;
      const id = uppy.addFile({ name: file.name, type: "application/x-test", data: file });
      const session = kept();
      if (session !== null) uppy.setFileState(id, { s3Multipart: { key: session.key, uploadId: session.upload_id } });
      uppy.upload();
    });
  `;
  const resolveDir = new URL("../../..", import.meta.url).pathname;
  const built = await build({
    stdin: { contents, resolveDir },
    bundle: true,
    write: false,
    format: "esm",
  });
  return built.outputFiles[0]?.text ?? "";
}

const uppyPage = `<!doctype html><input type="file" id="file"><p id="status"></p><script type="module" src="/uppy.js"></script>`;

/** The reference's own pages, and one with Uppy. */
function withUppy(script: string): AppHandler {
  return (req, res, next) => {
    if (req.url === "/uppy") return res.setHeader("Content-Type", "text/html").end(uppyPage);
    if (req.url === "/uppy.js") return res.setHeader("Content-Type", "text/javascript").end(script);
    return reference.app?.(req, res, next);
  };
}

for (const engine of objectEngines) {
  describe.skipIf(!engine.isAvailable || !hasBrowser)(engine.name, () => {
    let service: TestService;
    let objects: FreshObjects;
    let browser: Browser;
    let ada: Member;
    const folder = mkdtempSync(join(tmpdir(), "opwright-upload-"));
    const file = join(folder, "holiday ü.bin");
    beforeAll(async () => {
      writeFileSync(file, content);
      objects = await engine.create();
      if (sqlite === undefined) throw new Error("there is no SQLite");
      service = await startTestService(sqlite, {
        definition: { ...reference, app: withUppy(await uppyScript()) },
        signsIn: false,
        environment: { OBJECTS_URL: objects.url, ...objects.environment },
      });
      await objects.allowOrigin(service.url);
      ada = await peopleOf(service).member("", "files.read", "files.write");
      browser = await openBrowser();
    }, 60_000);
    afterAll(async () => {
      await browser.close();
      await service.stop();
      await objects.drop();
      rmSync(folder, { recursive: true, force: true });
    });

    /** Lets four parts through, and the others once `release` is called; `arrived` counts those that were answered well. */
    async function gated(page: Page): Promise<{ arrived(): number; release(): void }> {
      let [sent, arrived] = [0, 0];
      let release = (): void => undefined;
      const released = new Promise<void>((resolve) => {
        release = resolve;
      });
      page.on("response", (response) => {
        if (response.request().method() === "PUT" && response.ok()) arrived += 1;
      });
      await page.route(
        (url) => url.pathname.includes("_objects") || url.searchParams.has("partNumber"),
        async (route) => {
          const isPart = route.request().method() === "PUT";
          if (isPart && (sent += 1) > 4) await released;
          // What the page has given up meanwhile cannot go on.
          await route.continue().catch(() => undefined);
        },
      );
      return { arrived: () => arrived, release: () => release() };
    }

    test("a file goes up in parts, and after a reload goes on where it was", async () => {
      const page = await browser.newPage();
      const faults: string[] = [];
      page.on("pageerror", (error) => faults.push(String(error)));
      const gate = await gated(page);
      await page.goto(`${service.url}/demo/upload`);
      await page.fill("#login", ada.login);
      await page.setInputFiles("#file", file);
      await toldOn(page, /^4 of 10/);
      await page.reload();
      gate.release();
      await page.fill("#login", ada.login);
      await page.setInputFiles("#file", file);
      const status = page.locator("#status");
      await toldOn(page, /^(?:Done|Failed)/);
      const told = (await status.textContent()) ?? "";
      expect(told).toMatch(new RegExp(`^Done: demo/.*, ${content.length} bytes$`));
      // Four parts had arrived before: the other six have been sent, and none twice.
      expect(gate.arrived()).toBe(10);
      const key = told.slice("Done: ".length, told.lastIndexOf(","));
      const path = key.split("/").map(encodeURIComponent).join("/");
      const got = await fetch(`${service.url}/files/${path}`, {
        headers: { authorization: `Bearer ${ada.token}` },
      });
      expect(Buffer.from(await got.arrayBuffer()).equals(content)).toBe(true);
      expect(faults).toEqual([]);
      await page.close();
    }, 60_000);

    test.each(["localhost", "127.0.0.1"])(
      "a page that was opened by the name %s uploads as well",
      async (name) => {
        const page = await browser.newPage();
        const small = join(folder, "small.bin");
        writeFileSync(small, content.subarray(0, 12_345));
        const { port } = new URL(service.url);
        await objects.allowOrigin(`http://${name}:${port}`);
        await page.goto(`http://${name}:${port}/demo/upload`);
        await page.fill("#login", ada.login);
        await page.setInputFiles("#file", small);
        await toldOn(page, /^(?:Done|Failed)/);
        expect(await page.locator("#status").textContent()).toMatch(/^Done: .*, 12345 bytes$/);
        await page.close();
      },
      60_000,
    );

    test("Uppy's S3 plug-in sends a file in parts, and goes on after a reload", async () => {
      const page = await browser.newPage();
      const gate = await gated(page);
      await page.goto(`${service.url}/uppy#${ada.token}`);
      await page.setInputFiles("#file", file);
      await expect.poll(() => gate.arrived(), { timeout: 30_000 }).toBe(4);
      await page.reload();
      gate.release();
      await page.setInputFiles("#file", file);
      await toldOn(page, /^(?:Done|Failed)/);
      expect(await page.locator("#status").textContent()).toMatch(/^Done: /);
      expect(gate.arrived()).toBe(10);
      const got = await fetch(
        `${service.url}/files/uppy/${encodeURIComponent("holiday \u00fc.bin")}`,
        {
          headers: { authorization: `Bearer ${ada.token}` },
        },
      );
      expect(Buffer.from(await got.arrayBuffer()).equals(content)).toBe(true);
      expect(got.headers.get("content-type")).toBe("application/x-test");
      await page.close();
    }, 60_000);
  });
}
