export interface Step {
  readonly step: string;
  readonly inputs: readonly string[];
  readonly outputs: readonly string[];
  readonly isFull?: boolean;
}
export function makeOnce(root: string, step: Step, make: () => void): void;
