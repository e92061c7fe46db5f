import { parseDuration } from '../../config/duration.js';
import { parseSize } from '../../config/size.js';
import { tlsResources } from '../../config/tls.js';
import type { ReceiverFactory } from '../../component/factory.js';
import { traceBatchConfig } from './config.js';
import { TraceBatchReceiver } from './receiver.js';

export const traceBatchReceiver: ReceiverFactory<typeof traceBatchConfig> = {
  kind: 'receiver',
  type: 'trace_batch',
  description: 'Receives batches of agent runs as JSON over HTTP: POST /api/v1/traces/batch.',
  stability: 'beta',
  signals: ['traces'],
  // The main thread knows the users.
  placement: ({ tenant }) => (tenant === undefined ? 'any' : 'main'),
  configSchema: traceBatchConfig,
  check: (config) => [
    ...(parseSize(config.max_request_body_size) === 0
      ? [{ path: '/max_request_body_size', message: 'must be greater than 0, or every request is refused' }]
      : []),
    ...(parseDuration(config.request_timeout) === 0
      ? [{ path: '/request_timeout', message: 'must be greater than 0, or every request is refused' }]
      : []),
  ],
  resources: ({ endpoint, tls }) => [{ kind: 'http_listener', endpoint }, ...tlsResources(endpoint, tls)],
  create: (settings) => new TraceBatchReceiver(settings),
};
