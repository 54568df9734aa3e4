// A project that keeps documents and nothing else, and its service as a process that a test starts, writes to and ends.
import { expect } from "vitest";
import type { Version, VersionProcess } from "./version-process.js";

export const keptNotes = {
  "registry/service.yaml": `registry: 1
service: {name: demo, title: Demo, version: 1.2.3}
policies: {open: []}
documents:
  notes: {type: {text: string}, guard: open}
`,
};

export interface StartedVersion {
  readonly url: string;
  readonly process: VersionProcess;
}

/** Starts a version's server; resolves once it listens. */
export async function startVersion(
  version: Version,
  environment: Readonly<Record<string, string>>,
): Promise<StartedVersion> {
  const process = version.spawn({ LOG_LEVEL: "info", METRICS: "on", ...environment });
  const [, url = ""] = await process.says(/"url":"([^"]+)"/);
  return { url, process };
}

export async function endVersion(
  { child, exited }: VersionProcess,
  signal: NodeJS.Signals,
): Promise<void> {
  child.kill(signal);
  await exited;
}

/** Adds a note; its id once it is acknowledged, null otherwise. */
export async function addNote(url: string, text: string): Promise<string | null> {
  const made = await fetch(`${url}/notes`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ text }),
  });
  return made.status === 201 ? ((await made.json()) as { readonly id: string }).id : null;
}

/** The same, of a service that has to take it. */
export async function addedNote(url: string, text: string): Promise<string> {
  const id = await addNote(url, text);
  expect(id).not.toBeNull();
  return id ?? "";
}

/** Until when a service says that its backup has everything, in seconds since 1970; 0 if that isn't known yet. */
export async function keptUntil(url: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text();
  return Number(/^opwright_backup_kept_timestamp_seconds (\S+)$/m.exec(text)?.[1] ?? 0) || 0;
}
