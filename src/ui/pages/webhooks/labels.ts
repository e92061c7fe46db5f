/** Subscribable event types with their labels. `webhook.test` is sent on request only. */
export const EVENT_LABELS = {
  'trace.failed': 'Run failed',
  'trace.timed_out': 'Run timed out',
  'trace.completed': 'Run completed',
  'alert.fired': 'Alert fired',
  'alert.resolved': 'Alert resolved',
  'agent.created': 'New agent',
  'prompt.created': 'New prompt version',
  'prompt.label.moved': 'Prompt label moved or removed',
  'score.created': 'New score of a run or session',
  'webhook.endpoint.disabled': 'Endpoint paused after repeated failures',
} as const;

export const EVENT_TYPES = Object.keys(EVENT_LABELS) as readonly (keyof typeof EVENT_LABELS)[];
/** Subscribes to all types, including future ones. */
export const ALL_EVENTS = '*';

const HOUR_MS = 3_600_000;

/** Start of an outage, in hours before now. */
export const OUTAGES = {
  '1': '1 hour ago',
  '6': '6 hours ago',
  '24': '1 day ago',
  '96': '4 days ago',
  '720': '30 days ago',
} as const;

/** @param now in milliseconds @returns ISO 8601 */
export function outageStart(hours: string, now: number): string {
  return new Date(now - Number(hours) * HOUR_MS).toISOString();
}

/** Display name of an endpoint. */
export function endpointName({ name, url }: { readonly name: string; readonly url: string }): string {
  return name === '' ? url : name;
}
