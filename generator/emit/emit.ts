// The fifth phase: the frozen registry → files. An emitter never gets an invalid model and never
// touches the project's files.
import { families, modelParts } from "../families/index.js";
import type { RegistryNames } from "../load/registry-names.js";
import { freezeRegistry } from "../model/frozen.js";
import type { RegistryModel } from "../model/registry.js";
import { emitAnswers } from "./answers.js";
import { emitCatalog } from "./catalog.js";
import { emitClient } from "./client/client.js";
import type { ClientSettings } from "./client/settings.js";
import { recordsFile, type EmittedFile } from "../print/file.js";
import { emitKept } from "./kept.js";
import { emitMonitoring } from "./monitoring/monitoring.js";
import { emitMigrations, type MigrationHistory } from "./migrations.js";
import type { ModulePaths } from "../print/module-path.js";
import { emitOpenApi } from "./openapi.js";
import { emitRegistrySchema } from "./registry-schema.js";
import { emitRoutes } from "./routes.js";
import { emitService } from "./service.js";
import { emitTesting } from "./testing.js";
import { emitTypes } from "./types.js";
import { databaseOf, storedOf } from "../database/schema.js";
import type { TextCache } from "../compile/text-cache.js";
import { emitValidators } from "./validators.js";

export interface EmitOptions {
  readonly paths: ModulePaths;
  readonly names: RegistryNames;
  readonly history: MigrationHistory;
  readonly client: ClientSettings;
  /** Whether tables that are no longer declared are dropped. */
  readonly purges: boolean;
}

/**
 * Modules that check values. They take longest, so a thread compiles them while the other files are
 * printed.
 */
export async function emitChecks(
  model: RegistryModel,
  cache: TextCache,
): Promise<readonly EmittedFile[]> {
  return (await Promise.all([emitValidators(model, cache), emitAnswers(model, cache)])).flat();
}

/**
 * All other files of the generated folder, except its manifest. The same model and options give the
 * same bytes.
 */
export function emit(model: RegistryModel, options: EmitOptions): readonly EmittedFile[] {
  const database = databaseOf(model, options.history.database, options.purges);
  const stored = storedOf(model, database);
  return [
    recordsFile("registry.json", freezeRegistry(model, modelParts), 3),
    emitRegistrySchema(options.names),
    emitOpenApi(
      model,
      families.flatMap((family) => family.answered(model)),
    ),
    ...emitCatalog(model),
    ...emitMigrations(database, options.history),
    ...emitTypes(model),
    ...emitRoutes(model, options.paths),
    ...families.flatMap((family) => family.emit(model, options.paths, stored)),
    ...emitClient(model, options.client),
    ...emitKept(model, options.paths),
    ...emitService(model, options.paths),
    emitTesting(model),
    ...emitMonitoring(model),
  ];
}
