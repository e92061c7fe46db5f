import { PrometheusMeter } from '../../src/telemetry/meter.js';
import { HandClock } from './hand-clock.js';
import { RecordingLogger } from './recording-logger.js';

/** What the engine gives to a component beside its configuration, for one that is tested by itself. */
export function componentSettings(id: string): {
  readonly id: string;
  readonly logger: RecordingLogger;
  readonly meter: PrometheusMeter;
  readonly clock: HandClock;
} {
  return { id, logger: new RecordingLogger(), meter: new PrometheusMeter(), clock: new HandClock() };
}
