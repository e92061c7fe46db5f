import { PrometheusMeter } from '../../src/telemetry/meter.js';
import { HandClock } from './hand-clock.js';
import { RecordingLogger } from './recording-logger.js';

/** The engine's settings for a component besides its configuration, for unit tests. */
export function componentSettings(id: string): {
  readonly id: string;
  readonly logger: RecordingLogger;
  readonly meter: PrometheusMeter;
  readonly clock: HandClock;
} {
  return { id, logger: new RecordingLogger(), meter: new PrometheusMeter(), clock: new HandClock() };
}
