// Files outside the generated folder that the command line writes: whole, or as they were, whenever it ends (attack 182).
import { cpSync, rmSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { cli } from "./cli.js";
import {
  begun,
  generate,
  interrupted,
  newFolder,
  prepared,
  snapshot,
  write,
  type Situation,
} from "./interruptions.js";

const situations: readonly (Situation & { readonly written: RegExp })[] = [
  {
    name: "init",
    prepare: async (root) => write(root, { "demo/README.md": "mine\n" }),
    args: ["init", "demo", "--yes"],
    written: /^demo\/(?!.*\.opwright$)/,
  },
  {
    name: "generate --stubs",
    prepare: async (root) =>
      write(root, {
        ...begun,
        "registry/more.yaml":
          "registry: 1\noperations:\n  more.go: {post: /go, in: {}, run: mine.ts#go, guard: open}\n  more.on: {post: /on, in: {}, run: new/other.ts#on, guard: open}\n",
        "mine.ts": `// ${"mine ".repeat(2_000)}\nexport const mine = 1;\n`,
      }),
    args: ["generate", "--stubs"],
    written: /^(?:mine|new\/other)\.ts$/,
  },
  {
    name: "client pack",
    prepare: async (root) => {
      write(root, begun);
      await generate(root);
    },
    args: ["client", "pack"],
    written: /\.tgz$/,
  },
];

describe.each(situations)("$name", (situation) => {
  const { args, written } = situation;

  test.each(["kill in it", "full"])("leaves no file that is half of one (%s)", async (how) => {
    const { root, before, after, changes } = await prepared(situation);
    const moments = changes.flatMap((change, index) => {
      const [, path = ""] = change.split(" ");
      return change.startsWith("writeFileSync") && !path.endsWith(".staged") ? [index + 1] : [];
    });
    expect(moments.length).toBeGreaterThan(0);
    for (const moment of new Set([...moments.slice(0, 4), moments.at(-1) ?? 0])) {
      const hint = `change ${moment}, ${changes[moment - 1]}`;
      const project = newFolder();
      cpSync(root, project, { recursive: true });
      const { code, signal } = interrupted(project, args, { how, at: moment });
      expect([code, signal], hint).toEqual(how === "full" ? [3, null] : [null, "SIGKILL"]);
      const left = Object.entries(snapshot(project));
      // What a killed process leaves behind has a name of its own; a full disk leaves nothing.
      const behind = left.filter(([path]) => path.endsWith(".opwright"));
      expect(behind.length, hint).toBe(how === "full" ? 0 : 1);
      for (const [path, text] of left.filter(([one]) => written.test(one)))
        expect([before[path], after[path]], `${hint}: ${path}`).toContain(text);
      expect(await cli(project, ...args), hint).toMatchObject({ code: 0 });
      expect(snapshot(project), hint).toEqual(after);
      rmSync(project, { recursive: true, force: true });
    }
  });
});
