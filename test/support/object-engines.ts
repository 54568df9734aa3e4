// The object engines that tests run on: a folder always, S3 where global-setup.ts found or started one.
import { randomBytes } from "node:crypto";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  CreateBucketCommand,
  DeleteBucketCommand,
  DeleteObjectCommand,
  ListMultipartUploadsCommand,
  ListObjectsV2Command,
  PutBucketCorsCommand,
  S3Client,
} from "@aws-sdk/client-s3";
import { openFolderStore } from "../../runtime/engines/folder/engine.js";
import { openS3Store } from "../../runtime/engines/s3/engine.js";
import type { ObjectStore } from "../../runtime/ports/objects.js";

/** A fresh, empty place for objects. */
export interface FreshObjects {
  readonly url: string;
  /** Further settings that the engine needs. */
  readonly environment: Readonly<Record<string, string>>;
  /** Opens the engine without a service. */
  open(): Promise<ObjectStore>;
  /** Temporary files, and uploads in parts that have not ended. */
  leftovers(): Promise<number>;
  /** Lets pages of an origin send to signed addresses. */
  allowOrigin(origin: string): Promise<void>;
  drop(): Promise<void>;
}

export interface TestObjectEngine {
  readonly name: "folder" | "s3";
  /** False where global-setup.ts found no server; such suites are skipped, and it has said so. */
  readonly isAvailable: boolean;
  create(): Promise<FreshObjects>;
}

const folder: TestObjectEngine = {
  name: "folder",
  isAvailable: true,
  async create() {
    const root = mkdtempSync(join(tmpdir(), "opwright-objects-"));
    return {
      url: `file:${root}`,
      environment: {},
      open: () => openFolderStore(root, null),
      // Its addresses are those of the service.
      allowOrigin: async () => undefined,
      leftovers: async () => readdirSync(join(root, "unfinished")).length,
      drop: async () => rmSync(root, { recursive: true, force: true }),
    };
  },
};

const endpoint = process.env["OPWRIGHT_TEST_S3"];
const credentials = { accessKeyId: "testaccess", secretAccessKey: "testsecret123" };

const s3: TestObjectEngine = {
  name: "s3",
  isAvailable: endpoint !== undefined,
  async create() {
    const Bucket = `opwright-test-${randomBytes(6).toString("hex")}`;
    const client = new S3Client({
      endpoint: endpoint ?? "",
      region: "us-east-1",
      forcePathStyle: true,
      credentials,
      requestChecksumCalculation: "WHEN_REQUIRED",
      responseChecksumValidation: "WHEN_REQUIRED",
    });
    await client.send(new CreateBucketCommand({ Bucket }));
    return {
      // The server of the tests takes headers that nobody has signed.
      url: `s3://${Bucket}?endpoint=${encodeURIComponent(endpoint ?? "")}&unsigned-headers=accept`,
      environment: {
        OBJECTS_ACCESS_KEY: credentials.accessKeyId,
        OBJECTS_SECRET_KEY: credentials.secretAccessKey,
      },
      open: () =>
        openS3Store({
          bucket: Bucket,
          endpoint: endpoint ?? "",
          region: "us-east-1",
          credentials,
          acceptsUnsignedHeaders: true,
        }),
      async allowOrigin(origin) {
        const rule = {
          AllowedOrigins: [origin],
          AllowedMethods: ["GET", "PUT"],
          AllowedHeaders: ["*"],
          ExposeHeaders: ["ETag"],
        };
        const CORSConfiguration = { CORSRules: [rule] };
        await client.send(new PutBucketCorsCommand({ Bucket, CORSConfiguration }));
      },
      async leftovers() {
        const { Uploads = [] } = await client.send(new ListMultipartUploadsCommand({ Bucket }));
        return Uploads.length;
      },
      async drop() {
        for (;;) {
          const { Contents = [] } = await client.send(new ListObjectsV2Command({ Bucket }));
          if (Contents.length === 0) break;
          for (const { Key } of Contents)
            await client.send(new DeleteObjectCommand({ Bucket, Key }));
        }
        await client.send(new DeleteBucketCommand({ Bucket })).catch(() => undefined);
        client.destroy();
      },
    };
  },
};

export const objectEngines: readonly TestObjectEngine[] = [folder, s3];
