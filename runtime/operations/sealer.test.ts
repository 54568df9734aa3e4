// Sealed texts open under any of the secrets, about the same thing, unchanged; and nowhere else.
import fc from "fast-check";
import { expect, test } from "vitest";
import { aesSealer } from "./sealer.js";

const [older, newer] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)];

test("what is sealed opens, also after the secret has been rotated, and does not show the text", () => {
  fc.assert(
    fc.property(fc.string(), fc.string(), (text, about) => {
      const sealed = aesSealer([older], "outbox").seal(text, about);
      expect(aesSealer([newer, older], "outbox").open(sealed, about)).toBe(text);
      if (text.length > 3) expect(Buffer.from(sealed, "base64url").toString()).not.toContain(text);
    }),
  );
});

test("another secret, purpose, subject or byte does not open", () => {
  const sealed = aesSealer([older], "outbox").seal("secret", "a");
  const changed = Buffer.from(sealed, "base64url");
  changed[changed.length - 1] = (changed.at(-1) ?? 0) ^ 1;
  const attempts = [
    () => aesSealer([newer], "outbox").open(sealed, "a"),
    () => aesSealer([older], "cursor").open(sealed, "a"),
    () => aesSealer([older], "outbox").open(sealed, "b"),
    () => aesSealer([older], "outbox").open(changed.toString("base64url"), "a"),
    () => aesSealer([older], "outbox").open(sealed.slice(0, 20), "a"),
    () => aesSealer([older], "outbox").open("", "a"),
  ];
  for (const attempt of attempts) expect(attempt).toThrow("does not open");
});
