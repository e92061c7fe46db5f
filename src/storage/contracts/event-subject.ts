import type { EventType } from '../../signal/event.js';

export const SUBJECT_KINDS = ['trace', 'alert', 'agent', 'prompt', 'endpoint'] as const;

/** What an event tells of. */
export interface EventSubject {
  readonly kind: (typeof SUBJECT_KINDS)[number];
  /** Its id, as the API prints it. */
  readonly id: string;
}

/** Under which key the data of events name what they tell of. */
const PLACES: Readonly<Record<EventType, readonly [kind: EventSubject['kind'], key: string]>> = {
  'agent.created': ['agent', 'id'],
  'alert.fired': ['alert', 'alert_id'],
  'alert.resolved': ['alert', 'alert_id'],
  'prompt.created': ['prompt', 'id'],
  'trace.completed': ['trace', 'trace_id'],
  'trace.failed': ['trace', 'trace_id'],
  'trace.timed_out': ['trace', 'trace_id'],
  'webhook.endpoint.disabled': ['endpoint', 'endpoint_id'],
  'webhook.test': ['endpoint', 'endpoint_id'],
};

/** What an event tells of; null where its body does not say. @param body its envelope */
export function subjectOf(type: EventType, body: string): EventSubject | null {
  const [kind, key] = PLACES[type];
  let read: unknown;
  try {
    read = JSON.parse(body);
  } catch {
    return null;
  }
  const { data } = (read ?? {}) as { readonly data?: Readonly<Record<string, unknown>> | null };
  const id = data?.[key];
  return typeof id === 'string' ? { kind, id } : null;
}
