import { Type, type Static } from 'typebox';
import { choice, section } from '../../config/schema.js';
import { ON_ERROR } from '../../expressions/failures.js';

const conditions = (description: string) =>
  Type.Array(Type.String({ minLength: 1, maxLength: 4096, description: 'A condition in CEL.' }), {
    default: [],
    description,
  });

export const filterConfig = section({
  spans: conditions('Spans of which one of these is true are dropped, alone.'),
  traces: conditions('Traces of which one of these is true are dropped, with all spans that came with them.'),
  logs: conditions('Log records of which one of these is true are dropped.'),
  metrics: conditions('Metric points of which one of these is true are dropped.'),
  events: conditions('Events of which one of these is true are dropped.'),
  on_error: choice(ON_ERROR, {
    default: 'keep',
    description: 'What becomes of an item for which a condition fails: keep asks the next condition.',
  }),
});

export type FilterConfig = Static<typeof filterConfig>;
