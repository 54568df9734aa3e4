// Writing a file so that it never has half a text, whenever the process ends or the disk is full.
import { chmodSync, mkdirSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";

/**
 * Writes a file of the author's project, whose folder is made if need be: under a temporary name,
 * then renamed. What a killed process leaves behind has the same name next time, and is overwritten
 * then. An existing file keeps its mode.
 */
export function writeWhole(file: string, text: string | NodeJS.ArrayBufferView): void {
  mkdirSync(dirname(file), { recursive: true });
  const temporary = join(dirname(file), `.${basename(file)}.opwright`);
  try {
    writeFileSync(temporary, text);
    const earlier = statSync(file, { throwIfNoEntry: false });
    if (earlier !== undefined) chmodSync(temporary, earlier.mode);
    renameSync(temporary, file);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
}
