// A lock that one process holds at a time, and that the system ends with it, however that ends.
import { makePrivateFile } from "../private-files.js";
import { openSqlite } from "./driver.js";

export interface FileLock {
  release(): void;
}

/** Takes the lock of a file, which is created; null while another process holds it. */
export function takeFileLock(path: string): FileLock | null {
  makePrivateFile(path);
  const lock = openSqlite(path);
  try {
    lock.exec("PRAGMA busy_timeout = 0; BEGIN EXCLUSIVE");
  } catch {
    lock.close();
    return null;
  }
  return { release: () => lock.close() };
}
