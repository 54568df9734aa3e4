// npm run test:ha [-- -t NAME]: failovers of a real cluster (Patroni, etcd, HAProxy) below running services; prints what callers
// saw. Needs root for network namespaces, and Debian's packages; names those that are missing.
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { build, buildService, install, run } from "./prepare.mjs";

const programs = {
  "/usr/bin/patroni": "patroni",
  "/usr/bin/etcd": "etcd-server",
  "/usr/sbin/haproxy": "haproxy",
  "/usr/lib/postgresql": "postgresql",
};
const missing = Object.entries(programs).flatMap(([path, name]) => (existsSync(path) ? [] : name));
if (spawnSync("ip", ["-V"]).status !== 0) missing.push("iproute2");
if (missing.length > 0) {
  process.stderr.write(
    `missing: apt-get install -y --no-install-recommends ${missing.join(" ")}\n`,
  );
  process.exit(1);
}
if (process.getuid?.() !== 0) {
  process.stderr.write("network namespaces need root: run it as root\n");
  process.exit(1);
}
install();
build();
buildService();
const args = ["--config", "test/ha/vitest.config.ts", "--root", ".", ...process.argv.slice(2)];
run("npx", ["vitest", "run", ...args]);
