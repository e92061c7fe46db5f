import { Type, type Static } from 'typebox';
import { choice, section } from '../../config/schema.js';
import { ON_ERROR } from '../../expressions/failures.js';

export const sampleConfig = section({
  percentage: Type.Number({
    minimum: 0,
    maximum: 100,
    default: 100,
    description: 'How many of a hundred traces are kept, by their ids.',
  }),
  keep: Type.Array(Type.String({ minLength: 1, maxLength: 4096, description: 'A condition in CEL.' }), {
    default: [],
    description: 'Traces of which one of these is true are kept, whatever their ids.',
  }),
  on_error: choice(ON_ERROR, {
    default: 'keep',
    description: 'What becomes of a trace for which a condition fails: keep keeps it.',
  }),
});

export type SampleConfig = Static<typeof sampleConfig>;
