// What may be said of an object, as patterns of JSON Schema: documents describe them, and the
// running service holds handlers to them.

/**
 * A media type without parameters: 255 characters at most. No name has `*`, which makes a range of
 * types (RFC 6838 §4.2).
 */
export const contentTypePattern = "^[!#$%&'+.^_`|~0-9A-Za-z-]+/[!#$%&'+.^_`|~0-9A-Za-z-]+$";

/** A filename without a folder: 255 bytes at most. */
export const filenamePattern = String.raw`^[^/\\\u0000-\u001f\u007f-\u009f]+$`;

/** Objects on one page of a list. */
export const maxObjectsPage = 1_000;
