import type { Component } from '../../component/component.js';
import type { Consumer } from '../../component/consumer.js';
import type { Settings } from '../../component/factory.js';
import { durationMs } from '../../config/duration.js';
import type { TracesBatch } from '../../signal/batch.js';
import type { ServiceMapConfig } from './config.js';
import { MapQueue } from './map-queue.js';
import { MapMetrics } from './map-metrics.js';

const MODULE = new URL('./map-thread.js', import.meta.url);

/** Processor `service_map`: see README.md. @param module the module of the threads */
export function createServiceMap(
  { id, config, logger, meter, clock }: Settings<ServiceMapConfig>,
  next: Consumer<TracesBatch>,
  module: URL = MODULE,
): Component & Consumer<TracesBatch> {
  const metrics = new MapMetrics(meter, id);
  const queue = new MapQueue({
    module,
    threads: config.threads,
    maxQueue: config.max_queue,
    maxWaitMs: durationMs(config.max_wait),
    clock,
    logger,
    metrics,
  });
  let endGauge = (): void => undefined;
  return {
    async start() {
      endGauge = metrics.observe(() => queue.waiting);
      await queue.start();
    },
    async consume(batch, context) {
      // The batch is passed on before its map is derived, so that its records can be freed early; the store awaits the map.
      return next.consume({ ...batch, service_map: queue.derive(batch.items) }, context);
    },
    async shutdown(deadline) {
      endGauge();
      await queue.close(deadline);
    },
  };
}
