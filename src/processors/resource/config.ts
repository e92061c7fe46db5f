import type { Static } from 'typebox';
import { choice, section } from '../../config/schema.js';
import { ON_ERROR } from '../../expressions/failures.js';
import { rulesSchema } from '../../expressions/rules/rule.js';

export const resourceConfig = section({
  rules: rulesSchema('Rules for resource attributes, applied in order. Names are whole attribute keys.'),
  on_error: choice(ON_ERROR, {
    default: 'keep',
    description:
      'Handling of items with a resource whose expression cannot be evaluated; keep skips the rule.',
  }),
});

export type ResourceConfig = Static<typeof resourceConfig>;
