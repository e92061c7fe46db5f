import type { Convention } from '../conventions/convention.js';

/** OpenTelemetry's conventions of messaging, with their names before v1.17. */
export const MESSAGING: Convention = {
  fields: {
    queue: {
      // A template for many destinations takes precedence over a single one.
      'messaging.destination.template': { rank: 1 },
      'messaging.destination.name': { rank: 2 },
      'messaging.destination': { rank: 3 },
    },
    queue_system: { 'messaging.system': { rank: 1 } },
    is_message: {
      'messaging.operation.type': { rank: 1 },
      'messaging.operation.name': { rank: 2 },
      'messaging.operation': { rank: 3 },
      'messaging.system': { rank: 4 },
    },
  },
};
