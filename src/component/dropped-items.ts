import type { Counter, Meter } from './telemetry.js';

/** Counts items that processors accept and do not pass on. Labels: `processor`, its id, and `item`, what was dropped: `spans`. */
export function droppedItems(meter: Meter): Counter {
  return meter.counter('processor_dropped_items_total', {
    description: 'Items accepted and dropped by a processor, as configured.',
    labelNames: ['processor', 'item'],
  });
}
