import { Type, type Static } from 'typebox';
import { endpoint, section } from '../../config/schema.js';

export const scoresConfig = section({
  endpoint: Type.Optional(
    endpoint({
      description: 'Address to listen on. Absent: endpoint of query, or 127.0.0.1:4319 without it.',
    }),
  ),
  max_requests_in_flight: Type.Integer({
    minimum: 1,
    default: 256,
    description: 'Requests waiting for the store. When reached, requests get 503.',
  }),
});

export type ScoresConfig = Static<typeof scoresConfig>;
