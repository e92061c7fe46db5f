import { Type, type Static } from 'typebox';
import { section } from '../../../config/schema.js';

const headers = (description: string) =>
  Type.Optional(Type.Record(Type.String(), Type.Union([Type.String(), Type.Null()]), { description }));

/** A request that a step sends to a daemon. */
export const Sent = section(
  {
    to: Type.String({
      description:
        'A URL with the configured endpoint: http://127.0.0.1:4319/api/v1/…, udp://127.0.0.1:5514, tcp://….',
    }),
    method: Type.Optional(
      Type.String({ description: 'HTTP method. Default: POST with a body, GET without.' }),
    ),
    headers: headers('Headers. Default authorization: a key with all scopes; null omits a header.'),
    body: Type.Optional(
      Type.Unknown({ description: 'Body. Texts are sent unchanged, other values as JSON.' }),
    ),
  },
  { description: 'A request, a datagram, or data for a TCP connection.', isOptional: true },
);
export type Sent = Static<typeof Sent>;

/** The response of a local server that replaces a real one. */
const Answer = section(
  {
    status: Type.Integer({ minimum: 100, maximum: 599, default: 200, description: 'Status code.' }),
    headers: Type.Optional(
      Type.Record(Type.String(), Type.String(), { description: 'Headers of the response.' }),
    ),
    body: Type.Optional(
      Type.Unknown({ description: 'Body. Texts are sent unchanged, other values as JSON.' }),
    ),
  },
  { description: 'A response.', isOptional: true },
);

export const ServersSchema = Type.Record(
  Type.String({ pattern: '^[A-Za-z_][A-Za-z0-9_]*$' }),
  section(
    {
      answers: Type.Array(Answer, {
        minItems: 1,
        default: [{ status: 200 }],
        description: 'Responses in order; the last one answers all further requests.',
      }),
    },
    { description: 'A server.', isOptional: true },
  ),
  {
    default: {},
    description: 'Servers that daemons send to, by the environment variable that receives the address.',
  },
);

/** The expected response of a step. */
export const Answered = section(
  {
    status: Type.Optional(Type.Integer({ description: 'Status code.' })),
    headers: headers('Headers, case-insensitive; null: absent.'),
    body: Type.Optional(Type.Unknown({ description: 'JSON bodies as values, other bodies as text.' })),
  },
  { description: 'A response.', isOptional: true },
);
