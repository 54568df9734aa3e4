// The folder of the opwright package, whether this code runs from source or from dist/.
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** Absolute path of the package's folder. */
export function packageRoot(): string {
  let folder = dirname(fileURLToPath(import.meta.url));
  while (!isPackage(join(folder, "package.json"))) folder = dirname(folder);
  return folder;
}

function isPackage(file: string): boolean {
  return (
    existsSync(file) &&
    (JSON.parse(readFileSync(file, "utf8")) as { name?: unknown }).name === "opwright"
  );
}

/** The version of the package. */
export function packageVersion(): string {
  const text = readFileSync(join(packageRoot(), "package.json"), "utf8");
  return (JSON.parse(text) as { readonly version: string }).version;
}

let identity: string | undefined;

/**
 * What caches are bound to: the version, and when each file of this very build was made, which are
 * few where it is a bundle. Found out once a process.
 */
export function buildIdentity(): string {
  return (identity ??= findBuildIdentity());
}

function findBuildIdentity(): string {
  const root = packageRoot();
  const built = existsSync(join(root, "dist/cli"))
    ? ["dist/cli"]
    : ["dist/generator", "dist/runtime/contract"];
  const folders = ["client", ...built, "templates"];
  const files = folders.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
      .filter((name) => !name.endsWith(".d.ts"))
      .map((name) => join(folder, name)),
  );
  const stamps = files.sort().map((file) => `${file} ${statSync(join(root, file)).mtimeMs}`);
  return `${packageVersion()} ${createHash("sha256").update(stamps.join("\n")).digest("base64url")}`;
}
