import { RUN_STATUSES } from '../../signal/span.js';
import type { EventType } from '../../signal/event.js';

/** For each code of a run's status, the type of event that tells of such an end; null for a run that goes on. */
export const END_TYPES = RUN_STATUSES.map((status) =>
  status === 'running' ? null : (`trace.${status}` as const),
);

/** The types of events that commits of telemetry write. */
export const TELEMETRY_EVENTS: readonly EventType[] = [
  'agent.created',
  ...END_TYPES.filter((type) => type !== null),
];
