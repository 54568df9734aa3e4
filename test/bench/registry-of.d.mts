/** Operations of a document with soft deletion. */
export const perDocument: number;

/** Files by path of a registry with `count` operations, of which a share comes from documents. */
export function registryOf(count: number, share?: number): Readonly<Record<string, string>>;

/** The usual share of operations that come from documents. */
export const usualShare: number;
