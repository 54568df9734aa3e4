// A transport of the client whose lines are counted: how many were made, and how many there are.
import type { Line, Transport } from "../../generated/client/realtime.js";

/** Counts the lines of a transport; `made` is called each time that one is made. */
export function counted(transport: Transport, made: () => void = () => undefined) {
  const lines = { made: 0, open: 0 };
  const counting: Transport = {
    open(dial, receiver) {
      lines.made += 1;
      lines.open += 1;
      made();
      let isOver = false;
      const over = (): void => {
        if (!isOver) lines.open -= 1;
        isOver = true;
      };
      const line = transport.open(dial, {
        opened: () => receiver.opened(),
        signal: (...signal) => receiver.signal(...signal),
        ended(ending) {
          over();
          receiver.ended(ending);
        },
      });
      const close = (): void => {
        over();
        line.close();
      };
      // A line's methods are of its class.
      return new Proxy<Line>(line, {
        get(of, name) {
          const member: unknown = name === "close" ? close : Reflect.get(of, name, of);
          return typeof member === "function" ? (member.bind(of) as unknown) : member;
        },
      });
    },
  };
  return { counting, lines };
}
