// The author's functions as their generated types ask for them: what is declared compiles, and what is not does not.
import { spawnSync } from "node:child_process";
import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { cli } from "./cli.js";
import { writeProject } from "./scenario.js";

const root = new URL("../..", import.meta.url).pathname;

const files = {
  "registry/service.yaml": `registry: 1
service: {name: demo, title: Demo, version: 1.0.0, errors: {envelope: registry/errors.ts#envelope, out: Failure}}
policies: {open: [], member: [principal, {rate_limit: 600/1m}]}
types:
  Failure: {errors: {type: object, additionalProperties: {type: array, items: {type: string}}}}
errors: {taken: {kind: validation, detail: Taken., context: {name: string}}}
identity: {sign_up: {verify: email, profile: profiles}}
outbox:
  mail: registry/mail.ts#render
  events:
    orders.placed: {destination: mail, data: {order: uuid, email: string}}
    authn.sign_up_requested: {destination: mail}
documents:
  profiles: {type: {username: string}, unique: [[owner_id], [username]], guard: member}
operations:
  links.go:
    get: "/go/{slug}"
    in: {slug: string}
    headers: [X-From]
    reply: {redirect: [302], cookies: {seen: {}}, headers: [X-The-Longest-Name-Of-A-Header-One, X-The-Longest-Name-Of-A-Header-Two]}
    run: registry/go.ts#go
    guard: open
    errors: [taken]
`,
  "registry/errors.ts": `import type { Envelope } from "../generated/errors.js";
export const envelope: Envelope = ({ code, detail }) => ({ errors: { [code]: [detail] } });
// @ts-expect-error -- no such body
export const other: Envelope = ({ code }) => ({ code });
`,
  "registry/mail.ts": `import type { RenderMail } from "../generated/outbox.js";
export const render: RenderMail = (event) => {
  if (event.name === "authn.sign_up_requested") {
    const { login, kind, token } = event.data;
    return { to: login, subject: kind, text: token ?? "You have an account." };
  }
  // @ts-expect-error -- an order has no login
  void event.data.login;
  const { email, order } = event.data;
  return { to: email, subject: "Thank you", text: \`Your order \${order} is on its way.\` };
};
`,
  "registry/go.ts": `import { fail } from "../generated/errors.js";
import type { LinksGoHandler } from "../generated/types/links.js";
export const go: LinksGoHandler = ({ slug }, { headers, reply }) => {
  if (headers["x-from"] === undefined) throw fail("taken", { name: slug });
  // @ts-expect-error -- no status is declared
  reply.status(299);
  // @ts-expect-error -- not declared
  reply.header("x-other", "1");
  // @ts-expect-error -- not declared
  void headers["cookie"];
  reply.cookie("seen", "yes");
  reply.redirect("/", 302);
};
`,
  "package.json": JSON.stringify({ type: "module" }),
  "tsconfig.json": JSON.stringify({
    compilerOptions: {
      noEmit: true,
      target: "ES2022",
      lib: ["ES2023", "DOM"],
      types: [],
      module: "NodeNext",
      moduleResolution: "NodeNext",
      strict: true,
      exactOptionalPropertyTypes: true,
      noUncheckedIndexedAccess: true,
      skipLibCheck: true,
    },
    include: ["registry/**/*.ts", "generated/**/*.ts"],
  }),
};

test("mails, envelopes, errors and replies are typed by what the registry declares", async () => {
  const project = writeProject(files);
  mkdirSync(join(project.root, "node_modules"));
  symlinkSync(root, join(project.root, "node_modules/opwright"));
  const { code, stdout } = await cli(project.root, "generate");
  expect([code, code === 0 ? "" : stdout]).toEqual([0, ""]);
  const run = (bin: string, ...args: readonly string[]): string =>
    spawnSync(process.execPath, [join(root, "node_modules", bin), ...args], {
      cwd: project.root,
      encoding: "utf8",
    }).stdout;
  const compiled = run("typescript/bin/tsc", "-p", ".");
  project.remove();
  expect(compiled).toBe("");
}, 60_000);
