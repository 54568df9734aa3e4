// Compiles projects of tests as their users would.
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const repository = new URL("../..", import.meta.url).pathname;

/**
 * Compiles a project that has opwright linked, under the strict flags. Throws what the compiler says.
 */
export function compile(project: string, tsc = "typescript"): void {
  if (!existsSync(join(project, "node_modules"))) mkdirSync(join(project, "node_modules"));
  for (const name of ["opwright", "@types", "express"]) {
    const target = name === "opwright" ? repository : join(repository, "node_modules", name);
    if (!existsSync(join(project, "node_modules", name)))
      symlinkSync(target, join(project, "node_modules", name));
  }
  if (!existsSync(join(project, "package.json")))
    writeFileSync(join(project, "package.json"), '{"type":"module"}');
  if (!existsSync(join(project, "tsconfig.json"))) {
    const strict = readFileSync(join(repository, "tsconfig.base.json"), "utf8");
    writeFileSync(
      join(project, "tsconfig.json"),
      JSON.stringify({ ...JSON.parse(strict), include: ["registry", "generated"] }),
    );
  }
  const { status, stdout } = spawnSync(
    process.execPath,
    [join(repository, "node_modules", tsc, "bin/tsc"), "-p", project, "--noEmit"],
    { encoding: "utf8" },
  );
  if (status !== 0) throw new Error(stdout);
}
