// If-None-Match against one entity tag (RFC 9110 §13.1.2, weak comparison §8.8.3.2).

/** Whether the header lists the tag, or is `*`. */
export function matchesEntityTag(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false;
  if (header.trim() === "*") return true;
  const opaque = etag.startsWith("W/") ? etag.slice(2) : etag;
  for (const match of header.matchAll(/(?:W\/)?("[\x21\x23-\x7e\x80-\xff]*")/g)) {
    if (match[1] === opaque) return true;
  }
  return false;
}
