// The service that an artefact is built of.

export interface BuiltService {
  readonly name: string;
  readonly version: string;
  /** The project's folder. */
  readonly root: string;
  /** The generated folder, below the project's. */
  readonly out: string;
  /** Files and folders of the project that the service reads by their path. */
  readonly files: readonly string[];
}
