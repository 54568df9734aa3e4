// npm run dev: rebuilds the package on each change and runs the tests that it touches.
import { spawn } from "node:child_process";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { build, buildService, install, root } from "./prepare.mjs";

install();
build();
buildService();
// What is compiled from here on is in no bundle.
rmSync(join(root, "dist/cli"), { recursive: true, force: true });
const compiler = spawn(
  "npx",
  ["tsc", "-p", "tsconfig.build.json", "--watch", "--preserveWatchOutput"],
  { cwd: root, stdio: "inherit" },
);
const tests = spawn("npx", ["vitest", "watch"], { cwd: root, stdio: "inherit" });
tests.on("exit", (code) => {
  compiler.kill();
  process.exit(code ?? 0);
});
