// What every family works with, and what it makes: operations before they are mounted.
import { limits } from "../../runtime/contract/limits.js";
import type { Origin, Report } from "../diagnostics.js";
import type { Declarations } from "../load/declarations.js";
import { durationSeconds } from "../load/quantities.js";
import type { SourceTree } from "../load/source-tree.js";
import type { TypeReader } from "../load/types.js";
import type { OperationModel } from "../model/registry.js";

export interface FamilyContext {
  readonly declarations: Declarations;
  readonly tree: SourceTree;
  readonly types: TypeReader;
  readonly report: Report;
}

/** An operation before it is mounted, with its route in each style relative to the mount. */
export interface UnmountedOperation {
  readonly operation: OperationModel;
  /** Default routes by style; null where the operation cannot be attached. */
  readonly routes: Readonly<
    Record<"rest" | "rpc", { readonly method: RouteMethod; readonly path: string }>
  > | null;
  readonly status: number;
  readonly at: Origin;
}

export type RouteMethod = "GET" | "HEAD" | "POST" | "PUT" | "PATCH" | "DELETE";

/** The deadline in seconds of an operation that declares this, or leaves it to the service. */
export function deadlineOf({ declarations }: FamilyContext, declared?: string): number {
  const text = declared ?? declarations.service?.deadline;
  return text === undefined ? limits.defaultDeadlineSeconds : durationSeconds(text);
}

/** The `x-*` keys of a declaration. */
export function extensionsOf(declaration: object): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(declaration).filter(([key]) => key.startsWith("x-")));
}
