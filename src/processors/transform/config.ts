import { Type, type Static } from 'typebox';
import { choice, section } from '../../config/schema.js';
import { ON_ERROR } from '../../expressions/failures.js';

const path = (description: string) => Type.String({ minLength: 1, maxLength: 1024, description });
const expression = (description: string) => Type.String({ minLength: 1, maxLength: 4096, description });

const rule = section(
  {
    when: Type.Optional(expression('A condition in CEL: without it the rule is for all.')),
    set: Type.Record(Type.String(), expression('The value, in CEL.'), {
      default: {},
      description: 'Values of fields, and of keys in them.',
    }),
    rename: Type.Record(Type.String(), path('What it is called then.'), {
      default: {},
      description: 'Keys that get another name.',
    }),
    delete: Type.Array(path('A field, or a key in one.'), { default: [], description: 'What is taken out.' }),
  },
  { isOptional: true },
);

const rules = (description: string) => Type.Array(rule, { maxItems: 1000, default: [], description });

export const transformConfig = section({
  spans: rules('What is changed in spans: one rule after the other.'),
  traces: rules('What is changed in the headers of traces, before their spans.'),
  logs: rules('What is changed in log records.'),
  on_error: choice(ON_ERROR, {
    default: 'keep',
    description: 'What becomes of an item for which an expression fails: keep leaves out the rule.',
  }),
});

export type TransformConfig = Static<typeof transformConfig>;
export type RuleConfig = Static<typeof rule>;
