import type { ExtensionFactory } from '../../component/factory.js';
import { endpoint, section } from '../../config/schema.js';
import { HealthExtension } from './health-extension.js';

const HealthSchema = section({
  endpoint: endpoint({
    default: '127.0.0.1:13133',
    description: 'Where /healthz and /readyz answer.',
  }),
});

export const healthExtension: ExtensionFactory<typeof HealthSchema> = {
  kind: 'extension',
  type: 'health',
  description: 'Tells orchestrators and load balancers whether the daemon lives and whether it is ready.',
  stability: 'beta',
  configSchema: HealthSchema,
  resources: (config) => [{ kind: 'http_listener', endpoint: config.endpoint, isOperational: true }],
  create: ({ config }) => new HealthExtension(config.endpoint),
};
