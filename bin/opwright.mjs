#!/usr/bin/env node
// Starts the command line; everything else is in generator/cli.
import { existsSync } from "node:fs";

const bundle = new URL("../dist/cli/main.js", import.meta.url);
const plain = new URL("../dist/generator/cli/main.js", import.meta.url);
const { main } = await import(existsSync(bundle) ? bundle.href : plain.href);

process.exitCode = await main(process.argv.slice(2));
