// Loaded before the command line (`node --import`): lists what it changes on the disk below its folder, and at one of these
// changes kills the process, or fills the disk for good. Between two changes a process has nothing that could be half-done.
import fs, { writeFileSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { isAbsolute, relative, resolve } from "node:path";

/** `how` is "list", "kill" (before the change), "kill in it" (half a text is written) or "full". */
const { how, at, listTo } = JSON.parse(process.env["OPWRIGHT_FAILING_DISK"]);
const project = process.cwd();
let count = 0;
const changes = [];

const isInside = (path) => {
  const inner = relative(project, resolve(String(path)));
  return !inner.startsWith("..") && !isAbsolute(inner);
};

function die() {
  process.kill(process.pid, "SIGKILL");
  // The signal may take a moment; nothing else happens meanwhile.
  for (;;) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1_000);
}

/** What each change does with a disk that has no room left: texts are cut, folders refused; renaming and removing need none. */
const needsRoom = new Set(["writeFileSync", "appendFileSync", "copyFileSync", "mkdirSync"]);

for (const name of [...needsRoom, "renameSync", "rmSync", "rmdirSync", "unlinkSync"]) {
  const original = fs[name];
  fs[name] = (...given) => {
    const changed = name === "copyFileSync" || name === "renameSync" ? given[1] : given[0];
    if (typeof changed === "number" || !isInside(changed)) return original(...given);
    // A folder that is there already takes no room.
    if (name === "mkdirSync" && fs.existsSync(changed)) return original(...given);
    count += 1;
    changes.push(`${name} ${relative(project, resolve(String(changed)))}`);
    const isReached = count === at || (how === "full" && count > at);
    if (!isReached || how === "list") return original(...given);
    if (how === "kill") die();
    if (how === "full" && !needsRoom.has(name)) return original(...given);
    if (name === "writeFileSync") {
      const text = String(given[1]);
      original(given[0], text.slice(0, text.length >> 1));
    }
    if (name === "copyFileSync") {
      original(given[0], given[1]);
      fs.truncateSync(given[1], fs.statSync(given[1]).size >> 1);
    }
    if (how === "kill in it") die();
    throw Object.assign(new Error(`ENOSPC: no space left on device, ${name} '${changed}'`), {
      code: "ENOSPC",
      syscall: name,
      path: String(changed),
    });
  };
}
syncBuiltinESMExports();

if (listTo !== undefined) process.on("exit", () => writeFileSync(listTo, JSON.stringify(changes)));
