// Texts that stay the same while the service runs, with strong validators and compressed forms (RFC
// 9110 §8.8.3, §12.5.3).
import { createHash } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { isUnchanged, readPreconditions } from "../operations/preconditions.js";
import { acceptedCoding, compressAnswer, type Coding } from "./content-coding.js";

/** Below so many bytes compression saves nothing. */
const worthwhileBytes = 1_024;

interface Form {
  readonly etag: string;
  readonly bytes: Buffer;
}

/** A text with its forms, each made with the first request for it. */
export class KeptText {
  readonly #read: () => Promise<string | Buffer>;
  readonly #forms = new Map<Coding, Promise<Form>>();

  constructor(read: () => Promise<string | Buffer>) {
    this.#read = read;
  }

  /** Answers a GET or HEAD: 200, or 304 for who has it. `headers` are names and values in turn. */
  async answer(
    req: IncomingMessage,
    res: ServerResponse,
    headers: readonly string[],
  ): Promise<void> {
    const plain = await this.#form("identity");
    const coding =
      plain.bytes.length < worthwhileBytes
        ? "identity"
        : acceptedCoding(req.headers["accept-encoding"]);
    const { etag, bytes } = await this.#form(coding);
    const before = res.getHeader("Vary");
    const vary = [...(before === undefined ? [] : [String(before)]), "Accept-Encoding"];
    const common = ["ETag", `"${etag}"`, "Vary", vary.join(", "), ...headers];
    if (isUnchanged(readPreconditions(req.headers), { etag, modifiedAt: undefined })) {
      res.writeHead(304, common);
      res.end();
      return;
    }
    const encoding = coding === "identity" ? [] : ["Content-Encoding", coding];
    res.writeHead(200, [...common, ...encoding, "Content-Length", String(bytes.length)]);
    res.end(req.method === "HEAD" ? undefined : bytes);
  }

  #form(coding: Coding): Promise<Form> {
    const known = this.#forms.get(coding);
    if (known !== undefined) return known;
    const made = this.#made(coding);
    this.#forms.set(coding, made);
    // After a failed read, the next request tries again.
    made.catch(() => this.#forms.delete(coding));
    return made;
  }

  async #made(coding: Coding): Promise<Form> {
    if (coding !== "identity") {
      const { etag, bytes } = await this.#form("identity");
      return { etag: `${etag}-${coding}`, bytes: await compressAnswer(coding, bytes, "thorough") };
    }
    const bytes = Buffer.from(await this.#read());
    const etag = createHash("sha256").update(bytes).digest("base64url").slice(0, 22);
    return { etag, bytes };
  }
}
