// Runs one bench, whose name is the argument, in a process of its own, and tells its parent what it had to leave out.
import { missing } from "./tools.mjs";

process.on("SIGTERM", () => process.exit(1));
const { run } = await import(`./${process.argv[2]}.mjs`);
await run();
process.send([...missing]);
// What a bench has left must not keep this process.
process.exit(0);
