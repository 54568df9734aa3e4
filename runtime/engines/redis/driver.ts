// The package `redis`, which is imported only when Redis is configured.

type Redis = typeof import("redis");

export type RedisClient = ReturnType<Redis["createClient"]>;
export type CreateClient = Redis["createClient"];

/** Imports the package. Throws if it is not installed. */
export async function loadRedis(): Promise<CreateClient> {
  const { createClient } = await import("redis").catch((cause: unknown) => {
    throw new Error("Redis needs the package redis: npm install redis", { cause });
  });
  return createClient;
}

/** Ends a connection at once, whatever is under way; one that has ended already stays so. */
export function hangUp(client: Pick<RedisClient, "isOpen" | "destroy">): void {
  if (client.isOpen) client.destroy();
}
