import type { TelemetrySignal } from '../signal/batch.js';

/** A receiver that also takes the daemon's own telemetry, without a socket. */
export interface OwnTelemetryIntake {
  /** Whether a pipeline takes the signal from this receiver. */
  takesOwn(signal: TelemetrySignal): boolean;
  /**
   * Takes an OTLP request in protobuf.
   *
   * @param userId the user whose data it is
   * @returns the number of rejected items
   * @throws HttpProblem, ConsumeError
   */
  takeOwn(signal: TelemetrySignal, body: Uint8Array, userId: string): Promise<number>;
}

/** Whether a component takes the daemon's own telemetry. */
export function takesOwnTelemetry(component: object): component is OwnTelemetryIntake {
  return 'takeOwn' in component;
}
