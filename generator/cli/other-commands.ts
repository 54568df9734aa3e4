// Commands that people look for here and that are called otherwise, or belong to the service.
import { aliases } from "../load/aliases.js";
import { own } from "../model/records.js";

/** Commands of the service (docs/running.md). */
const ofService = "migrate create-principal search-rebuild objects-rebuild outbox redrive";

const sentences: Readonly<Record<string, (name: string) => string>> = {
  ...aliases(
    (name: string) => `${name} is a command of your service: node dist/generated/server.js ${name}`,
    ofService,
  ),
  ...aliases(
    () => "`opwright dev` serves while you write, and `npm start` runs the compiled service",
    "start serve run watch up",
  ),
  ...aliases(() => "that is `opwright check`", "validate lint verify test"),
  ...aliases(() => "that is `opwright generate`", "gen codegen compile sync push"),
  ...aliases(() => "that is `opwright init`", "new create"),
  ...aliases(() => "that is `opwright migrations squash`", "squash"),
};

/** What to call in place of a command that there is not; undefined if nothing is known. */
export function commandAdvice(name: string | undefined): string | undefined {
  return name === undefined ? undefined : own(sentences, name)?.(name);
}
