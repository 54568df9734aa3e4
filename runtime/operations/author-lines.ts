// Where in the author's files something happened: the first frame of a stack that is neither ours,
// nor generated, nor a package's.
import { readFileSync } from "node:fs";
import { SourceMap, type SourceMapPayload } from "node:module";
import { dirname, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { messageOf, stackOf } from "./thrown.js";

/** A frame of a stack. */
export interface StackFrame {
  /** The function, as the stack names it; "" for one without a name. */
  readonly name: string;
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

/**
 * The folder that this module, and so all of the runtime, was loaded from: bundled, compiled or as
 * it is written.
 */
const ours = /^.*\/(?:served|runtime)\//.exec(fileURLToPath(import.meta.url))?.[0] ?? "";

/** Whether a frame is of opwright's own runtime. */
function isOurs({ file }: StackFrame): boolean {
  return file.startsWith(ours);
}

const foreign = /\/(?:node_modules|generated)\//;

/**
 * The lines of an error's stack behind its message, which may quote another stack. Anything else
 * that was thrown has none.
 */
function stackLines(error: unknown): readonly string[] {
  const stack = stackOf(error);
  if (stack === undefined) return [];
  const message = messageOf(error);
  const at = stack.indexOf(message);
  return (at < 0 ? stack : stack.slice(at + message.length)).split("\n");
}

/** The frame in a line of a stack, if it lies in a file. */
function frameOf(text: string): readonly StackFrame[] {
  const [, name = "", at = "", line, column] =
    /^\s+at (?:(?:async )?(.*) \()?(?:async )?((?:file:\/\/)?\/.*?):(\d+):(\d+)\)?$/.exec(text) ??
    [];
  if (at === "") return [];
  const file = at.startsWith("file:") ? fileURLToPath(at) : at;
  return [{ name, file, line: Number(line), column: Number(column) }];
}

/** The frames of an error that lie in files. */
function framesOf(error: unknown): readonly StackFrame[] {
  return stackLines(error).flatMap(frameOf);
}

/**
 * What of Node.js calls listeners, and goes on when one throws: it raises the exception again in a
 * tick of its own.
 */
const holder = /\(node:(?:internal\/event_target|diagnostics_channel):/;

/**
 * Whether the stack of an exception that nobody catches is the runtime's own, from where it was
 * thrown to what held it or the event loop. With a frame of the author's, a callback of theirs has
 * thrown, or what it has called; promises and lifetimes hold what the runtime calls of theirs. With
 * an `async` frame the error was a rejection before, and was thrown again.
 */
export function isOfOurs(error: unknown): boolean {
  const lines = stackLines(error);
  if (lines.some((line) => /^\s+at async /.test(line))) return false;
  const end = lines.findIndex((line) => holder.test(line));
  const frames = lines.slice(0, end < 0 ? lines.length : end).flatMap(frameOf);
  return frames.some(isOurs) && authorFramesOf(frames).length === 0;
}

/**
 * The author's frames in a stack, in the files that were written: neither ours, nor generated, nor
 * of a package. Compiled files are read with their source maps.
 */
export function authorFrames(error: unknown): readonly StackFrame[] {
  return authorFramesOf(framesOf(error));
}

function authorFramesOf(frames: readonly StackFrame[]): readonly StackFrame[] {
  return frames
    .filter((frame) => !isOurs(frame))
    .map(sourceFrame)
    .filter(({ file }) => !foreign.test(file));
}

/**
 * The author's line at which something was called or thrown, such as
 * `registry/handlers/tasks.ts:10:9 (complete)`, from the folder in which the process runs;
 * undefined if the stack has none.
 */
export function authorLine(error: unknown): string | undefined {
  const [frame] = authorFrames(error);
  if (frame === undefined) return undefined;
  const { name, file, line, column } = frame;
  const place = `${relative(process.cwd(), file)}:${line}:${column}`;
  return name === "" ? place : `${place} (${name})`;
}

/** The frame in the source file, if a map beside the compiled one says so. */
function sourceFrame(frame: StackFrame): StackFrame {
  const found = mapOf(frame.file)?.findEntry(frame.line - 1, frame.column - 1);
  if (found === undefined || !("originalSource" in found)) return frame;
  const file = resolve(dirname(frame.file), found.originalSource);
  return { ...frame, file, line: found.originalLine + 1, column: found.originalColumn + 1 };
}

/**
 * Maps by compiled file, read once: a map of megabytes takes tens of milliseconds, and faults may
 * come in hundreds.
 */
const maps = new Map<string, SourceMap | null>();

/** The map beside a compiled file; null if there is none, or it is none of ours to read. */
function mapOf(file: string): SourceMap | null {
  const known = maps.get(file);
  if (known !== undefined) return known;
  const map = readMap(file);
  maps.set(file, map);
  return map;
}

function readMap(file: string): SourceMap | null {
  try {
    return new SourceMap(JSON.parse(readFileSync(`${file}.map`, "utf8")) as SourceMapPayload);
  } catch {
    return null;
  }
}
