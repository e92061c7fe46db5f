import type { Clock, Logger } from '../component/telemetry.js';
import type { AlertStats, AlertRules } from '../storage/contracts/alerts.js';
import type { AlertingSettings, Watch } from '../storage/contracts/coordination.js';

/** The parts of the control store that an evaluator uses. */
export interface EvaluatedRules {
  readonly alerts: Pick<AlertRules, 'follow' | 'recordFirings' | 'recordResolutions' | 'beat'>;
  readonly watch: Watch;
}

export interface EvaluatorOptions {
  readonly stats: Pick<AlertStats, 'observe' | 'exampleTraces'>;
  /** Identity of the telemetry store. */
  readonly source: string;
  readonly control: EvaluatedRules;
  readonly settings: AlertingSettings;
  /** Milliseconds between two evaluations of all rules. */
  readonly intervalMs: number;
  /** Whether other processes also write telemetry (absent: no); all rules are then evaluated periodically (`evaluator.ts`). */
  readonly isShared?: boolean;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Called after each evaluation with the number of rules and the duration. */
  readonly onEvaluated: (evaluated: { readonly rules: number; readonly ms: number }) => void;
  /** Called with the number of firings that were written. */
  readonly onFired: (count: number) => void;
  /** Called with the number of resolved incidents that were written. */
  readonly onResolved: (count: number) => void;
  /** Called for each evaluation that failed. */
  readonly onFailed: () => void;
  /** Called when a store begins to fail, and when everything works again. */
  readonly onStore: (isFailing: boolean) => void;
}
