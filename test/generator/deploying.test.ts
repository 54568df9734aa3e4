// What `opwright init` writes for deploying, as far as it can be tried without an engine for containers, systemd or a cluster:
// the steps of the image, its command, its health check and its stop in a root that has nothing but Node.js and the artefact
// and can't be written; the steps before the start; the unit and the resources, by the tools that read them.
import { spawn, spawnSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { engines, type FreshDatabase } from "../support/engines.js";
import { freePort } from "../support/free-port.js";
import { makeBareRoot } from "../support/bare-root.js";
import { cli } from "./cli.js";
import { writeProject } from "./scenario.js";

const repository = new URL("../..", import.meta.url).pathname;
const page = readFileSync(join(repository, "docs/deploying.md"), "utf8");
const engine =
  engines.find(({ name, isAvailable }) => name === "postgres" && isAvailable) ?? engines[0];

let root = "";
let remove = (): void => undefined;
let database: FreshDatabase;
beforeAll(async () => {
  ({ root, remove } = writeProject({}));
  if (engine === undefined) throw new Error("there is no engine");
  database = await engine.create();
  expect((await cli(root, "init", ".", "--yes", "--deploy")).code).toBe(0);
  expect((await cli(root, "generate")).code).toBe(0);
  mkdirSync(join(root, "node_modules/@types"), { recursive: true });
  symlinkSync(repository, join(root, "node_modules/opwright"));
  for (const name of ["@types/node", "express", "pg", "typescript"])
    symlinkSync(join(repository, "node_modules", name), join(root, "node_modules", name));
  // What npm would do over the network is done; its scripts run.
  mkdirSync(join(root, "tools"));
  const tool = (name: string, text: string): void => {
    writeFileSync(join(root, "tools", name), `#!/bin/sh\nset -e\n${text}\n`);
    chmodSync(join(root, "tools", name), 0o755);
  };
  tool("npm", `test "$1" = ci`);
  tool("npx", `shift; exec "${process.execPath}" "${repository}bin/opwright.mjs" "$@"`);
});
afterAll(async () => {
  await database.drop();
  remove();
});

/** The instructions of the Containerfile, by what each begins with. */
function instructions(name: string): readonly string[] {
  const text = readFileSync(join(root, "Containerfile"), "utf8").replaceAll("\\\n", "");
  return [...text.matchAll(new RegExp(`^${name} +(.*)$`, "gm"))].map(([, rest = ""]) => rest);
}

/** A command that is given as a list. */
function listed(instruction: string | undefined): readonly string[] {
  return JSON.parse(instruction?.slice(instruction.indexOf("[")) ?? "[]") as readonly string[];
}

const artefact = (path = ""): string => join(root, "build", path);
const isMissing = (program: string): boolean =>
  (process.env["OPWRIGHT_TEST_WITHOUT"] ?? "").split(",").includes(program);
const path = (): string => `${join(root, "tools")}:${process.env["PATH"]}`;

test("the page shows the files as they are written", () => {
  for (const [language, name] of [
    ["dockerfile", "Containerfile"],
    ["yml", "compose.yaml"],
  ] as const) {
    const text = readFileSync(join(root, name), "utf8");
    expect(page).toContain(`\`\`\`${language}\n# ${name}\n${text}\`\`\``);
  }
});

test("the steps of the image leave what it copies, and secrets are in neither git nor the image", () => {
  expect(instructions("WORKDIR")).toEqual(["/app", "/app"]);
  expect(instructions("RUN").at(-1)).toBe("mkdir /data && chown node:node /data");
  for (const step of instructions("RUN").slice(0, -1)) {
    const { status, stdout, stderr } = spawnSync("sh", ["-c", step], {
      cwd: root,
      encoding: "utf8",
      env: { PATH: path() },
    });
    expect([step, status, status === 0 ? "" : stdout + stderr]).toEqual([step, 0, ""]);
  }
  expect(instructions("COPY").filter((one) => one.startsWith("--from"))).toEqual([
    "--from=build /app/build ./",
  ]);
  expect(existsSync(artefact("server.js"))).toBe(true);
  expect(instructions("USER")).toEqual(["node"]);
  for (const file of [".dockerignore", ".gitignore"])
    expect(readFileSync(join(root, file), "utf8").split("\n")).toContain(".env");
});

test("compose.yaml applies migrations before the start, and the image starts, is healthy and stops", async () => {
  const compose = parse(readFileSync(join(root, "compose.yaml"), "utf8"));
  const { migrate, service } = compose.services;
  expect(migrate.depends_on).toEqual({ database: { condition: "service_healthy" } });
  expect(service.depends_on).toEqual({ migrate: { condition: "service_completed_successfully" } });
  expect(service.environment).toEqual(migrate.environment);
  expect([service.read_only, migrate.read_only, service.cap_drop]).toEqual([true, true, ["ALL"]]);
  const bareRoot = makeBareRoot(artefact());
  const [writing = ""] = [...page.matchAll(/^```sh\n([^]*?> \.env\n)/gm)].map(
    ([, text = ""]) => text,
  );
  expect(spawnSync("sh", ["-c", writing], { cwd: root, env: { PATH: path() } }).status).toBe(0);
  const secrets = readFileSync(join(root, ".env"), "utf8").trim().split("\n");
  const port = await freePort();
  const [image = ""] = instructions("ENV");
  const env = {
    PATH: path(),
    ...Object.fromEntries(
      [...image.split(" "), ...secrets].map((one) => one.split(/=(.*)/s).slice(0, 2)),
    ),
    ...service.environment,
    // What the containers have of their own.
    DATABASE_URL: database.url,
    DATA_DIR: bareRoot.data,
    PORT: String(port),
    SETTLE_SECONDS: "0",
  };
  const run = (command: readonly string[]) => {
    const [program = "", ...args] = bareRoot.command(command);
    return spawn(program, args, { cwd: bareRoot.cwd, env, stdio: ["ignore", "pipe", "inherit"] });
  };
  const ended = (child: ReturnType<typeof run>): Promise<number | null> =>
    new Promise((resolve) => child.once("exit", resolve));
  const isHealthy = async (): Promise<boolean> =>
    (await ended(run(listed(instructions("HEALTHCHECK")[0])))) === 0;
  expect(await isHealthy()).toBe(false);
  expect(await ended(run(migrate.command))).toBe(0);
  const child = run(listed(instructions("CMD").at(-1)));
  const ending = ended(child);
  try {
    await expect.poll(isHealthy, { timeout: 30_000 }).toBe(true);
    const ready = await fetch(`http://127.0.0.1:${port}/readyz`);
    expect(ready.status).toBe(200);
  } finally {
    child.kill("SIGTERM");
  }
  expect(await ending).toBe(0);
  bareRoot.remove();
});

test("Kubernetes knows each member of the resources, and they fit the image and each other", () => {
  const text = readFileSync(join(root, "deploy/kubernetes.yaml"), "utf8");
  const [job, deployment, service, budget] = parseAllDocuments(text).map((one) => one.toJS());
  const checked = join(repository, "dist", `kubernetes-${process.pid}.ts`);
  const typed = [
    ["batch/v1", "Job", job],
    ["apps/v1", "Deployment", deployment],
    ["core/v1", "Service", service],
    ["policy/v1", "PodDisruptionBudget", budget],
  ] as const;
  writeFileSync(
    checked,
    typed
      .map(
        ([from, kind, value]) =>
          `import type { ${kind} } from "kubernetes-types/${from}";\nexport const a${kind}: ${kind} = ${JSON.stringify(value)};\n`,
      )
      .join(""),
  );
  const options = [
    "--noEmit",
    "--strict",
    "--module",
    "esnext",
    "--moduleResolution",
    "bundler",
    "--skipLibCheck",
    "--ignoreConfig",
  ];
  const { status, stdout } = spawnSync("npx", ["tsc", ...options, checked], {
    cwd: repository,
    encoding: "utf8",
  });
  rmSync(checked);
  expect([status, stdout]).toEqual([0, ""]);
  const { spec } = deployment.spec.template;
  const [container] = spec.containers;
  const [migrate] = job.spec.template.spec.containers;
  expect(migrate.command).toEqual(
    parse(readFileSync(join(root, "compose.yaml"), "utf8")).services.migrate.command,
  );
  expect([container.image, container.envFrom]).toEqual([migrate.image, migrate.envFrom]);
  // SETTLE_SECONDS and DRAIN_SECONDS in production, and some in reserve.
  expect(spec.terminationGracePeriodSeconds).toBeGreaterThan(5 + 10);
  for (const pod of [spec, job.spec.template.spec]) {
    expect(pod.securityContext.runAsNonRoot).toBe(true);
    expect(pod.containers[0].securityContext.readOnlyRootFilesystem).toBe(true);
  }
  const mounts = container.volumeMounts.map(({ mountPath }: { mountPath: string }) => mountPath);
  expect(instructions("ENV")[0]).toContain(`DATA_DIR=${mounts[0]}`);
  const ports = container.ports.map(
    ({ containerPort }: { containerPort: number }) => containerPort,
  );
  expect(ports).toEqual([4400, 9400]);
  expect(container.env).toContainEqual({ name: "ADMIN_PORT", value: "9400" });
  expect(service.spec.ports[0].targetPort).toBe(container.ports[0].name);
  for (const { spec: selecting } of [deployment, budget])
    expect(deployment.spec.template.metadata.labels).toMatchObject(selecting.selector.matchLabels);
  // A job that is done must not be sent requests.
  expect(job.spec.template.metadata.labels).not.toMatchObject(service.spec.selector);
});

test.skipIf(isMissing("systemd-analyze"))(
  "systemd reads the unit, and finds little exposed",
  () => {
    const [unit = ""] = readdirSync(join(root, "deploy")).filter((name) =>
      name.endsWith(".service"),
    );
    const name = unit.replace(/\.service$/, "");
    const text = readFileSync(join(root, "deploy", unit), "utf8");
    expect(text).toContain(`WorkingDirectory=/opt/${name}\n`);
    expect(text).not.toMatch(/hello/i);
    // What it names is there on the machine that it is for.
    const [folder, program] = [artefact(), process.execPath];
    const here = text.replaceAll(`/opt/${name}`, folder).replaceAll("/usr/bin/node", program);
    writeFileSync(join(root, unit), here);
    const verified = spawnSync("systemd-analyze", ["verify", `./${unit}`], {
      cwd: root,
      encoding: "utf8",
    });
    expect([verified.status, verified.stderr]).toEqual([0, ""]);
    const { stdout } = spawnSync("systemd-analyze", ["security", "--offline=true", `./${unit}`], {
      cwd: root,
      encoding: "utf8",
    });
    const [, level = "10"] = /Overall exposure level for \S+: ([\d.]+)/.exec(stdout) ?? [];
    expect(Number(level)).toBeLessThan(2);
  },
);

test("in a project that is there, `init --deploy` writes only what deploys it", async () => {
  const registered = readFileSync(join(root, "registry/service.yaml"), "utf8");
  writeFileSync(
    join(root, "registry/service.yaml"),
    registered.replace(/name: \S+/, "name: the_shop"),
  );
  for (const name of ["Containerfile", "test/notes.test.ts"]) rmSync(join(root, name));
  const { code, stdout } = await cli(root, "init", "--deploy");
  writeFileSync(join(root, "registry/service.yaml"), registered);
  expect([code, stdout]).toEqual([0, "create Containerfile\ncreate deploy/the-shop.service\n"]);
});
