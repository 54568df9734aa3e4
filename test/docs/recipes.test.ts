// docs/recipes.md is one project: it generates, compiles, and does what the page says.
import { spawnSync } from "node:child_process";
import { createHmac } from "node:crypto";
import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { cli } from "../generator/cli.js";
import { writeProject } from "../generator/scenario.js";
import { sectionsOf } from "./journey.js";

const root = new URL("../..", import.meta.url).pathname;
const files = sectionsOf(readFileSync(join(root, "docs/recipes.md"), "utf8"))
  .flatMap(({ steps }) => steps)
  .filter((step) => step.kind === "file");

type Json = Readonly<Record<string, unknown>>;
interface Document {
  readonly id: string;
  readonly rev: number;
}
interface Page {
  readonly hits: readonly Json[];
}
interface App {
  readonly url: string;
  readonly outbox: readonly { readonly name: string; readonly data: object }[];
  client(options: { readonly headers: Readonly<Record<string, string>> }): object;
  close(): Promise<void>;
}

/** The project of `init`, with the files of the page in place of its example. */
async function pageProject() {
  const project = writeProject({});
  expect((await cli(project.root, "init", ".", "--yes")).code).toBe(0);
  for (const path of ["registry/notes.yaml", "registry/handlers", "test"])
    rmSync(join(project.root, path), { recursive: true });
  for (const { path, text } of files) {
    const file = join(project.root, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  }
  const tsconfig = join(project.root, "tsconfig.json");
  const { include, ...more } = JSON.parse(readFileSync(tsconfig, "utf8")) as {
    readonly include: readonly string[];
  };
  writeFileSync(tsconfig, JSON.stringify({ ...more, include: [...include, "web"] }));
  mkdirSync(join(project.root, "node_modules/@types"), { recursive: true });
  symlinkSync(root, join(project.root, "node_modules/opwright"));
  for (const name of ["express", "@types/node", "@types/express"])
    symlinkSync(join(root, "node_modules", name), join(project.root, "node_modules", name));
  return project;
}

describe("docs/recipes.md", { timeout: 60_000 }, async () => {
  const project = await pageProject();
  /** Calls a function of the page. */
  const call = async <Result>(path: string, name: string, ...given: readonly unknown[]) => {
    const url = pathToFileURL(join(project.root, "dist", path)).href;
    const module = (await import(/* @vite-ignore */ url)) as Readonly<
      Record<string, (...given: readonly unknown[]) => Promise<Result>>
    >;
    return module[name]?.(...given) as Promise<Result>;
  };
  let app: App;

  const send = async (
    path: string,
    body: object,
    headers: Readonly<Record<string, string>> = {},
  ) => {
    const answer = await fetch(`${app.url}${path}`, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: JSON.stringify(body),
    });
    return {
      status: answer.status,
      code: answer.headers.get("x-error-code"),
      body: (await answer.json()) as Json,
    };
  };
  /** Somebody who has registered: their header, and a client that sends it. */
  const register = async (username: string) => {
    const { body } = await send("/auth/sign-up", {
      login: `${username}@example.test`,
      password: "a quiet afternoon",
      profile: { username },
    });
    const headers = { authorization: `Bearer ${String(body["access_token"])}` };
    return { headers, client: app.client({ headers }) };
  };

  beforeAll(async () => {
    const { code, stdout } = await cli(project.root, "generate");
    expect([code, code === 0 ? "" : stdout]).toEqual([0, ""]);
    const tsc = join(root, "node_modules/typescript/bin/tsc");
    const { stdout: faults } = spawnSync(process.execPath, [tsc, "-p", project.root], {
      encoding: "utf8",
    });
    expect(faults).toBe("");
    app = await call<App>("generated/testing.js", "testService");
  }, 60_000);

  afterAll(async () => {
    await app.close();
    project.remove();
  });

  test("a user name is taken once, and errors have the form of the page", async () => {
    await register("ann");
    const profile = { username: "ann" };
    const again = { login: "other@example.test", password: "a quiet afternoon", profile };
    expect(await send("/auth/sign-up", again)).toEqual({
      status: 409,
      code: "unique_violation",
      body: { errors: { unique_violation: ["Another document has these values already."] } },
    });
  });

  test("drafts are their owner's, photos those of everybody that are public", async () => {
    const [bob, eve] = [await register("bob"), await register("eve")];
    await send("/drafts", { text: "mine" }, bob.headers);
    const png = Buffer.from(
      "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNkYAAAAAYAAjCB0C8AAAAASUVORK5CYII=",
      "base64",
    );
    const image = new Blob([png]);
    const photo = await call<Json>("web/photo.js", "addPhoto", bob.client, "private", image);
    expect(photo["file"]).toMatch(/^photos\//);
    await send("/photos", { title: "shown", public: true }, bob.headers);
    const portrait = { title: "me", image: png.toString("base64") };
    const added = (await send("/photos/add", portrait, bob.headers)).body;
    const replaced = await fetch(`${app.url}/photos/${String(added["id"])}/image`, {
      method: "PUT",
      headers: { ...bob.headers, "content-type": "application/json" },
      body: JSON.stringify({ image: portrait.image }),
    });
    const { file } = (await replaced.json()) as Json;
    const there = async (key: unknown) =>
      (await fetch(`${app.url}/files/files/${String(key)}`, { headers: bob.headers })).status;
    expect([await there(file), await there(added["file"])]).toEqual([200, 404]);
    const seen = async (path: string, who: typeof bob) =>
      (await send(path, {}, who.headers)).body["count"];
    expect([await seen("/drafts/list", bob), await seen("/drafts/list", eve)]).toEqual([1, 0]);
    expect([await seen("/photos/list", bob), await seen("/photos/list", eve)]).toEqual([3, 1]);
  });

  test("webhooks are taken once, if they are signed", async () => {
    const [stripeSecret, githubSecret] = ["whsec_of_stripe", "of github"];
    process.env["STRIPE_SECRET"] = stripeSecret;
    process.env["GITHUB_SECRET"] = githubSecret;
    const sign = (secret: string, text: string) =>
      createHmac("sha256", secret).update(text).digest("hex");
    const deliver = async (path: string, body: string, headers: Readonly<Record<string, string>>) =>
      (
        await fetch(`${app.url}/incoming/${path}`, {
          method: "POST",
          headers: { "content-type": "application/json", ...headers },
          body,
        })
      ).status;
    // Spaces and the order of members are part of what is signed.
    const event = '{ "type":"invoice.paid",  "id":"evt_1" }';
    const stripe = (text: string, age = 0, secret = stripeSecret) => {
      const time = Math.floor(Date.now() / 1000) - age;
      const header = `t=${time},v1=${sign("old", "x")},v1=${sign(secret, `${time}.${event}`)},v0=x`;
      return deliver("stripe", text, { "stripe-signature": header });
    };
    expect([await stripe(event), await stripe(event)]).toEqual([204, 204]);
    expect(await stripe(event.replace("paid", "void"))).toBe(400);
    expect(await stripe(event, 400)).toBe(400);
    expect(await stripe(event, 0, "another")).toBe(400);
    expect(await deliver("stripe", event, {})).toBe(400);
    const push = '{"ref": "refs/heads/main"}';
    const github = (signature: string) =>
      deliver("github", push, { "x-hub-signature-256": signature, "x-github-delivery": "d1" });
    const right = `sha256=${sign(githubSecret, push)}`;
    expect([await github(right), await github(right)]).toEqual([204, 204]);
    expect(await github(`sha256=${sign("another", push)}`)).toBe(400);
    expect(await github("")).toBe(400);
    // Without a secret, nothing is signed.
    delete process.env["GITHUB_SECRET"];
    expect(await github(`sha256=${sign("", push)}`)).toBe(400);
  });

  test("slugs differ where titles are the same", async () => {
    const { headers } = await register("carl");
    const post = { title: "Über uns!", text: "…" };
    const slugs = [];
    for (let times = 0; times < 2; times++)
      slugs.push((await send("/posts/publish", post, headers)).body["slug"]);
    expect(slugs).toEqual(["uber-uns", "uber-uns-2"]);
  });

  test("a post is deleted and restored, liked once by each, and sorted by its author", async () => {
    const { headers, client } = await register("abel");
    const post = (await send("/posts/publish", { title: "Abel", text: "…" }, headers))
      .body as unknown as Document;
    await call("web/undo.js", "deleteAndUndo", client, post.id, post.rev);
    expect((await send(`/posts/${post.id}/like`, {}, headers)).body).toEqual({ likes: 1 });
    expect((await send(`/posts/${post.id}/like`, {}, headers)).code).toBe("unique_violation");
    expect(app.outbox).toMatchObject([{ name: "posts.liked", data: { post: post.id, likes: 1 } }]);
    const { hits } = await call<Page>("web/by-author.js", "byAuthor", client);
    expect(hits).toMatchObject([{ id: post.id, expanded: { author: { username: "abel" } } }]);
  });

  test("500 rows arrive by one request, are counted by author and walked by cursor", async () => {
    const { headers, client } = await register("dora");
    const { body } = await send("/posts/publish", { title: "First", text: "…" }, headers);
    const { author } = body;
    const items = Array.from({ length: 500 }, (_, at) => {
      // The last slug is one that is there already.
      const slug = at === 499 ? "first" : `row-${at}`;
      return { title: `Row ${at}`, text: "…", slug, author };
    });
    const refused = await call("web/import.js", "importPosts", client, items);
    expect(refused).toEqual(["499: unique_violation"]);
    const { hits } = await call<Page>("web/totals.js", "perAuthor", client);
    expect(hits[0]).toMatchObject({ author, posts: 500 });
    expect(await call("web/scroll.js", "titles", client)).toContain("Row 498");
    const first = await call<Page>("web/scroll.js", "nextPage", client, null);
    expect(first.hits).toHaveLength(20);
  });

  test("a create that is repeated under its key is done once", async () => {
    const { headers } = await register("fred");
    const { author } = (await send("/posts/publish", { title: "Fred", text: "…" }, headers)).body;
    const post = { title: "Once", text: "…", slug: "once", author };
    const keyed = { ...headers, "idempotency-key": "7f3a" };
    const [first, second] = [await send("/posts", post, keyed), await send("/posts", post, keyed)];
    expect([first.status, second.body]).toEqual([201, first.body]);
  });
});
