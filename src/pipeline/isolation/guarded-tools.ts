import type { Clock, Meter } from '../../component/telemetry.js';
import type { PluginFaults } from './plugin-faults.js';
import { runAs, runAsProgram } from './plugin-scope.js';

/** The clock as a plugin sees it: what its callbacks throw is noted, and goes no further. */
export function guardedClock(clock: Clock, faults: PluginFaults): Clock {
  return {
    now: () => clock.now(),
    after: (ms, callback) =>
      runAsProgram(() =>
        clock.after(ms, () => {
          callPlugin(faults, callback);
        }),
      ),
  };
}

/** The meter as a plugin sees it: a value that it cannot read is `NaN`, and the others are shown all the same. */
export function guardedMeter(meter: Meter, faults: PluginFaults): Meter {
  const guarded = (read: () => number) => () => {
    const value = callPlugin(faults, read);
    return typeof value === 'number' ? value : NaN;
  };
  return {
    counter: (name, options) => meter.counter(name, options),
    histogram: (name, options) => meter.histogram(name, options),
    observedCounter: (name, options, read) => {
      // A counter that cannot be read stands still.
      let last = 0;
      const readGuarded = guarded(read);
      meter.observedCounter(name, options, () => {
        const value = readGuarded();
        if (value >= last) last = value;
        return last;
      });
    },
    gauge: (name, options, read, labels) => meter.gauge(name, options, guarded(read), labels),
  };
}

function callPlugin<T>(faults: PluginFaults, callback: () => T): T | undefined {
  try {
    return runAs(faults, callback);
  } catch (error) {
    faults.note('uncaught', 'threw in a callback of its own', { error });
    return undefined;
  }
}
