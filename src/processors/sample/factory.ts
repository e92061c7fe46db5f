import type { ProcessorFactory } from '../../component/factory.js';
import { sizeBytes } from '../../config/size.js';
import { conditionProblems } from '../../expressions/conditions.js';
import { sampleConfig } from './config.js';
import { createSample } from './sample.js';
import { TailSample } from './tail/tail-sample.js';

const LEAST_BYTES = 1024 * 1024;

export const sampleProcessor: ProcessorFactory<typeof sampleConfig> = {
  kind: 'processor',
  type: 'sample',
  description:
    'Keeps a share of all traces, by their ids, and those of which a condition is true: when they come, or when a run has ended.',
  stability: 'beta',
  configSchema: sampleConfig,
  mutatesBatch: false,
  check: ({ keep, wait, on_error, max_memory, max_disk_size }) => [
    ...conditionProblems('/keep', keep, 'trace'),
    ...(wait !== undefined && on_error === 'refuse'
      ? [
          {
            path: '/on_error',
            message:
              'a run that is decided after its end was acknowledged, and cannot be refused: write keep or drop',
          },
        ]
      : []),
    ...Object.entries({ max_memory, max_disk_size }).flatMap(([key, value]) =>
      sizeBytes(value) < LEAST_BYTES ? [{ path: `/${key}`, message: 'must be at least 1MiB' }] : [],
    ),
  ],
  notBehind: ({ wait }) => (wait === undefined ? [] : ['quota', 'service_map']),
  create: {
    traces: ({ next, ...settings }) => {
      const { wait } = settings.config;
      if (wait === undefined) return createSample(settings, next);
      return new TailSample({ ...settings, config: { ...settings.config, wait } }, next);
    },
  },
};
