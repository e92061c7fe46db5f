import { Type, type Static } from 'typebox';
import { section } from '../../config/schema.js';

const path = (description: string) => Type.String({ minLength: 1, maxLength: 1024, description });
const expression = (description: string) => Type.String({ minLength: 1, maxLength: 4096, description });

const ruleSchema = section(
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

export type RuleConfig = Static<typeof ruleSchema>;

/** Schema of a list of rules. */
export const rulesSchema = (description: string) =>
  Type.Array(ruleSchema, { maxItems: 1000, default: [], description });
