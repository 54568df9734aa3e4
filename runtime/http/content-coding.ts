// Content codings: which one a client prefers (RFC 9110 §12.5.3), and encoding in it.
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";
import { weightsOf } from "../contract/accepted.js";

export type Coding = "br" | "gzip" | "identity";

/** The best of our codings that `Accept-Encoding` accepts; `identity` if it names none of ours. */
export function acceptedCoding(header: string | readonly string[] | undefined): Coding {
  const weights = weightsOf(header);
  const weightOf = (coding: Coding): number => weights.get(coding) ?? weights.get("*") ?? 0;
  const [brotli, gzip] = [weightOf("br"), weightOf("gzip")];
  if (brotli > 0 && brotli >= gzip) return "br";
  return gzip > 0 ? "gzip" : "identity";
}

/** Quality of brotli and level of gzip: while a caller waits, and for texts that are cached. */
const efforts = { quick: 4, thorough: 9 } as const;

/** Encodes a text, outside the event loop. */
export function compressAnswer(
  coding: Exclude<Coding, "identity">,
  text: string | Buffer,
  effort: keyof typeof efforts = "quick",
): Promise<Buffer> {
  const level = efforts[effort];
  if (coding === "gzip") return promisify(gzip)(text, { level });
  const { BROTLI_PARAM_QUALITY: quality, BROTLI_PARAM_MODE: mode } = constants;
  const params = { [quality]: level, [mode]: constants.BROTLI_MODE_TEXT };
  return promisify(brotliCompress)(text, { params });
}
