// The object engines that tests run on: a folder always, S3 where one answers.
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A fresh, empty place for objects. */
export interface FreshObjects {
  readonly url: string;
  /** Further settings that the engine needs. */
  readonly environment: Readonly<Record<string, string>>;
  drop(): Promise<void>;
}

export interface TestObjectEngine {
  readonly name: "folder" | "s3";
  readonly isAvailable: boolean;
  create(): Promise<FreshObjects>;
  /** Temporary files and parts of uploads that have not ended, in the place made last. */
  leftovers(): Promise<number>;
}

let folder = "";

const folderEngine: TestObjectEngine = {
  name: "folder",
  isAvailable: true,
  async create() {
    folder = mkdtempSync(join(tmpdir(), "opwright-objects-"));
    const made = folder;
    return {
      url: `file:${made}`,
      environment: {},
      drop: async () => rmSync(made, { recursive: true, force: true }),
    };
  },
  leftovers: async () => readdirSync(join(folder, "unfinished")).length,
};

export const objectEngines: readonly TestObjectEngine[] = [folderEngine];
