import type { Static } from 'typebox';
import { choice, section } from '../../config/schema.js';
import { ON_ERROR } from '../../expressions/failures.js';
import { rulesSchema } from '../../expressions/rules/rule.js';

export const transformConfig = section({
  spans: rulesSchema('Rules for spans, applied in order.'),
  traces: rulesSchema('Rules for trace headers, applied before those for spans.'),
  points: rulesSchema('Rules for metric points.'),
  logs: rulesSchema('Rules for log records.'),
  on_error: choice(ON_ERROR, {
    default: 'keep',
    description: 'Handling of items whose expression cannot be evaluated; keep skips the rule.',
  }),
});

export type TransformConfig = Static<typeof transformConfig>;
