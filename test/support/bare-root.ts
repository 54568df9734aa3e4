// A root that has Node.js with its libraries, an artefact, and a folder for data: as an image without a distribution is.
// Nothing but that folder can be written, and what runs in it isn't root. Only who may mount can make one; for others it is a
// copy of the artefact.
import { execFileSync, spawnSync } from "node:child_process";
import {
  chmodSync,
  chownSync,
  copyFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

export interface BareRoot {
  /** The folder for data, as a process in it sees it. */
  readonly data: string;
  /** From where its commands run. */
  readonly cwd: string;
  /** The command that runs another one in it, in the folder of the artefact. `node` is that of this process. */
  command(command: readonly string[]): readonly string[];
  remove(): void;
}

export function makeBareRoot(artefact: string): BareRoot {
  const parent = mkdtempSync(join(tmpdir(), "opwright-bare-"));
  const [root, data] = [join(parent, "root"), join(parent, "data")];
  const remove = (): void => rmSync(parent, { recursive: true, force: true });
  if (!mayMount(parent)) {
    process.stderr.write("nothing may be mounted here: the artefact runs in a plain folder\n");
    cpSync(artefact, root, { recursive: true });
    const command = ([program = "", ...args]: readonly string[]) => [
      program === "node" ? process.execPath : program,
      ...args,
    ];
    return { data, cwd: root, command, remove };
  }
  const node = realpathSync(process.execPath);
  const libraries = execFileSync("ldd", [node], { encoding: "utf8" });
  const copy = (file: string, to: string): void => {
    mkdirSync(dirname(join(root, to)), { recursive: true });
    copyFileSync(realpathSync(file), join(root, to));
  };
  copy(node, "/usr/bin/node");
  for (const [, file = ""] of libraries.matchAll(/(\/\S+) \(0x/g)) copy(file, file);
  for (const folder of ["data", "dev", "proc"]) mkdirSync(join(root, folder));
  cpSync(artefact, join(root, "app"), { recursive: true });
  mkdirSync(data);
  chownSync(data, 1000, 1000);
  chmodSync(parent, 0o755);
  const steps = [
    `mount --bind ${root} ${root}`,
    `mount -o remount,ro,bind ${root}`,
    `mount --bind ${data} ${root}/data`,
    `mount --rbind /dev ${root}/dev`,
    `mount --rbind /proc ${root}/proc`,
    `exec unshare --root=${root} --wd=/app --setgid=1000 --setuid=1000 /usr/bin/node "$@"`,
  ];
  return {
    data: "/data",
    cwd: parent,
    command([program, ...args]) {
      if (program !== "node") throw new Error(`${program} is not in the root`);
      return ["unshare", "--mount", "sh", "-ec", steps.join("\n"), "sh", ...args];
    },
    remove,
  };
}

/** Whether this process may bind a folder in a name space of its own. */
function mayMount(folder: string): boolean {
  if (process.getuid?.() !== 0) return false;
  const tried = ["--mount", "mount", "--bind", folder, folder];
  return spawnSync("unshare", tried, { stdio: "ignore" }).status === 0;
}
