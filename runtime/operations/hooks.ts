// Hooks: steps around an operation, in eight phases (architecture.md "Pipeline").
import type { ExecutionContext } from "./context.js";
import { noteAuthored } from "./authored.js";
import type { Output } from "./json-text.js";

type Awaitable<T> = T | Promise<T>;

export interface HookFunctions<Input, Result> {
  /** Before anything else; throwing refuses the invocation. */
  before(input: Input, context: ExecutionContext): Awaitable<void>;
  /** Around the transaction; may call `next` with another input, or not at all. */
  wrap(
    input: Input,
    context: ExecutionContext,
    next: (input: Input) => Promise<Output<Result>>,
  ): Awaitable<Output<Result>>;
  /** In the transaction, before the handler. */
  tx_before(input: Input, context: ExecutionContext): Awaitable<void>;
  /** In the transaction, after the handler; throwing rolls back. */
  tx_after(input: Input, context: ExecutionContext, output: Output<Result>): Awaitable<void>;
  /** After a commit; a fault is logged and does not reach the caller. */
  after_commit(input: Input, context: ExecutionContext, output: Output<Result>): Awaitable<void>;
  /** After the operation has succeeded. */
  on_success(input: Input, context: ExecutionContext, output: Output<Result>): Awaitable<void>;
  /** After the operation has failed; the error is passed on whatever this does. */
  on_failure(input: Input, context: ExecutionContext, error: unknown): Awaitable<void>;
  /** At the very end, either way. */
  finally(input: Input, context: ExecutionContext): Awaitable<void>;
}

export type HookPhase = keyof HookFunctions<never, never>;

/** A hook of one phase. */
export interface PhaseHook<Phase extends HookPhase, Input, Result> {
  readonly phase: Phase;
  /**
   * What it asks of the caller, if it looks at nothing else: hooks that ask the same have the same
   * answer for one caller (see `refusalsOf`).
   */
  readonly asks?: string;
  /** Whether it is the author's, who may do anything with the input. */
  readonly isAuthored?: true;
  readonly run: HookFunctions<Input, Result>[Phase];
}

/** One hook of a chain. Hooks of one phase run in the order in which the chain lists them. */
export type Hook<Input, Result> = {
  [Phase in HookPhase]: PhaseHook<Phase, Input, Result>;
}[HookPhase];

function of<Phase extends HookPhase>(phase: Phase) {
  return <Input, Result>(
    run: HookFunctions<Input, Result>[Phase],
  ): PhaseHook<Phase, Input, Result> => {
    noteAuthored(run);
    return { phase, isAuthored: true, run };
  };
}

/** Goes around operations of any type, and passes on their inputs and answers. */
type WrapsAny = <Input, Result>(
  input: Input,
  context: ExecutionContext,
  next: (input: Input) => Promise<Output<Result>>,
) => Awaitable<Output<Result>>;

interface WrapMaker {
  // oxlint-disable-next-line typescript/no-explicit-any -- it fits every operation; inference would make it one of unknown
  (run: WrapsAny): PhaseHook<"wrap", any, any>;
  <Input, Result>(run: HookFunctions<Input, Result>["wrap"]): PhaseHook<"wrap", Input, Result>;
}

// Makers of hooks, one a phase, as generated routes name them.
/** Makes a hook that runs before the transaction: what it throws refuses the call. */
export const before = of("before");
/** Makes a hook around the whole call, which it continues by `next`. */
export const wrap: WrapMaker = of("wrap");
/** Makes a hook that runs in the transaction, before the operation. */
export const txBefore = of("tx_before");
/** Makes a hook that runs in the transaction, with the output; what it throws rolls back. */
export const txAfter = of("tx_after");
/** Makes a hook that runs after the commit; what it throws is logged. */
export const afterCommit = of("after_commit");
/** Makes a hook that runs once the operation has succeeded. */
export const onSuccess = of("on_success");
/** Makes a hook that runs once the operation has failed, with the error. */
export const onFailure = of("on_failure");
/** Makes a hook that runs at the end, whatever has happened. */
export const onFinally = of("finally");

/** The hooks of one chain, grouped by phase once, when the operation is made. */
export type HookChain<Input, Result> = {
  readonly [Phase in HookPhase]: readonly HookFunctions<Input, Result>[Phase][];
} & {
  readonly isEmpty: boolean;
  /**
   * Whether it asks who is calling and for no permission: what a credential with scopes may do is
   * said by permissions alone.
   */
  readonly isForWhole: boolean;
};

/** Whether steps ask who is calling, and for no permission. */
export function isForWhole(steps: readonly { readonly asks?: string }[]): boolean {
  return (
    steps.some(({ asks }) => asks === "principal") &&
    !steps.some(({ asks }) => asks?.startsWith("authorize ") === true)
  );
}

/** Groups hooks by phase and keeps their order. */
export function chain<Input, Result>(
  hooks: readonly Hook<Input, Result>[],
): HookChain<Input, Result> {
  const inPhase = <Phase extends HookPhase>(phase: Phase) =>
    hooks
      .filter((hook) => hook.phase === phase)
      // The filter has just compared the phase, by which the type of `run` is chosen.
      .map((hook) => hook.run as HookFunctions<Input, Result>[Phase]);
  return {
    isEmpty: hooks.length === 0,
    isForWhole: isForWhole(hooks),
    before: inPhase("before"),
    wrap: inPhase("wrap"),
    tx_before: inPhase("tx_before"),
    tx_after: inPhase("tx_after"),
    after_commit: inPhase("after_commit"),
    on_success: inPhase("on_success"),
    on_failure: inPhase("on_failure"),
    finally: inPhase("finally"),
  };
}
