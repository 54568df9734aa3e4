#!/usr/bin/env node
// Starts the command line; everything else is in generator/cli.
import { main } from "../dist/generator/cli/main.js";

process.exitCode = await main(process.argv.slice(2));
