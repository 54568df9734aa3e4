// Keys by which a service is asked for what its families have opened, so that it needn't know any
// family.

/** The key of a resource; its type parameter is the type of the resource. */
export interface ResourceKey<Resource> {
  readonly name: string;
  /** Never set; it only carries the type. */
  readonly resource?: Resource;
}

/**
 * Makes the key of a resource. Resources are found by this very object; the name is only for error
 * messages.
 */
export function resourceKey<Resource>(name: string): ResourceKey<Resource> {
  return { name };
}
