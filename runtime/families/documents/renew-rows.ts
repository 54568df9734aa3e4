// How `migrate` rewrites rows of older shapes, with a progress bar. It waits for processes of older
// versions, or names them.
import type { Announced } from "./announcement.js";
import type { MigrateOptions } from "../../operations/family.js";
import { mostNamed, renewRows } from "./renewal.js";
import { progressBar, type ProgressBar } from "../../work/progress-bar.js";
import type { Database } from "../../ports/database.js";
import type { AnyDocumentSpec } from "../../ports/document-spec.js";
import { sleep } from "../../ports/ambient.js";

/** How often to check whether older processes have ended, in milliseconds. */
const lookMillis = 1_000;

/** Rewrites the rows of each type, one type after the other. */
export async function renewAll(
  database: Database,
  documents: readonly AnyDocumentSpec[],
  options: MigrateOptions,
): Promise<void> {
  for (const spec of documents) {
    if (options.signal.aborted) return;
    await renewType(database, spec, options);
  }
}

async function renewType(
  database: Database,
  spec: AnyDocumentSpec,
  { waits, signal }: MigrateOptions,
): Promise<void> {
  const say = (text: string): boolean => process.stderr.write(`${spec.table}: ${text}\n`);
  let bar: ProgressBar | null = null;
  const onProgress = (looked: number, total: number): void => {
    bar ??= progressBar(spec.table);
    bar.show(looked, total);
  };
  const clashing: string[] = [];
  const onClash = (ids: readonly string[]): void => void clashing.push(...ids);
  for (let isTold = false; ; isTold = true) {
    const step = await renewRows(database, spec, { onProgress, onClash, signal });
    if (step.kind !== "waiting") break;
    if (!waits) {
      say(`rows are brought up once ${nameProcesses(step.processes)}`);
      break;
    }
    if (!isTold) say(`waiting for ${countProcesses(step.processes)} (${places(step.processes)})`);
    if (signal.aborted) break;
    await sleep(lookMillis, undefined, { signal }).catch(() => undefined);
  }
  (bar as ProgressBar | null)?.finish();
  if (clashing.length === 0) return;
  const named = [...clashing.slice(0, mostNamed), ...(clashing.length > mostNamed ? ["…"] : [])];
  const count = `${clashing.length} ${clashing.length === 1 ? "row stays as it is" : "rows stay as they are"}`;
  say(`${count}, since others have their values of a unique rule: ${named.join(", ")}`);
}

function nameProcesses(processes: readonly Announced[]): string {
  const have = processes.length === 1 ? "has" : "have";
  return `${countProcesses(processes)} ${have} ended (${places(processes)})`;
}

function countProcesses({ length }: readonly Announced[]): string {
  return `${length} ${length === 1 ? "process" : "processes"} of an older version`;
}

/** The hosts and ids of the first few processes. */
function places(processes: readonly Announced[]): string {
  const most = 5;
  const shown = processes.slice(0, most).map(({ host, pid }) => `${host} pid ${pid}`);
  return [...shown, ...(processes.length > most ? ["…"] : [])].join(", ");
}
