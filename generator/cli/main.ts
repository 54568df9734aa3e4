// The command line: one file a command, flags declared here, every failure with its exit code.
import { Command, CommanderError, Option } from "commander";
import { packageVersion } from "../project/package-root.js";
import { diffFormats, type DiffFormat } from "../diff/formats.js";
import { findingFormats } from "./finding-formats.js";
import { commandAdvice } from "./other-commands.js";
import { exitCodes, openProcessTerminal, UsageError, type ExitCode, type Terminal } from "./io.js";
import type { BuildFlags } from "./build.js";
import type { CheckFlags } from "./check.js";
import type { McpFlags } from "./mcp.js";
import { configuredProject, type CommonFlags, type ConfiguredProject } from "./project.js";
import type { GenerateFlags } from "./generate-anew.js";
import type { SquashFlags } from "./squash.js";
import type { InitFlags } from "./init.js";
import { templates } from "./templates.js";

/** Runs the command line and returns the exit code. */
export async function main(
  argv: readonly string[],
  terminal: Terminal = openProcessTerminal(),
): Promise<ExitCode> {
  const program = new Command("opwright")
    .description("Prints a reviewed, typed backend from operations declared in YAML.")
    .version(packageVersion())
    .exitOverride()
    .configureOutput({ writeOut: terminal.out, writeErr: terminal.note })
    .showSuggestionAfterError()
    // Subcommands inherit it.
    .showHelpAfterError("(`--help` behind a command says how it is called)");
  const instead = commandAdvice(argv[0]);
  if (instead !== undefined) {
    terminal.note(`opwright: there is no command ${argv[0]}: ${instead}`);
    return exitCodes.usage;
  }
  let code: ExitCode = exitCodes.fine;
  const commands = commandsOf(program, terminal, (ended) => {
    code = ended;
  });
  addCommandsOfRegistry(commands);
  addCommandsBeside(commands);
  addMigrations(commands);
  try {
    await program.parseAsync([...argv], { from: "user" });
    return code;
  } catch (error) {
    return failureCode(error, terminal);
  }
}

/** What commands are declared with. */
interface Commands {
  readonly program: Command;
  readonly terminal: Terminal;
  /** Sets the exit code of a command. */
  readonly end: (code: ExitCode) => void;
  /** A command that reads a registry. */
  readonly onRegistry: (
    name: string,
    description: string,
    options?: { readonly of?: Command; readonly formats?: readonly string[] },
  ) => Command;
  /** A command that writes or compares the generated folder as well. */
  readonly command: (name: string, description: string) => Command;
  /** What a command does with the project and its flags. */
  readonly onProject: <Flags extends CommonFlags>(
    run: (configured: ConfiguredProject, flags: Flags) => Promise<ExitCode>,
  ) => (flags: Flags) => Promise<void>;
}

function commandsOf(program: Command, terminal: Terminal, end: (code: ExitCode) => void): Commands {
  const onRegistry: Commands["onRegistry"] = (
    name,
    description,
    { of = program, formats = findingFormats as readonly string[] } = {},
  ) =>
    of
      .command(name)
      .description(description)
      .exitOverride()
      .option("--config <file>", "the configuration file")
      .option("--registry <dir>", "the registry folder")
      .addOption(new Option("--format <format>", "how it is shown").choices(formats));
  return {
    program,
    terminal,
    end,
    onRegistry,
    command: (name, description) =>
      onRegistry(name, description).option("--out <dir>", "the generated folder"),
    onProject: (run) => async (flags) =>
      end(await run(await configuredProject(flags, terminal.folder), flags)),
  };
}

function addCommandsOfRegistry({ command, onProject, terminal, end }: Commands): void {
  command("generate", "write the generated folder")
    .option("--force", "overwrite files that were edited by hand")
    .option("--stubs", "add missing handlers and hooks to your files first")
    .option("--dry-run", "say what would be written, and write nothing")
    .action(
      onProject<CommonFlags & { force?: boolean; stubs?: boolean; dryRun?: boolean }>(
        async (configured, flags) => {
          const { runGenerate } = await import("./generate.js");
          return runGenerate(configured, flags, terminal);
        },
      ),
    );
  command("check", "fail where the registry has faults or the generated folder has drifted")
    .option(
      "--base <ref>",
      "fail as well where migrations of this git revision are changed or lost",
    )
    .option("--fix", "first mend the findings that have one right answer")
    .action(
      onProject<CommonFlags & CheckFlags>(async (configured, flags) => {
        const { runCheck } = await import("./check.js");
        return runCheck(configured, flags, terminal);
      }),
    );
  command("list", "list the operations and their routes").action(
    onProject(async (configured) => {
      const { runList } = await import("./list.js");
      return runList(configured, terminal);
    }),
  );
  command("explain", "explain an operation or a diagnostic code")
    .argument("<subject>", "an operation key, or a code such as OPW064")
    .action(async (subject: string, flags: CommonFlags) => {
      const { explainCode, runExplain } = await import("./explain.js");
      end(
        explainCode(subject, terminal) ??
          (await runExplain(await configuredProject(flags, terminal.folder), subject, terminal)),
      );
    });
  command("build", "compile the service into one folder that runs without an install")
    .option("--to <dir>", "the folder to write; build where left out")
    .action(
      onProject<CommonFlags & BuildFlags>(async (configured, flags) => {
        const { runBuild } = await import("./build.js");
        return runBuild(configured, flags, terminal);
      }),
    );
  command("dev", "watch, generate, compile and restart").action(
    onProject(async (configured) => {
      const { runDev } = await import("./dev.js");
      return runDev(configured, terminal);
    }),
  );
}

