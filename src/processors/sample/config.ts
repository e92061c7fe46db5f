import { Type, type Static } from 'typebox';
import { choice, duration, section, size } from '../../config/schema.js';
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
  wait: Type.Optional(
    duration({
      description:
        'Decide about whole runs: when one has ended, or nothing more of it has come for this time. Without it each request is decided when it comes.',
    }),
  ),
  after_end: duration({
    default: '1s',
    description:
      'With wait: how long after its end a run is waited for, as its spans may come over several requests.',
  }),
  max_memory: size({
    default: '256MiB',
    description:
      'With wait: how much memory runs may take, roughly. For more the oldest are decided at once.',
  }),
  directory: Type.String({
    minLength: 1,
    default: './data/sample',
    description:
      'With wait: where runs lie that were acknowledged and are not decided, so that a crash loses none.',
  }),
  max_disk_size: size({
    default: '1GiB',
    description:
      'With wait: how much of the disk that may take. For more the oldest runs are decided at once.',
  }),
});

export type SampleConfig = Static<typeof sampleConfig>;
/** Of a processor that decides about whole runs. */
export type TailConfig = SampleConfig & { readonly wait: string };
