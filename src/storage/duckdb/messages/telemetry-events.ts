import { RUN_STATUSES } from '../../../signal/span.js';
import type { EventType } from '../../../signal/event.js';

/** By the code of a run's status, the event that it has ended so; null for a run that goes on. */
export const END_TYPES = RUN_STATUSES.map((status) =>
  status === 'running' ? null : (`trace.${status}` as const),
);

/** The events that commits of telemetry write. */
export const TELEMETRY_EVENTS: readonly EventType[] = [
  'agent.created',
  ...END_TYPES.filter((type) => type !== null),
];
