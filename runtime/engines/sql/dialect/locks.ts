// How transactions wait for each other. All are "" on an engine with one writer.
export interface LockDialect {
  /**
   * Ends a SELECT so that nobody else changes its rows until the transaction ends; "" if there is
   * only one writer anyway.
   */
  readonly holdRows: string;
  /**
   * Ends a SELECT so that nobody deletes or seizes its rows until the transaction ends, while
   * updates go on; "" as above.
   */
  readonly shareRows: string;
  /**
   * Ends a SELECT so that it waits until nobody shares its rows, and nobody does until the
   * transaction ends; "" as above.
   */
  readonly seizeRows: string;
  /**
   * Ends a SELECT so that it locks its rows, and skips rows that another transaction has locked; ""
   * if there is one writer.
   */
  readonly skipLocked: string;
  /**
   * A query by which one transaction at a time has the name in its placeholder; "" if there is only
   * one writer anyway.
   */
  readonly holdName: string;
  /**
   * The same for a list of names without waiting: it answers those, in a column `name`, that nobody
   * else has.
   */
  readonly tryHoldNames: string;
  /**
   * A query by which the transaction waits for a lock no longer than its first placeholder says,
   * and ends once nobody has spoken in it for as long as its second one: milliseconds as texts; ""
   * as above.
   */
  readonly limitWaits: string;
}
