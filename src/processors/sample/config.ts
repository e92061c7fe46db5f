import { Type, type Static } from 'typebox';
import { choice, duration, section, size } from '../../config/schema.js';
import { ON_ERROR } from '../../expressions/failures.js';

export const sampleConfig = section({
  percentage: Type.Number({
    minimum: 0,
    maximum: 100,
    default: 100,
    description: 'Percentage of traces to keep, selected by id.',
  }),
  keep: Type.Array(Type.String({ minLength: 1, maxLength: 4096, description: 'Condition in CEL.' }), {
    default: [],
    description: 'Conditions in CEL. A trace that matches any of them is always kept.',
  }),
  on_error: choice(ON_ERROR, {
    default: 'keep',
    description: 'Handling of traces whose condition cannot be evaluated; keep keeps the trace.',
  }),
  wait: Type.Optional(
    duration({
      description:
        'Decides on whole runs, once ended or idle for this time. Without it, on each request alone.',
    }),
  ),
  after_end: duration({
    default: '1s',
    description: 'Grace period after a run ends, for spans in later requests (with wait).',
  }),
  max_memory: size({
    default: '256MiB',
    memoryShare: { share: 1 / 16, least: '16MiB' },
    description:
      'Approximate memory for undecided runs. When full, the oldest are decided immediately (with wait).',
  }),
  directory: Type.String({
    minLength: 1,
    default: './data/sample',
    description: 'Directory for acknowledged, undecided runs, which survive a crash (with wait).',
  }),
  max_disk_size: size({
    default: '1GiB',
    description: 'Disk space for undecided runs. When full, the oldest are decided immediately (with wait).',
  }),
});

export type SampleConfig = Static<typeof sampleConfig>;
/** The configuration of a processor that decides on whole runs. */
export type TailConfig = SampleConfig & { readonly wait: string };
