import { Type, type Static } from 'typebox';
import { choice, section } from '../../config/schema.js';
import { ON_ERROR } from '../../expressions/failures.js';

const conditions = (description: string) =>
  Type.Array(Type.String({ minLength: 1, maxLength: 4096, description: 'Condition in CEL.' }), {
    default: [],
    description,
  });

export const filterConfig = section({
  spans: conditions('Conditions in CEL. A span that matches any of them is dropped, without its children.'),
  traces: conditions(
    'Conditions in CEL. A trace that matches any of them is dropped with all spans of the request.',
  ),
  logs: conditions('Conditions in CEL. A log record that matches any of them is dropped.'),
  metrics: conditions('Conditions in CEL. A metric point that matches any of them is dropped.'),
  events: conditions('Conditions in CEL. An event that matches any of them is dropped.'),
  on_error: choice(ON_ERROR, {
    default: 'keep',
    description: 'Handling of items whose condition cannot be evaluated; keep tries the next condition.',
  }),
});

export type FilterConfig = Static<typeof filterConfig>;
