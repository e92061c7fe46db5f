import type { EventsBatch } from '../../src/signal/batch.js';
import { envelope, type EventRecord, type EventType } from '../../src/signal/event.js';
import { TENANT } from './otlp-records.js';

/** An event as read from the store. @param n determines its id; @param data of its envelope */
export function anEvent(n: number, type: EventType, data: object): EventRecord {
  const event = {
    id: `0196f000-0000-7000-8000-${String(n).padStart(12, '0')}`,
    type,
    timestamp: Date.UTC(2026, 10, 3, 12) * 1000,
    organization_id: null,
    endpoint_id: null,
  };
  return { ...event, body: envelope(event, data) };
}

/** Two events of one user with text that must be kept exactly. */
export function eventBatch(): EventsBatch {
  return {
    tenant: TENANT,
    items: [
      anEvent(1, 'trace.failed', { error_message: 'what went wrong: "grüße 🎉"\n\u2028' }),
      anEvent(2, 'agent.created', { name: 'support agent' }),
    ],
  };
}
