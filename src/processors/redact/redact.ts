import type { Component } from '../../component/component.js';
import type { Consumer } from '../../component/consumer.js';
import { replaceItems } from '../../component/keep-items.js';
import type { Settings } from '../../component/factory.js';
import type { Batch } from '../../signal/batch.js';
import type { RedactConfig } from './config.js';
import type { Redaction } from './records/redaction.js';
import { countedNames, redactionOf } from './redaction-of.js';
import { Tally } from './tally.js';

/**
 * Processor `redact`: see README.md.
 *
 * @param redact takes out of an item what must go, in place or as a new one
 */
export function createRedact<Item, B extends Batch<Item>>(
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
      replaceItems(batch, (item) => redact(item, redaction));
      tally.tell();
      return next.consume(batch, context);
    },
  };
}
