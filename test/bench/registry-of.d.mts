/** Files by path of a registry with `count` operations. */
export function registryOf(count: number): Readonly<Record<string, string>>;
