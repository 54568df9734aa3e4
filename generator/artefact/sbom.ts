// What an artefact is made of, as a CycloneDX 1.6 document (ECMA-424).
import type { LicensedCode } from "./licenses.js";

/** A package, or a part of one, of which code is in an artefact. */
export interface Component extends LicensedCode {
  /** SHA-512 of the package as it was published, in hexadecimal; where a lock file knows it. */
  readonly sha512?: string;
  /** Whether it is a package of npm's registry, and not a part of the project's own repository. */
  readonly isPublished: boolean;
  /** References of the components that it depends on. */
  readonly dependsOn: readonly string[];
}

/** The service that the artefact runs. */
export interface Application {
  readonly name: string;
  readonly version: string;
  /** The version of opwright that built it. */
  readonly opwright: string;
  /** References of the components that it asks for itself. */
  readonly dependsOn: readonly string[];
}

/** The reference of a package: its address among packages (purl, type npm). */
export function referenceOf({
  name,
  version,
}: {
  readonly name: string;
  readonly version: string;
}): string {
  const path = name.startsWith("@") ? `%40${name.slice(1)}` : name;
  return `pkg:npm/${path}@${encodeURIComponent(version)}`;
}

/** Prints the document, without a date or a number of its own: equal artefacts have equal ones. */
export function printSbom(application: Application, components: readonly Component[]): string {
  const root = `${application.name}@${application.version}`;
  const document = {
    bomFormat: "CycloneDX",
    specVersion: "1.6",
    version: 1,
    metadata: {
      tools: {
        components: [{ type: "application", name: "opwright", version: application.opwright }],
      },
      component: {
        type: "application",
        "bom-ref": root,
        name: application.name,
        version: application.version,
      },
    },
    components: components.map(componentOf),
    dependencies: [
      { ref: root, dependsOn: application.dependsOn },
      ...components.map((one) => ({ ref: referenceOf(one), dependsOn: one.dependsOn })),
    ],
  };
  return `${JSON.stringify(document, null, 2)}\n`;
}

function componentOf(one: Component): Readonly<Record<string, unknown>> {
  const [, group, name = one.name] = /^(?:(@[^/]+)\/)?(.+)$/.exec(one.name) ?? [];
  const reference = referenceOf(one);
  return {
    type: "library",
    "bom-ref": reference,
    ...(group === undefined ? {} : { group }),
    name,
    version: one.version,
    ...(one.license === undefined ? {} : { licenses: [licenseOf(one.license)] }),
    ...(one.sha512 === undefined ? {} : { hashes: [{ alg: "SHA-512", content: one.sha512 }] }),
    ...(one.isPublished ? { purl: reference } : {}),
  };
}

/** Identifiers of SPDX that have no number in them, as all others that packages use have. */
const unnumbered = ["0BSD", "BlueOak", "ISC", "MIT", "MIT-0", "Unlicense", "WTFPL", "X11", "Zlib"];

/** An expression of SPDX, such as `MIT` or `(MIT OR Apache-2.0)`; all else is a name. */
function licenseOf(text: string): Readonly<Record<string, unknown>> {
  const isExpression =
    /^\(*[\w.+-]+\)*(?: (?:AND|OR|WITH) \(*[\w.+-]+\)*)*$/.test(text) &&
    text
      .split(/[ ()]+| (?:AND|OR|WITH) /)
      .filter((word) => !/^(?:|AND|OR|WITH)$/.test(word))
      .every((word) => /-\d/.test(word) || unnumbered.includes(word));
  return isExpression ? { expression: text } : { license: { name: text } };
}
