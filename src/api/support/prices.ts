import { Type, type Static } from 'typebox';
import type { PriceRule } from '../../component/prices.js';
import { COST_PARTS, SERVICE_TIERS, type CostPart, type ServiceTier } from '../../signal/call-details.js';
import { RATE_SCALE, type Price, type Rates } from '../../signal/price.js';
import { nullable, usd } from './fields.js';

const RATES: Readonly<Record<CostPart, string>> = {
  input: 'Input, without caches and audio.',
  cached_read: 'Input read from a cache; `input` if the table has no price for it.',
  cached_write: 'Input written to a cache; `input` if the table has no price for it.',
  cached_write_5m: 'Input cached for five minutes; `cached_write` if the table has no price for it.',
  cached_write_1h:
    'Input cached for one hour; if the table has no price for it, twice `input` for Claude, otherwise `cached_write`.',
  audio_input: 'Audio input; `input` if the table has no price for it.',
  output: 'Output with its reasoning, without audio.',
  audio_output: 'Audio output; `output` if the table has no price for it.',
};

const rateFields = Object.fromEntries(
  COST_PARTS.map((part) => [part, usd(`US dollars per million tokens. ${RATES[part]}`)]),
) as Record<CostPart, ReturnType<typeof usd>>;

/** Token prices of a model. */
const priceSchema = Type.Object(
  {
    ...rateFields,
    tiers: Type.Object(
      Object.fromEntries(
        SERVICE_TIERS.map((tier) => [tier, nullable(Type.Number({ description: `Calls in tier ${tier}.` }))]),
      ) as Record<ServiceTier, ReturnType<typeof nullable<ReturnType<typeof Type.Number>>>>,
      {
        title: 'TierFactors',
        description:
          'Factors for all prices of calls in a service tier. Null: the table has no price for it.',
      },
    ),
    long: nullable(
      Type.Object(
        { over: Type.Integer({ description: 'Input tokens, including caches.' }), ...rateFields },
        { title: 'LongInputPrices', description: 'For calls with more input tokens than `over`.' },
      ),
    ),
  },
  { title: 'TokenPrices' },
);

/** An entry of a price table for certain providers. */
const providerPriceSchema = Type.Object(
  {
    provider: Type.String({ description: 'Pattern of the providers that the entry is for.' }),
    rule: Type.String(),
    price: priceSchema,
  },
  { title: 'ProviderPrice' },
);

/** The source of a call's price. */
export const pricedByFields = {
  rule: nullable(
    Type.String({
      description:
        'Entry of the price table, with its line and date, for providers that are not in `providers`; spans priced by it have it as `cost.rule`. Null: none.',
    }),
  ),
  price: nullable(priceSchema),
  providers: Type.Array(providerPriceSchema, {
    description: 'Entries for certain providers, tried first, in this order.',
  }),
};

type PricedBy = Static<ReturnType<typeof Type.Object<typeof pricedByFields>>>;

/** @param rules returned by `PriceSource.rulesOf` */
export function serializeRules(rules: readonly PriceRule[]): PricedBy {
  const general = generalRule(rules);
  return {
    rule: general?.rule ?? null,
    price: general === undefined ? null : serializePrice(general.price),
    providers: rules.flatMap(({ provider, rule, price }) =>
      provider === null ? [] : [{ provider, rule, price: serializePrice(price) }],
    ),
  };
}

/** The entry for providers without an entry of their own. */
export function generalRule(rules: readonly PriceRule[]): PriceRule | undefined {
  return rules.find(({ provider }) => provider === null);
}

/** US dollars per million tokens. */
function serializePrice({ long, tiers, ...rates }: Price): Static<typeof priceSchema> {
  return {
    ...serializeRates(rates),
    tiers: Object.fromEntries(SERVICE_TIERS.map((tier) => [tier, tiers?.[tier] ?? null])) as Record<
      ServiceTier,
      number | null
    >,
    long: long === null ? null : { over: long.over, ...serializeRates(long) },
  };
}

function serializeRates(rates: Rates): Record<CostPart, number> {
  return Object.fromEntries(
    COST_PARTS.map((part) => [part, (rates[part] ?? rates.cached_write) / RATE_SCALE]),
  ) as Record<CostPart, number>;
}
