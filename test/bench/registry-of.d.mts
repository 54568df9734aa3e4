/** Operations of a document with soft deletion. */
export const perDocument: number;

/** Files by path of a registry with `count` operations. */
export function registryOf(count: number): Readonly<Record<string, string>>;
