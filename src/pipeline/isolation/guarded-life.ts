import type { Component, Reload } from '../../component/component.js';
import type { Host } from '../../component/host.js';
import type { Clock } from '../../component/telemetry.js';
import { guardedHost } from './guarded-host.js';
import { splitLimits, type PluginLimits } from './limits.js';
import type { PluginFaults } from './plugin-faults.js';
import { runAs } from './plugin-scope.js';

export interface LifeTools {
  readonly limits: PluginLimits;
  readonly faults: PluginFaults;
  readonly clock: Clock;
}

/**
 * Start and end of a plugin's component, the start within its time. (For the end all components share one deadline.)
 *
 * @param onStart called when it begins to start
 */
export function guardedLife(
  component: Component,
  tools: LifeTools,
  onStart: () => void = () => undefined,
): Required<Component> {
  const { limits, faults, clock } = tools;
  // Read once: extensions have these replaced.
  const start = component.start?.bind(component);
  const shutdown = component.shutdown?.bind(component);
  const reload = component.reload?.bind(component);
  return {
    async start(host: Host): Promise<void> {
      faults.follow(host);
      onStart();
      if (start === undefined) return;
      let cancel = (): void => undefined;
      const late = new Promise<never>((_, reject) => {
        cancel = clock.after(limits.startMs, () => {
          faults.note('timeout', 'did not start in time');
          reject(new Error(`it did not start within ${limits.startMs} ms (plugin_limits.start_timeout)`));
        });
      });
      try {
        await Promise.race([runAs(faults, async () => start(guardedHost(host, tools))), late]);
      } finally {
        cancel();
      }
    },
    async reload(now: Reload): Promise<boolean> {
      const { own } = splitLimits(now.config as Record<string, unknown>);
      return (await runAs(faults, async () => reload?.({ ...now, config: own }))) === true;
    },
    async shutdown(deadline: AbortSignal): Promise<void> {
      try {
        await runAs(faults, async () => shutdown?.(deadline));
      } finally {
        faults.end();
      }
    },
  };
}