function addCommandsBeside(commands: Commands): void {
  const { program, onRegistry, command, onProject, terminal, end } = commands;
  onRegistry("diff", "say what has changed for clients since a git revision", {
    formats: diffFormats,
  })
    .argument("<ref>", "a git revision, such as main")
    .option("--out <dir>", "the generated folder")
    .action(
      async (
        ref: string,
        { format = "pretty", ...flags }: CommonFlags & { format?: DiffFormat },
      ) => {
        const { runDiff } = await import("./diff.js");
        end(
          await runDiff(await configuredProject(flags, terminal.folder), { ref, format }, terminal),
        );
      },
    );
  command("mcp", "serve operations as tools of the Model Context Protocol, over stdin and stdout")
    .option("--url <url>", "where the service is", "http://127.0.0.1:4400")
    .option("--allow-writes", "offer operations that change something as well")
    .option("--tools <keys...>", "offer these operations alone; * stands for any characters")
    .action(
      onProject<CommonFlags & McpFlags>(async (configured, flags) => {
        const { runMcp } = await import("./mcp.js");
        return runMcp(configured, flags);
      }),
    );
  const client = program
    .command("client")
    .description("the typed client as a package")
    .exitOverride();
  onRegistry("pack", "build the npm tarball of the typed client", { of: client })
    .option("--out <dir>", "where the tarball goes", ".")
    .action(async ({ out, ...flags }: CommonFlags & { readonly out: string }) => {
      const { runClientPack } = await import("./client-pack.js");
      end(await runClientPack(await configuredProject(flags, terminal.folder), out, terminal));
    });
  program
    .command("init")
    .description("start a project in a folder")
    .exitOverride()
    .argument("[folder]", "where; the current folder where left out", ".")
    .addOption(new Option("--template <name>", "what to start from").choices(templates))
    .option("--yes", "take the defaults, ask nothing")
    .option("--deploy", "also a unit of systemd and resources of Kubernetes; alone in a project")
    .action(async (folder: string, flags: InitFlags) => {
      const { runInit } = await import("./init.js");
      end(await runInit(folder, flags, terminal));
    });
}

function addMigrations({ program, onRegistry, onProject, terminal }: Commands): void {
  const migrations = program
    .command("migrations")
    .description("what databases apply")
    .exitOverride();
  onRegistry("squash", "fold migrations that no shared database has applied into one", {
    of: migrations,
  })
    .option("--out <dir>", "the generated folder")
    .option("--base <ref>", "the branch whose migrations stay; otherwise main or master")
    .option("--force", "ask nothing, and overwrite files that were edited by hand")
    .action(
      onProject<CommonFlags & SquashFlags>(async (configured, flags) => {
        const { runSquash } = await import("./squash.js");
        return runSquash(configured, flags, terminal);
      }),
    );
  onRegistry("purge", "drop the tables that the registry no longer declares", { of: migrations })
    .option("--out <dir>", "the generated folder")
    .option("--force", "ask nothing, and overwrite files that were edited by hand")
    .action(
      onProject<CommonFlags & GenerateFlags>(async (configured, flags) => {
        const { runPurge } = await import("./purge.js");
        return runPurge(configured, flags, terminal);
      }),
    );
}

function failureCode(error: unknown, terminal: Terminal): ExitCode {
  if (error instanceof CommanderError)
    return error.exitCode === 0 ? exitCodes.fine : exitCodes.usage;
  if (error instanceof UsageError) {
    terminal.note(`opwright: ${error.message}`);
    return exitCodes.usage;
  }
  if (
    error instanceof Error &&
    "code" in error &&
    typeof error.code === "string" &&
    /^E[A-Z]+$/.test(error.code)
  ) {
    terminal.note(`opwright: ${error.message}`);
    return exitCodes.io;
  }
  terminal.note(
    `opwright: this is a bug of opwright\n${error instanceof Error ? (error.stack ?? error.message) : String(error)}`,
  );
  return exitCodes.bug;
}
