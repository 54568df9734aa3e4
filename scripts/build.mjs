// npm run build, npm run build:service: compiles what has changed.
import { build, buildService } from "./prepare.mjs";

build();
if (process.argv[2] === "service") buildService();
