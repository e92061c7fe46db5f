import type { ProcessorFactory, Settings } from '../../component/factory.js';
import { redactConfig } from './config.js';
import { redactLog } from './records/log.js';
import { redactPoint } from './records/point.js';
import { redactTrace } from './records/trace.js';
import { problemsOf, countedNames, redactionOf } from './redaction-of.js';
import type { Component } from '../../component/component.js';
import type { Consumer } from '../../component/consumer.js';
import type { Batch } from '../../signal/batch.js';
import type { RedactConfig } from './config.js';
import type { Redaction } from './records/redaction.js';
import { Tally } from './tally.js';

export const redactProcessor: ProcessorFactory<typeof redactConfig> = {
  kind: 'processor',
  type: 'redact',
  description: 'Removes personal data and secrets from spans, log records and metric points.',
  stability: 'beta',
  configSchema: redactConfig,
  mutatesBatch: true,
  placement: () => 'any',
  check: problemsOf,
  create: {
    traces: ({ next, ...settings }) => createRedact(redactTrace, settings, next),
    logs: ({ next, ...settings }) => createRedact(redactLog, settings, next),
    metrics: ({ next, ...settings }) => createRedact(redactPoint, settings, next),
  },
};

/** Processor `redact`: see README.md. @param redact redacts an item, in place or as a copy */
function createRedact<Item, B extends Batch<Item>>(
  redact: (item: Item, redaction: Redaction) => Item,
  settings: Settings<RedactConfig>,
  next: Consumer<B>,
): Component & Consumer<B> {
  const { config } = settings;
  const tally = new Tally(settings, countedNames(config));
  const redaction = redactionOf(config, (pattern) => {
    tally.add(pattern);
  });
  return {
    async consume(batch, context) {
      const items = batch.items.map((item) => redact(item, redaction));
      tally.report();
      return next.consume({ ...batch, items }, context);
    },
  };
}
