import { monitorEventLoopDelay } from 'node:perf_hooks';
import { getHeapStatistics } from 'node:v8';
import type { PrometheusMeter } from './meter.js';

const NS_PER_S = 1e9;
const RESOLUTION_MS = 10;

/**
 * Measures the process itself: the usual metrics of a Node process, and memory, processor time, delay of the event loop, uptime
 * and version under names of the daemon.
 *
 * @returns a function that ends it
 */
export function observeProcess(meter: PrometheusMeter, version: string): () => void {
  meter.collectProcess();
  const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  delay.enable();
  meter.observedCounter(
    'process_cpu_seconds_total',
    { description: 'User and system CPU time since the start.' },
    () => {
      const { user, system } = process.cpuUsage();
      return (user + system) / 1e6;
    },
  );
  const gauges = [
    meter.gauge('process_memory_rss_bytes', { description: 'Resident memory of the process.' }, () =>
      process.memoryUsage.rss(),
    ),
    meter.gauge(
      'process_heap_used_bytes',
      { description: 'JavaScript heap in use.' },
      () => process.memoryUsage().heapUsed,
    ),
    meter.gauge(
      'process_heap_limit_bytes',
      { description: 'Maximum size of the main thread’s JavaScript heap.' },
      () => getHeapStatistics().heap_size_limit,
    ),
    meter.gauge('process_uptime_seconds', { description: 'Time since the start.' }, () => process.uptime()),
    meter.gauge(
      'process_event_loop_lag_max_seconds',
      { description: 'Longest event loop delay since the last scrape.' },
      () => {
        // Every sample includes the sampler's own period.
        const seconds = Math.max(0, delay.max / NS_PER_S - RESOLUTION_MS / 1000);
        delay.reset();
        return seconds;
      },
    ),
    meter.gauge(
      'build_info',
      { description: 'Always 1; the version is a label.', labelNames: ['version', 'node'] },
      () => 1,
      { version, node: process.versions.node },
    ),
  ];
  return () => {
    for (const end of gauges) end();
    delay.disable();
  };
}
