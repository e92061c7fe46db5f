import type { Convention } from '../conventions/convention.js';

/** OpenTelemetry's conventions of messaging, with their names before v1.17. */
export const MESSAGING: Convention = {
  fields: {
    queue: {
      // What stands for many destinations goes before each of them.
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
