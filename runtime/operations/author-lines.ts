// Where in the author's files something happened: the first frame of a stack that is neither ours, nor generated, nor a package's.
import { readFileSync } from "node:fs";
import { SourceMap, type SourceMapPayload } from "node:module";
import { dirname, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { stackOf } from "./thrown.js";

/** A frame of a stack. */
export interface StackFrame {
  /** The function, as the stack names it; "" for one without a name. */
  readonly name: string;
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

/** The folder that this module, and so all of the runtime, was loaded from: bundled, compiled or as it is written. */
const ours = /^.*\/(?:served|runtime)\//.exec(fileURLToPath(import.meta.url))?.[0] ?? "";

/** Whether a frame is of opwright's own runtime. */
function isOurs({ file }: StackFrame): boolean {
  return file.startsWith(ours);
}

const foreign = /\/(?:node_modules|generated)\//;

/** The frames of an error that lie in files. Anything else that was thrown has none. */
export function framesOf(error: unknown): readonly StackFrame[] {
  return framesIn(stackOf(error) ?? "");
}

function framesIn(stack: string): readonly StackFrame[] {
  return stack.split("\n").flatMap((text) => {
    const [, name = "", at = "", line, column] =
      /^\s+at (?:(?:async )?(.*) \()?(?:async )?((?:file:\/\/)?\/.*?):(\d+):(\d+)\)?$/.exec(text) ??
      [];
    if (at === "") return [];
    const file = at.startsWith("file:") ? fileURLToPath(at) : at;
    return [{ name, file, line: Number(line), column: Number(column) }];
  });
}

/**
 * Whether an exception that nobody has caught has interrupted the runtime: a frame of ours waits for what has thrown. Not one
 * behind an EventTarget, such as the signal of an operation: that hands on what its listeners throw, and returns as ever.
 */
export function hasInterruptedUs(error: unknown): boolean {
  const [reached = ""] = (stackOf(error) ?? "").split(/^.*\(?node:internal\/event_target:.*$/m);
  return framesIn(reached).some(isOurs);
}

/**
 * The author's frames in a stack, in the files that were written: neither ours, nor generated, nor of a package. Compiled
 * files are read with their source maps.
 */
export function authorFrames(error: unknown): readonly StackFrame[] {
  return framesOf(error)
    .filter((frame) => !isOurs(frame))
    .map(written)
    .filter(({ file }) => !foreign.test(file));
}

/**
 * The author's line at which something was called or thrown, such as `registry/handlers/tasks.ts:10:9 (complete)`, from the
 * folder in which the process runs; undefined where the stack has none.
 */
export function authorLine(error: unknown): string | undefined {
  const [frame] = authorFrames(error);
  if (frame === undefined) return undefined;
  const { name, file, line, column } = frame;
  const place = `${relative(process.cwd(), file)}:${line}:${column}`;
  return name === "" ? place : `${place} (${name})`;
}

/** The frame in the file that was written, where a map beside the compiled one says so. */
function written(frame: StackFrame): StackFrame {
  try {
    const payload = JSON.parse(readFileSync(`${frame.file}.map`, "utf8")) as SourceMapPayload;
    const found = new SourceMap(payload).findEntry(frame.line - 1, frame.column - 1);
    if (!("originalSource" in found)) return frame;
    const file = resolve(dirname(frame.file), found.originalSource);
    return { ...frame, file, line: found.originalLine + 1, column: found.originalColumn + 1 };
  } catch {
    // There is no map, or it is none of ours to read.
    return frame;
  }
}
