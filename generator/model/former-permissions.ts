// What permissions were called first, in the frozen registry.

/** First names by present ones. Grants are stored under the first. */
export interface FormerPermissionsModel {
  /** Of namespaces: what all their permissions begin with. */
  readonly resources: Readonly<Record<string, string>>;
  /** Of single permissions that policies ask for. */
  readonly permissions: Readonly<Record<string, string>>;
}
