// Files of a project that a stranger has sent: nothing outside it is read, shown or written, and nothing holds the tool up (attack 87).
import { spawnSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { runCheck } from "../../generator/cli/check.js";
import type { GenerateFlags } from "../../generator/cli/generate-anew.js";
import { runGenerate } from "../../generator/cli/generate.js";
import { recordedTerminal } from "./cli.js";
import { configuredProject } from "../../generator/cli/project.js";
import { writeProject } from "./scenario.js";

const service = `registry: 1
service: {name: demo, title: Demo, version: 1.0.0}
policies: {open: []}
documents:
  notes: {type: {text: string}, guard: open}
`;
const secret = "root:x:0:0:the secret of another folder";

describe.skipIf(process.platform === "win32")("a project", () => {
  let root = "";
  let outside = "";
  let remove = (): void => undefined;
  beforeEach(() => {
    ({ root, remove } = writeProject({ "registry/service.yaml": service }));
    outside = mkdtempSync(join(tmpdir(), "opwright-outside-"));
    writeFileSync(join(outside, "secret.yaml"), secret);
  });
  afterEach(() => {
    remove();
    rmSync(outside, { recursive: true, force: true });
  });

  /** What a command says on both streams, and how it ends. */
  const run = async (
    command: "check" | "generate",
    flags: GenerateFlags = {},
  ): Promise<{ readonly code: number; readonly said: string }> => {
    const { terminal, written } = recordedTerminal(root);
    const project = await configuredProject({}, root);
    const code =
      command === "check"
        ? await runCheck(project, {}, terminal)
        : await runGenerate(project, flags, terminal);
    return { code, said: written.stdout + written.stderr };
  };
  const inside = (path: string): string => join(root, path);

  /** Puts something into the registry under a name, and reads the registry. */
  const withEntry = async (name: string, make: (path: string) => void): Promise<string> => {
    make(inside(`registry/${name}`));
    const { code, said } = await run("check");
    expect([code, said.includes("secret of another")]).toEqual([1, false]);
    return said;
  };

  describe("whose registry holds", () => {
    test("a link to a file outside is refused, and nothing of it shown", async () => {
      expect(
        await withEntry("x.yaml", (path) => symlinkSync(join(outside, "secret.yaml"), path)),
      ).toContain("OPW008 registry/x.yaml is a link out of the project");
    });

    test("a link to a folder outside is not entered", async () => {
      const said = await withEntry("shared", (path) => symlinkSync(outside, path));
      expect(said).toContain("OPW008 registry/shared is a link out of the project");
      expect(said).not.toContain("secret.yaml");
    });

    test("a link over a link in the project is refused all the same", async () => {
      symlinkSync(outside, inside("elsewhere"));
      expect(
        await withEntry("x.yaml", (path) => symlinkSync("../elsewhere/secret.yaml", path)),
      ).toContain("OPW008 registry/x.yaml is a link out of the project");
    });

    test("a FIFO is refused, and not waited for", async () => {
      expect(await withEntry("x.yaml", (path) => spawnSync("mkfifo", [path]))).toContain(
        "OPW008 registry/x.yaml is not a regular file",
      );
    });

    test("a socket is refused", async () => {
      const server = createServer();
      const path = inside("registry/x.yml");
      await new Promise<void>((resolve) => server.listen(path, resolve));
      expect(await withEntry("x.yml", () => undefined)).toContain(
        "OPW008 registry/x.yml is not a regular file",
      );
      await new Promise((resolve) => server.close(resolve));
    });

    test("a device is refused", async () => {
      expect(await withEntry("x.yaml", (path) => symlinkSync("/dev/zero", path))).toContain(
        "OPW008 registry/x.yaml is a link out of the project",
      );
    });

    test("a folder with the name of a file is refused", async () => {
      expect(await withEntry("x.yaml", (path) => mkdirSync(path))).toContain(
        "OPW008 registry/x.yaml is a folder, not a file",
      );
    });

    test("a link to a folder that it is in is refused, and ends", async () => {
      expect(await withEntry("again", (path) => symlinkSync(".", path))).toContain(
        "OPW008 registry/again is a link to a folder that it is in",
      );
    });

    test("a file of a gigabyte is refused unread", async () => {
      const large = (path: string): void => {
        writeFileSync(path, secret);
        truncateSync(path, 1024 ** 3);
      };
      expect(await withEntry("x.yaml", large)).toContain(
        "OPW008 registry/x.yaml is larger than 4 MiB",
      );
    });

    test("a JSON schema outside, or too large, is refused", async () => {
      writeFileSync(join(outside, "schema.json"), JSON.stringify({ title: secret }));
      symlinkSync(join(outside, "schema.json"), inside("registry/linked.json"));
      writeFileSync(inside("registry/large.json"), `{"title": "${"x".repeat(5 * 1024 ** 2)}"}`);
      const said = await withEntry("types.yaml", (path) =>
        writeFileSync(
          path,
          `registry: 1\ntypes:\n  A: {$ref: linked.json}\n  B: {$ref: large.json}\n`,
        ),
      );
      expect(said).toContain("types.yaml:3:6 error OPW008 registry/linked.json is a link out of");
      expect(said).toContain(
        "types.yaml:4:6 error OPW008 registry/large.json is larger than 4 MiB",
      );
    });

    test("a link inside the project is followed", async () => {
      mkdirSync(inside("shared"));
      writeFileSync(inside("shared/more.yaml"), "registry: 1\ntypes: {A: {x: strnig}}\n");
      expect(await withEntry("shared", (path) => symlinkSync("../shared", path))).toContain(
        "registry/shared/more.yaml:2:16 error",
      );
    });
  });

  test("that was clean is read again once a file has become a link", async () => {
    mkdirSync(inside("node_modules"));
    await run("generate");
    expect((await run("check")).code).toBe(0);
    writeFileSync(join(outside, "service.yaml"), service);
    rmSync(inside("registry/service.yaml"));
    symlinkSync(join(outside, "service.yaml"), inside("registry/service.yaml"));
    expect((await run("check")).said).toContain("registry/service.yaml is a link out of");
  });

  test("whose handlers are a link outside gets no stub there", async () => {
    const operation = `operations:\n  notes.shout: {post: /shout, run: "registry/x.ts#shout", guard: open}\n`;
    writeFileSync(inside("registry/more.yaml"), `registry: 1\n${operation}`);
    writeFileSync(join(outside, "x.ts"), "export const other = 1;\n");
    symlinkSync(join(outside, "x.ts"), inside("registry/x.ts"));
    expect((await run("generate", { stubs: true })).said).toContain(
      "OPW008 registry/x.ts is a link out of the project",
    );
    rmSync(inside("registry/x.ts"));
    symlinkSync(outside, inside("registry/handlers"));
    writeFileSync(
      inside("registry/more.yaml"),
      `registry: 1\n${operation.replace("registry/x.ts", "registry/handlers/new.ts")}`,
    );
    await run("generate", { stubs: true });
    expect(readdirSync(outside).sort()).toEqual(["secret.yaml", "x.ts"]);
    expect(readFileSync(join(outside, "x.ts"), "utf8")).toBe("export const other = 1;\n");
  });

  describe("whose generated folder", () => {
    test("is a link outside is not written, nor read", async () => {
      symlinkSync(outside, inside("generated"));
      for (const command of ["check", "generate"] as const) {
        const { code, said } = await run(command, { force: true });
        expect([code, said]).toEqual([
          1,
          expect.stringContaining("OPW086 generated is a link out"),
        ]);
      }
      expect(readdirSync(outside)).toEqual(["secret.yaml"]);
    });

    test("would be made below a link outside is not made", async () => {
      symlinkSync(outside, inside("linked"));
      writeFileSync(inside("opwright.config.mjs"), 'export default { out: "linked/generated" };');
      const { code, said } = await run("generate", { force: true });
      expect([code, said]).toEqual([
        1,
        expect.stringContaining("OPW086 linked/generated is below a link out of the project"),
      ]);
      expect(readdirSync(outside)).toEqual(["secret.yaml"]);
    });

    test("has a folder that is a link outside is not written", async () => {
      mkdirSync(inside("generated"));
      symlinkSync(outside, inside("generated/routes"));
      const { said } = await run("generate", { force: true });
      expect(said).toContain("OPW086 generated/routes is a link out of the project");
      expect(readdirSync(outside)).toEqual(["secret.yaml"]);
      expect(existsSync(inside("generated/server.ts"))).toBe(false);
    });

    test("has a file that is a link outside shows nothing of it", async () => {
      await run("generate");
      rmSync(inside("generated/server.ts"));
      symlinkSync(join(outside, "secret.yaml"), inside("generated/server.ts"));
      const { code, said } = await run("check");
      expect([code, said.includes("secret of another")]).toEqual([1, false]);
      expect(said).toContain("OPW086 generated/server.ts is a link out of the project");
    });
  });

  test("whose configuration is a link outside is refused", async () => {
    writeFileSync(join(outside, "config.mjs"), "throw new Error('it was run')");
    symlinkSync(join(outside, "config.mjs"), inside("opwright.config.mjs"));
    await expect(run("check")).rejects.toThrow("opwright.config.mjs is a link out of the project");
  });

  test("with long lines and control characters gets short, harmless excerpts", async () => {
    const escape = "\u001b]0;owned\u0007\u202e\u009b31m";
    const line = `types: {A: {x: strnig}} # ${escape}${"y".repeat(100_000)}`;
    const far = `# ${escape}\npolicies: {p: [], ${"q".repeat(5_000)}: 5}`;
    writeFileSync(inside("registry/more.yaml"), `registry: 1\n${line}\n${far}\n`);
    const { said } = await run("check");
    expect(said).toContain("more.yaml:2:16 error");
    // oxlint-disable-next-line no-control-regex -- they are what must not be there
    expect(said).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/);
    const longest = Math.max(...said.split("\n").map(({ length }) => length));
    expect(longest).toBeLessThan(700);
    const frames = said.split("\n").filter((text) => / {2}\d* *\|/.test(text));
    expect(frames.length).toBeGreaterThan(2);
    for (const frame of frames) expect(frame.length).toBeLessThan(220);
  });
});
