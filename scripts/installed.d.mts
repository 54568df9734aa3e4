export interface LockedPackage {
  readonly version?: string;
  readonly dev?: boolean;
  readonly devOptional?: boolean;
}
export function missingPackages(
  root: string,
  isNeeded: (entry: LockedPackage) => boolean,
): readonly string[];
