import { Type } from 'typebox';
import type { ProcessorFactory } from '../../component/factory.js';
import { section } from '../../config/schema.js';
import { MAX_NAME } from '../../signal/names.js';
import { isVerdict } from '../../signal/score.js';
import { createLogSuccess, createTraceSuccess } from './success-from.js';

const configSchema = section({
  score: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: MAX_NAME,
      description: 'Name of the score that decides whether a run succeeded. If absent, none does.',
    }),
  ),
  at_least: Type.Optional(
    Type.Number({
      description: 'Smallest value of the score that means success. Default: 0.5, or none with at_most.',
    }),
  ),
  at_most: Type.Optional(
    Type.Number({
      description: 'Largest value that means success, for scores that are better when low, such as toxicity.',
    }),
  ),
});

export const successFromProcessor: ProcessorFactory<typeof configSchema> = {
  kind: 'processor',
  type: 'success_from',
  description: 'Derives the success of runs from a score by adding a score named success.',
  stability: 'alpha',
  configSchema,
  mutatesBatch: true,
  placement: () => 'any',
  check: ({ score, at_least = -Infinity, at_most = Infinity }) => [
    ...(score !== undefined && isVerdict(score)
      ? [
          {
            path: '/score',
            message: 'must not be success, which always decides; name another score or remove the processor',
          },
        ]
      : []),
    ...(at_least > at_most ? [{ path: '/at_most', message: 'must not be less than at_least' }] : []),
  ],
  create: {
    traces: ({ config, next }) => createTraceSuccess(config, next),
    logs: ({ config, next }) => createLogSuccess(config, next),
  },
};
