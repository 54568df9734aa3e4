// Compiling in opwright dev, by the project's own TypeScript: it remembers what it has checked and
// only writes what changed.
import { spawn } from "node:child_process";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { UsageError } from "./io.js";

/**
 * Compiles a project; resolves with whether it does compile. Where it doesn't, the compiler has
 * said why and has written nothing.
 */
export function compileProject(root: string): Promise<boolean> {
  const options = ["--incremental", "--sourceMap", "--noEmitOnError"];
  return waitForSuccess(
    spawn(process.execPath, [compilerOf(root), ...options], { cwd: root, stdio: "inherit" }),
  );
}

/**
 * Compiles all of a project into a folder of its own; resolves with whether it does compile. Where
 * its configuration says otherwise (no output, types alone), it is overridden.
 */
export function compileProjectAnew(root: string, folder: string): Promise<boolean> {
  const options = {
    "--outDir": folder,
    "--rootDir": root,
    "--noEmit": "false",
    "--emitDeclarationOnly": "false",
    "--declaration": "false",
    "--declarationMap": "false",
    "--incremental": "false",
    "--composite": "false",
    "--isolatedDeclarations": "false",
    "--declarationDir": "null",
    "--tsBuildInfoFile": "null",
    "--inlineSourceMap": "false",
    "--inlineSources": "false",
    "--sourceMap": "true",
    "--noEmitOnError": "true",
  };
  return waitForSuccess(
    spawn(process.execPath, [compilerOf(root), ...Object.entries(options).flat()], {
      cwd: root,
      stdio: "inherit",
    }),
  );
}

/** Runs a command of the project's own in its folder; resolves with whether it succeeded. */
export function runCommand(command: string, root: string): Promise<boolean> {
  return waitForSuccess(spawn(command, { cwd: root, shell: true, stdio: "inherit" }));
}

function compilerOf(root: string): string {
  try {
    const manifest = createRequire(join(root, "package.json")).resolve("typescript/package.json");
    return join(dirname(manifest), "bin", "tsc");
  } catch (error) {
    throw new UsageError("TypeScript is not installed: npm install --save-dev typescript", {
      cause: error,
    });
  }
}

function waitForSuccess(child: ReturnType<typeof spawn>): Promise<boolean> {
  return new Promise((resolve) => {
    child.on("exit", (code) => resolve(code === 0));
    child.on("error", () => resolve(false));
  });
}
