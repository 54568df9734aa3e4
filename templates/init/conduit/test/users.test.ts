import assert from "node:assert/strict";
import { test } from "node:test";
import { conduit, password } from "./api.js";

const blank = ["can't be blank"];
const taken = ["has already been taken"];
const missing = [401, { errors: { token: ["is missing"] } }];

test("who registers is signed in, and signs in again with the email in any case", async () => {
  await using app = await conduit();
  const given = { username: "jake", email: "Jake@example.test", password };
  const [status, { user }] = await app.nobody.call("POST", "/users", { user: given });
  const { token, ...rest } = user;
  assert.equal(status, 201);
  assert.deepEqual(rest, { username: "jake", email: "Jake@example.test", bio: null, image: null });
  for (const scheme of ["Token", "Bearer"]) {
    const [read, body] = await app.withToken(token, scheme).call("GET", "/user");
    assert.deepEqual([read, { ...body.user, token }], [200, user]);
  }
  const login = { email: "JAKE@example.test", password };
  const [again, signedIn] = await app.nobody.call("POST", "/users/login", { user: login });
  assert.deepEqual([again, { ...signedIn.user, token }], [200, user]);
  assert.equal((await app.withToken(signedIn.user.token).call("GET", "/user"))[0], 200);
});

test("what is blank, malformed or taken is refused by its name", async () => {
  await using app = await conduit();
  await app.register("jake");
  const register = (change: object) =>
    app.nobody.call("POST", "/users", {
      user: { username: "anne", email: "anne@example.test", password, ...change },
    });
  for (const member of ["username", "email", "password"]) {
    for (const nothing of ["", "  ", undefined])
      assert.deepEqual(await register({ [member]: nothing }), [422, { errors: { [member]: blank } }]);
  }
  assert.deepEqual(await register({ username: "jake" }), [409, { errors: { username: taken } }]);
  assert.deepEqual(await register({ email: "Jake@example.test" }), [409, { errors: { email: taken } }]);
  const [status, { errors }] = await register({ password: "short" });
  assert.deepEqual([status, Object.keys(errors)], [422, ["password"]]);
  assert.equal((await register({ email: "anne" }))[0], 422);
  const long = await register({ username: "a".repeat(101) });
  assert.deepEqual([long[0], Object.keys(long[1].errors)], [422, ["username"]]);
});

test("wrong credentials are refused alike, and so is a token that is missing or wrong", async () => {
  await using app = await conduit();
  await app.register("jake");
  const login = (user: object) => app.nobody.call("POST", "/users/login", { user });
  const wrong = [401, { errors: { credentials: ["invalid"] } }];
  assert.deepEqual(await login({ email: "jake@example.test", password: "wrong" }), wrong);
  assert.deepEqual(await login({ email: "anne@example.test", password }), wrong);
  assert.deepEqual(await login({ email: "", password }), [422, { errors: { email: blank } }]);
  for (const caller of [app.nobody, app.withToken("no.token.atall")]) {
    assert.deepEqual(await caller.call("GET", "/user"), missing);
    assert.deepEqual(await caller.call("PUT", "/user", { user: { bio: "A" } }), missing);
  }
});

test("what the API doesn't have is refused in the same shape", async () => {
  await using app = await conduit();
  for (const [method, path, status] of [
    ["GET", "/nothing", 404],
    ["PATCH", "/user", 405],
    ["GET", "/articles?limit=none", 422],
  ] as const) {
    const [answered, { errors }] = await app.nobody.call(method, path);
    assert.equal(answered, status);
    for (const said of Object.values(errors)) assert.ok(Array.isArray(said) && said.length > 0);
  }
});

test("a user changes what they name, and nothing else", async () => {
  await using app = await conduit();
  const jake = await app.register("jake");
  await app.register("anne");
  const put = (user: object) => jake.call("PUT", "/user", { user });
  const { token: _token, ...user } = (await put({ bio: "I write", image: "https://a.test/i.png" }))[1].user;
  assert.deepEqual(user, {
    username: "jake",
    email: "jake@example.test",
    bio: "I write",
    image: "https://a.test/i.png",
  });
  assert.equal((await put({ bio: "" }))[1].user.bio, null);
  assert.equal((await put({ image: null }))[1].user.image, null);
  assert.equal((await put({ username: "jacob" }))[1].user.username, "jacob");
  assert.deepEqual(await put({ username: "anne" }), [409, { errors: { username: taken } }]);
  assert.deepEqual(await put({ email: "anne@example.test" }), [409, { errors: { email: taken } }]);
  for (const member of ["username", "email", "password"]) {
    assert.deepEqual(await put({ [member]: "" }), [422, { errors: { [member]: blank } }]);
    assert.equal((await put({ [member]: null }))[0], 422);
  }
  assert.deepEqual([(await put({}))[0], Object.keys((await put({}))[1].errors)], [422, ["user"]]);
  assert.equal((await jake.call("GET", "/user"))[1].user.username, "jacob");
});

test("a changed email and password sign in, and other sessions have ended", async () => {
  await using app = await conduit();
  const jake = await app.register("jake");
  const login = async (email: string, secret: string) =>
    app.nobody.call("POST", "/users/login", { user: { email, password: secret } });
  const other = app.withToken((await login("jake@example.test", password))[1].user.token);
  const user = { email: "jacob@example.test", password: "another good password" };
  const [status, changed] = await jake.call("PUT", "/user", { user });
  assert.equal(status, 200);
  for (const mine of [jake, app.withToken(changed.user.token)])
    assert.equal((await mine.call("GET", "/user"))[0], 200);
  assert.equal((await other.call("GET", "/user"))[0], 401);
  assert.equal((await login("jake@example.test", password))[0], 401);
  assert.equal((await login("jacob@example.test", user.password))[0], 200);
});

test("profiles are followed, by nobody twice, and left again", async () => {
  await using app = await conduit();
  const [jake, anne] = [await app.register("jake"), await app.register("anne")];
  const seen = (following: boolean) => [
    200,
    { profile: { username: "anne", bio: null, image: null, following } },
  ];
  assert.deepEqual(await app.nobody.call("GET", "/profiles/anne"), seen(false));
  for (const _time of [1, 2])
    assert.deepEqual(await jake.call("POST", "/profiles/anne/follow"), seen(true));
  assert.deepEqual(await jake.call("GET", "/profiles/anne"), seen(true));
  assert.deepEqual(await anne.call("GET", "/profiles/anne"), seen(false));
  for (const _time of [1, 2])
    assert.deepEqual(await jake.call("DELETE", "/profiles/anne/follow"), seen(false));
  const unknown = [404, { errors: { profile: ["not found"] } }];
  assert.deepEqual(await app.nobody.call("GET", "/profiles/bob"), unknown);
  for (const method of ["POST", "DELETE"]) {
    assert.deepEqual(await jake.call(method, "/profiles/bob/follow"), unknown);
    assert.deepEqual(await app.nobody.call(method, "/profiles/bob/follow"), missing);
  }
});
