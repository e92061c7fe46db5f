import { Type, type Static } from 'typebox';
import { tenantSection } from '../../auth/tenants.js';
import { duration, endpoint, section, size } from '../../config/schema.js';
import { tlsFiles } from '../../config/tls.js';

export const traceBatchConfig = section({
  endpoint: endpoint({
    description: 'Address to listen on. Components with the same endpoint share it.',
    default: '127.0.0.1:4319',
  }),
  max_request_body_size: size({
    description: 'Maximum body size, before and after decompression. Larger bodies get 413.',
    default: '16MiB',
    memoryShare: { share: 1 / 128, least: '4MiB' },
  }),
  request_timeout: duration({
    description: 'Time limit for receiving a body. Slower requests get 408.',
    default: '30s',
  }),
  max_in_flight: section(
    {
      requests: Type.Integer({
        minimum: 1,
        default: 1024,
        description: 'Requests waiting for the store. When reached, requests get 503.',
      }),
      bytes: size({
        description: 'Bytes of request bodies waiting for the store. When reached, requests get 503.',
        default: '128MiB',
        memoryShare: { share: 1 / 32, least: '8MiB' },
      }),
    },
    { description: 'Limits for requests waiting for the store.' },
  ),
  tenant: tenantSection(),
  tls: tlsFiles(),
});

export type TraceBatchConfig = Static<typeof traceBatchConfig>;
