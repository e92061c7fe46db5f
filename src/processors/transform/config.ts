import { Type, type Static } from 'typebox';
import { choice, section } from '../../config/schema.js';
import { ON_ERROR } from '../../expressions/failures.js';

const path = (description: string) => Type.String({ minLength: 1, maxLength: 1024, description });
const expression = (description: string) => Type.String({ minLength: 1, maxLength: 4096, description });

const rule = section(
  {
    when: Type.Optional(expression('Condition in CEL. Without it, the rule applies to every item.')),
    set: Type.Record(Type.String(), expression('Value, as an expression in CEL.'), {
      default: {},
      description: 'Fields or keys to set, each with its value.',
    }),
    rename: Type.Record(Type.String(), path('New name.'), {
      default: {},
      description: 'Keys to rename, each with its new name.',
    }),
    delete: Type.Array(path('Name of a field, or of a key in a field.'), {
      default: [],
      description: 'Fields or keys to delete.',
    }),
  },
  { isOptional: true },
);

const rules = (description: string) => Type.Array(rule, { maxItems: 1000, default: [], description });

export const transformConfig = section({
  spans: rules('Rules for spans, applied in order.'),
  traces: rules('Rules for trace headers, applied before those for spans.'),
  logs: rules('Rules for log records.'),
  on_error: choice(ON_ERROR, {
    default: 'keep',
    description: 'Handling of items whose expression cannot be evaluated; keep skips the rule.',
  }),
});

export type TransformConfig = Static<typeof transformConfig>;
export type RuleConfig = Static<typeof rule>;
