import { Type, type Static } from 'typebox';
import { section } from '../../../config/schema.js';

const headers = (description: string) =>
  Type.Optional(Type.Record(Type.String(), Type.Union([Type.String(), Type.Null()]), { description }));

/** A request that a step sends to a daemon. */
export const Sent = section(
  {
    to: Type.String({
      description:
        'A URL with the endpoint as it is configured: http://127.0.0.1:4319/api/v1/…, udp://127.0.0.1:5514, tcp://….',
    }),
    method: Type.Optional(Type.String({ description: 'POST with a body and GET without where absent.' })),
    headers: headers('Headers. Authorization is a key with every scope where absent; null leaves one out.'),
    body: Type.Optional(Type.Unknown({ description: 'A text as it is, anything else as JSON.' })),
  },
  { description: 'A request, a datagram, or what goes through a connection.', isOptional: true },
);
export type Sent = Static<typeof Sent>;

/** How a server answers, in place of one that the configuration would send to. */
const Answer = section(
  {
    status: Type.Integer({ minimum: 100, maximum: 599, default: 200, description: 'Its status.' }),
    headers: Type.Optional(
      Type.Record(Type.String(), Type.String(), { description: 'Headers of the answer.' }),
    ),
    body: Type.Optional(Type.Unknown({ description: 'A text as it is, anything else as JSON.' })),
  },
  { description: 'An answer.', isOptional: true },
);

export const ServersSchema = Type.Record(
  Type.String({ pattern: '^[A-Za-z_][A-Za-z0-9_]*$' }),
  section(
    {
      answers: Type.Array(Answer, {
        minItems: 1,
        default: [{ status: 200 }],
        description: 'One after the other; the last one answers whatever else comes.',
      }),
    },
    { description: 'A server.', isOptional: true },
  ),
  {
    default: {},
    description:
      'Servers for daemons to send to, by the name of the environment variable that has the address of each.',
  },
);

/** The expected response of a step. */
export const Answered = section(
  {
    status: Type.Optional(Type.Integer({ description: 'The status.' })),
    headers: headers('Headers, in any case; null: it has none of that name.'),
    body: Type.Optional(Type.Unknown({ description: 'As JSON where it is that; otherwise as text.' })),
  },
  { description: 'An answer.', isOptional: true },
);
