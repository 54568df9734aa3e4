// Programs of the soak as processes of their own, so that no load, receiver or measurement delays another.
import { fork } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "esbuild";

export interface OwnProcess<Begun, Report> {
  /** What it has said once it had begun. */
  readonly begun: Begun;
  /** Asks it for its end, and for what it has found. */
  end(): Promise<Report>;
  kill(): void;
}

/** Starts a program of this folder, which calls `program` with these arguments. */
export async function startOwn<Begun, Report>(
  name: string,
  given: unknown,
): Promise<OwnProcess<Begun, Report>> {
  const folder = mkdtempSync(join(tmpdir(), "opwright-own-"));
  const outfile = join(folder, `${name}.mjs`);
  const entry = new URL(`./${name}.ts`, import.meta.url).pathname;
  await build({ entryPoints: [entry], bundle: true, format: "esm", platform: "node", outfile });
  // The tests' own options of Node.js are for their modules.
  const child = fork(outfile, [JSON.stringify(given)], { execArgv: [] });
  const kill = (): void => void child.kill("SIGKILL");
  process.once("exit", kill);
  const said = async (): Promise<unknown> => {
    const left = once(child, "exit").then(() => Promise.reject(new Error(`${name} has ended`)));
    left.catch(() => undefined);
    const [message] = (await Promise.race([once(child, "message"), left])) as [unknown];
    return message;
  };
  const begun = (await said()) as Begun;
  return {
    begun,
    kill,
    async end() {
      const report = said();
      child.send("end");
      const found = (await report) as Report;
      process.off("exit", kill);
      kill();
      rmSync(folder, { recursive: true, force: true });
      return found;
    },
  };
}
