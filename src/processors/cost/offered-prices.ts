import type { PriceRule, PriceSource } from '../../component/prices.js';
import type { PriceTable } from './price-table.js';

/** A table as others see it. @param processor id of the processor that goes by it */
export function offeredPrices(processor: string, { models: entries }: PriceTable): PriceSource {
  const rulesOf = (model: string): readonly PriceRule[] => {
    const rules: PriceRule[] = [];
    const providers = new Set<string>();
    for (const { match, rule, price, providerPattern: provider } of entries) {
      if (!match.some((fits) => fits(model))) continue;
      // Of two entries for the same providers the first one holds.
      if (provider !== null && providers.has(provider)) continue;
      rules.push({ rule, provider, price });
      if (provider === null) break;
      providers.add(provider);
    }
    return rules;
  };
  // Another entry may stand before it and fit the name, too: then that is what the name is priced by.
  const models = entries.flatMap(({ name, rule }) =>
    name !== '' && rulesOf(name).some((found) => found.rule === rule) ? [name] : [],
  );
  return { processor, models: [...new Set(models)], rulesOf };
}
