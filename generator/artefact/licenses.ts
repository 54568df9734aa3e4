// The licenses of packages whose code is in an artefact, in one text.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Package } from "./packages.js";

/** What its license asks to go along with a package's code. */
export interface LicensedCode {
  readonly name: string;
  readonly version: string;
  /** The identifier, or expression, of SPDX; else how the package calls it. */
  readonly license?: string;
  /** The texts of its license and notices. */
  readonly texts: readonly string[];
}

/** Names of files that have a license or a notice. */
const licenseName =
  /^(?:(?:un|mit-|bsd-|apache-)?licen[cs]e|notice|copying|copyright|third-?party)[\w.-]*$/i;

/** Reads what a package says of its license. */
export function readLicense({ name, version, folder, manifest }: Package): LicensedCode {
  const texts = readdirSync(folder, { withFileTypes: true })
    .filter(
      (entry) =>
        entry.isFile() &&
        licenseName.test(entry.name) &&
        !/\.(?:[cm]?[jt]s|json)$/.test(entry.name),
    )
    .map((entry) => entry.name)
    .sort()
    .map((file) => readFileSync(join(folder, file), "utf8").trim());
  const license = licenseOf(manifest.license) ?? licenseOf(manifest.licenses);
  return {
    name,
    version,
    texts: texts.length > 0 ? texts : licenseInManual(folder),
    ...(license === undefined ? {} : { license }),
  };
}

/** The part of a manual that has the license, where nothing else does. */
function licenseInManual(folder: string): readonly string[] {
  const manual = readdirSync(folder).find((name) => /^readme(?:\.|$)/i.test(name));
  if (manual === undefined) return [];
  const text = readFileSync(join(folder, manual), "utf8");
  const [, part = ""] =
    /^(?:#+ *licen[cs]e\b.*|licen[cs]e\r?\n[-=]+ *)\r?\n([^]*?)(?=^#|(?![^]))/im.exec(text) ?? [];
  return part.trim() === "" ? [] : [part.trim()];
}

/** Older packages say it as an object, or as a list of such. */
function licenseOf(given: unknown): string | undefined {
  if (typeof given === "string") return given;
  if (Array.isArray(given)) {
    const all = given.map(licenseOf).filter((one) => one !== undefined);
    return all.length > 1 ? `(${all.join(" OR ")})` : all[0];
  }
  const type = typeof given === "object" && given !== null && "type" in given ? given.type : null;
  return typeof type === "string" ? type : undefined;
}

/** All of them, one after the other. */
export function printLicenses(all: readonly LicensedCode[]): string {
  return `${all
    .map(({ name, version, license, texts }) => {
      const text =
        texts.length > 0
          ? texts.join("\n\n")
          : `The package has no text of its license, which it calls ${license ?? "nothing"}.`;
      return `${name} ${version}\n\n${text.replaceAll("\r\n", "\n")}\n`;
    })
    .join(`\n${"-".repeat(80)}\n\n`)}`;
}
