import { join } from 'node:path';
import { Type } from 'typebox';
import type { ProcessorFactory } from '../../component/factory.js';
import { ConfigError, formatProblem } from '../../config/config-error.js';
import { packageRoot } from '../../config/package-root.js';
import { filePath, section } from '../../config/schema.js';
import { createCost } from './cost.js';
import { readPriceTable } from './price-table.js';

const configSchema = section({
  prices: Type.Optional(
    filePath({ description: 'Price table in YAML. Default: the list prices that come with Jackdaw.' }),
  ),
  trust_zero: Type.Boolean({
    default: false,
    description: 'Whether to trust a reported cost of 0 for tokens of a priced model. Many clients report 0.',
  }),
});

export const costProcessor: ProcessorFactory<typeof configSchema> = {
  kind: 'processor',
  type: 'cost',
  description: 'Prices model calls that report tokens but no cost, using a price table.',
  stability: 'beta',
  configSchema,
  mutatesBatch: true,
  placement: () => 'any',
  check({ prices }) {
    try {
      readPriceTable(prices ?? shippedPrices());
      return [];
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      return error.problems.map((problem) => ({ path: '/prices', message: formatProblem(problem) }));
    }
  },
  create: {
    traces: ({ config, next, ...settings }) => {
      const file = config.prices ?? shippedPrices();
      return createCost(settings, { file, table: readPriceTable(file), trustZero: config.trust_zero }, next);
    },
  },
};

/** Path of the bundled price table. */
function shippedPrices(): string {
  return join(packageRoot(), 'plugins', 'prices', 'prices.yaml');
}
