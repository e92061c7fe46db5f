import type { ProcessorFactory, Settings } from '../../component/factory.js';
import { serviceMapConfig, type ServiceMapConfig } from './config.js';
import type { Component } from '../../component/component.js';
import type { Consumer } from '../../component/consumer.js';
import type { TracesBatch } from '../../signal/batch.js';
import { deriveBatch } from '../../signal/derive-map.js';

export const serviceMapProcessor: ProcessorFactory<typeof serviceMapConfig> = {
  kind: 'processor',
  type: 'service_map',
  description: 'Derives calls between agents, services and databases for the service map.',
  stability: 'beta',
  configSchema: serviceMapConfig,
  mutatesBatch: false,
  placement: () => 'any',
  create: {
    traces: ({ next, ...settings }) => createServiceMap(settings, next),
  },
};

/** Processor `service_map`: see README.md. */
export function createServiceMap(
  { config, logger }: Pick<Settings<ServiceMapConfig>, 'config' | 'logger'>,
  next: Consumer<TracesBatch>,
): Component & Consumer<TracesBatch> {
  return {
    async start() {
      const keys = Object.keys(config);
      if (keys.length > 0)
        logger.warn({ keys }, 'The processor service_map has no settings any more; remove its keys');
    },
    async consume(batch, context) {
      return next.consume({ ...batch, service_map: deriveBatch(batch.items) }, context);
    },
  };
}
