import type { Outputs, Settings } from '../../component/factory.js';
import { checkSchema } from '../../config/schema-check.js';
import { otlpConfig, type OtlpConfig } from '../../receivers/otlp/config.js';
import { Intake } from '../../receivers/otlp/intake.js';
import { createLogger } from '../../telemetry/logger.js';
import type { StillClock } from '../../telemetry/still-clock.js';
import { CountingMeter } from './counting-meter.js';

const EMPTY = {
  kind: 'map',
  position: { file: '', line: 1, column: 1 },
  entries: new Map<string, never>(),
} as const;

/** A receiver `otlp` with default settings, for decoded requests. */
export function otlpIntake(clock: StillClock, outputs: Outputs): Intake {
  const logger = createLogger({
    level: 'error',
    format: 'json',
    output: { write: () => undefined, isTerminal: false },
  });
  const config = checkSchema(otlpConfig, EMPTY, []).value as Settings<OtlpConfig>['config'];
  return new Intake({ id: 'otlp', config, clock, meter: new CountingMeter(), logger, outputs });
}
