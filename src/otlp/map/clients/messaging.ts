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
  },
};
