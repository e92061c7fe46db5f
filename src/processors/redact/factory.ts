import type { ProcessorFactory } from '../../component/factory.js';
import { redactConfig } from './config.js';
import { redactLog } from './records/log.js';
import { redactPoint } from './records/point.js';
import { redactTrace } from './records/trace.js';
import { createRedact } from './redact.js';
import { problemsOf } from './redaction-of.js';

export const redactProcessor: ProcessorFactory<typeof redactConfig> = {
  kind: 'processor',
  type: 'redact',
  description: 'Takes personal data and secrets out of spans, log records and metric points.',
  stability: 'beta',
  configSchema: redactConfig,
  mutatesBatch: true,
  check: problemsOf,
  create: {
    traces: ({ next, ...settings }) => createRedact(redactTrace, settings, next),
    logs: ({ next, ...settings }) => createRedact(redactLog, settings, next),
    metrics: ({ next, ...settings }) => createRedact(redactPoint, settings, next),
  },
};
