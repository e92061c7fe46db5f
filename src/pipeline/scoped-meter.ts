import type { Meter } from '../component/telemetry.js';

/** A meter of one component, and a function that ends all gauges registered through it. */
export function scopedMeter(meter: Meter): { readonly meter: Meter; readonly end: () => void } {
  const running = new Set<() => void>();
  return {
    meter: {
      counter: (name, options) => meter.counter(name, options),
      histogram: (name, options) => meter.histogram(name, options),
      observedCounter: (name, options, read) => {
        meter.observedCounter(name, options, read);
      },
      gauge: (name, options, read, labels) => {
        const end = meter.gauge(name, options, read, labels);
        running.add(end);
        return () => {
          running.delete(end);
          end();
        };
      },
    },
    end: () => {
      for (const end of running) end();
      running.clear();
    },
  };
}
