// A lock that one process holds at a time, and that the system ends with it, however that ends.
import { makePrivateFile } from "../private-files.js";
import { openSqlite } from "./driver.js";
import { isBusy, translateFault } from "./faults.js";

export interface FileLock {
  release(): void;
}

/**
 * Takes the lock of a file, which is created; null while another process holds it. Throws codes of
 * the error table.
 */
export function takeFileLock(path: string): FileLock | null {
  makePrivateFile(path);
  const lock = openSqlite(path);
  try {
    lock.exec("PRAGMA busy_timeout = 0; BEGIN EXCLUSIVE");
  } catch (error) {
    lock.close();
    const fault = translateFault(error);
    if (isBusy(fault)) return null;
    throw fault;
  }
  return { release: () => lock.close() };
}
