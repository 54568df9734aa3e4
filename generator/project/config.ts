// opwright/config: the tool's own configuration, every key with a default (registry.md
// "Configuration of the tool").

/** What `opwright.config.ts` may export as default. */
export interface OpwrightConfig {
  /** The registry folder, relative to the configuration file. Default `registry`. */
  readonly registry?: string;
  /** The generated folder. Default `generated`. */
  readonly out?: string;
  /** How findings are shown: `pretty`, `json`, `github` or `sarif`. Default `pretty`. */
  readonly format?: "pretty" | "json" | "github" | "sarif";
  /** The package of the typed client. */
  readonly client?: {
    /** Its name. Default `<service>-client`. */
    readonly package?: string;
    /** Also prints options for TanStack Query. Default false. */
    readonly queries?: boolean;
    /** Also prints a service of mocks. Default false. */
    readonly mocks?: boolean;
  };
  /** What `opwright build` makes. */
  readonly build?: {
    /** The folder that is written. Default `build`. */
    readonly folder?: string;
    /** The compiled server. Default `dist/generated/server.js`. */
    readonly entry?: string;
    /**
     * Files and folders of the project that the service reads by their path: they keep it, seen
     * from the folder that is written.
     */
    readonly files?: readonly string[];
    /** Packages that are copied whole, besides those that are seen to need it. */
    readonly whole?: readonly string[];
  };
  /** What `opwright dev` runs after each change, and `opwright build` to compile. */
  readonly dev?: {
    /**
     * Compiles the project. By default its own TypeScript does, and prints only what has changed.
     */
    readonly build?: string;
    /**
     * Starts the server; the old one ends first. By default `dist/generated/server.js` runs with
     * source maps, and the old server answers until the new one is ready.
     */
    readonly start?: string;
  };
}

/** Types a configuration; returns it as it is. */
export function defineConfig(config: OpwrightConfig): OpwrightConfig {
  return config;
}
