// npm run bench [-- NAME …]: everything we claim about speed, measured beside peers in one run, printed as ratios.
const names = process.argv.slice(2);
const benches = [
  "client",
  "generate",
  "http",
  "identity",
  "loop",
  "neighbours",
  "query",
  "realtime",
  "search",
  "objects",
  "shapes",
  "start",
  "storage",
];
for (const name of names.length > 0 ? names : benches) {
  if (!benches.includes(name)) {
    process.stderr.write(`there is no bench ${name}; there are ${benches.join(", ")}\n`);
    process.exit(2);
  }
  const { run } = await import(`./${name}.mjs`);
  process.stdout.write(`\n## ${name}\n\n`);
  await run();
}
