// One line for all tabs of a browser: one of them leads (Web Locks), the others hear and talk
// through it (BroadcastChannel).
import { platform } from "./platform.js";
import type { Transport } from "./port.js";
import { SharedLine } from "./shared-line.js";

/**
 * The line of a transport, opened once a browser. Where there are no tabs, no means to share, or
 * nobody has told who calls, it is the transport itself.
 */
export function shareConnection(transport: Transport): Transport {
  const { BroadcastChannel, navigator } = platform;
  if (BroadcastChannel === undefined || navigator?.locks === undefined) return transport;
  const { locks } = navigator;
  return {
    isShared: true,
    open(dial, receiver) {
      const { caller } = dial;
      if (caller === null) return transport.open(dial, receiver);
      // Tabs share if they have the same caller and device.
      const name = `opwright ${dial.client.baseUrl}${dial.path} ${dial.deviceId} ${caller}`;
      const means = { channel: new BroadcastChannel(name), locks, name, caller };
      return new SharedLine(transport, dial, receiver, means);
    },
  };
}
