import { Type, type Static } from 'typebox';
import { duration, endpoint, section, size } from '../../config/schema.js';
import { tlsFiles } from '../../config/tls.js';

export const traceBatchConfig = section({
  endpoint: endpoint({
    description: 'Where to listen. Components that name the same endpoint share it.',
    default: '127.0.0.1:4319',
  }),
  max_request_body_size: size({
    description: 'Largest body, before and after decompression. More is refused with 413.',
    default: '16MiB',
  }),
  request_timeout: duration({
    description: 'Time limit for a whole body to arrive. Slower ones are refused with 408.',
    default: '30s',
  }),
  max_in_flight: section(
    {
      requests: Type.Integer({
        minimum: 1,
        default: 1024,
        description: 'Requests that may wait for the store. More are refused with 503.',
      }),
      bytes: size({
        description: 'Bytes of the bodies of requests that wait for the store. More are refused with 503.',
        default: '128MiB',
      }),
    },
    { description: 'How much may be in progress at once.' },
  ),
  tls: tlsFiles(),
});

export type TraceBatchConfig = Static<typeof traceBatchConfig>;
