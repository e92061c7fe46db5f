import type { ProcessorFactory } from '../../component/factory.js';
import { serviceMapConfig } from './config.js';
import { createServiceMap } from './service-map.js';

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
