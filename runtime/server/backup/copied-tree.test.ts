// Copies of a folder in which others go on: files come and go, and folders with them.
import { createHash } from "node:crypto";
import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  rmdirSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { copyTree, listTree } from "./copied-tree.js";

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "opwright-tree-"));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const hashOf = (content: string | Buffer): string =>
  createHash("sha256").update(content).digest("hex");

/** As the folder engine writes: elsewhere, and renamed into place. */
function place(path: string, text: string): void {
  const at = join(root, "from", path);
  mkdirSync(dirname(at), { recursive: true });
  writeFileSync(join(root, "new"), text);
  renameSync(join(root, "new"), at);
}

describe("a copied folder", () => {
  test("that isn't there has no files", async () => {
    expect(await listTree(join(root, "nowhere"))).toEqual([]);
  });

  test("has each file that stays, and of none another content than its hash says", async () => {
    const staying = Array.from({ length: 20 }, (_none, at) => `stays/${at % 10}/${at}`);
    for (const path of staying) place(path, path);
    const over = new AbortController();
    const churning = (async () => {
      for (let at = 0; !over.signal.aborted; at += 1) {
        const path = `goes/${at % 7}/${at % 13}`;
        place(path, `${at}`.repeat(1_000));
        await nextTurn();
        rmSync(join(root, "from", path));
        rmdirSync(join(root, "from", dirname(path)));
        await nextTurn();
      }
    })();
    try {
      for (let times = 0; times < 40; times += 1) {
        const to = join(root, `to${times}`);
        const hashes = new Map<string, string>();
        await copyTree(join(root, "from"), to, { known: new Map(), hashes });
        const copied = await listTree(to);
        expect(copied).toEqual(expect.arrayContaining(staying));
        expect(copied).toEqual([...hashes.keys()].toSorted());
        for (const path of copied)
          expect([path, hashOf(readFileSync(join(to, path)))]).toEqual([path, hashes.get(path)]);
      }
    } finally {
      over.abort();
      await churning;
    }
  });

  test("has the newer content of a file that was replaced", async () => {
    place("a", "old");
    const [known, hashes] = [new Map<string, string>(), new Map<string, string>()];
    await copyTree(join(root, "from"), join(root, "to"), { known, hashes });
    place("a", "newer");
    await copyTree(join(root, "from"), join(root, "to"), { known, hashes });
    expect(readFileSync(join(root, "to/a"), "utf8")).toBe("newer");
    expect(hashes.get("a")).toBe(hashOf("newer"));
  });
});
