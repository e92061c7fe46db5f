import { Type, type TSchema } from 'typebox';
import {
  COST_PARTS,
  COST_SOURCES,
  COST_TIERS,
  USAGE_PARTS,
  type CostPart,
  type UsagePart,
} from '../../signal/call-details.js';
import { moneyToNumber } from '../../signal/money.js';
import type { SpanDetails, StoredSpan } from '../../storage/contracts/runs.js';
import { count, nullable, usd } from '../support/fields.js';

const USAGE: Readonly<Record<UsagePart, string>> = {
  cached_read: 'Input tokens read from a cache.',
  cached_write: 'Input tokens written to a cache, with the following two.',
  cached_write_5m: 'Input tokens cached for five minutes.',
  cached_write_1h: 'Input tokens cached for one hour.',
  reasoning: 'Output tokens for reasoning.',
  audio_input: 'Audio input tokens.',
  audio_output: 'Audio output tokens.',
};
const COST: Readonly<Record<CostPart, string>> = {
  input: 'Input, without caches and audio.',
  cached_read: 'Input read from a cache.',
  cached_write: 'Input written to a cache for an unknown time.',
  cached_write_5m: 'Input cached for five minutes.',
  cached_write_1h: 'Input cached for one hour.',
  audio_input: 'Audio input.',
  output: 'Output with its reasoning, without audio.',
  audio_output: 'Audio output.',
};

/** The tokens and the cost of a span by their parts, and when its answer began. */
export const usageFields = {
  time_to_first_chunk_ms: nullable(
    Type.Number({
      minimum: 0,
      description:
        'Milliseconds from the start of a streamed call to the first chunk of its answer; null if unknown.',
    }),
  ),
  usage: nullable(
    Type.Object(
      {
        input: nullable(count('All input tokens.')),
        output: nullable(count('All output tokens.')),
        ...schemasOf(USAGE, count),
        total: nullable(count()),
      },
      {
        title: 'SpanUsage',
        description: 'Null if the span reports no tokens. Unknown parts are null.',
      },
    ),
  ),
  cost: nullable(
    Type.Object(
      {
        ...schemasOf(COST, usd),
        total: usd(),
        source: Type.Enum(COST_SOURCES, {
          description: '`reported` by the span, or `priced` by the table of processor `cost`.',
        }),
        rule: nullable(Type.String({ description: 'The entry of the price table, with its line and date.' })),
        tier: nullable(
          Type.Enum(COST_TIERS, {
            description:
              'Service tier of the price; `unpriced` if the price table lacks the tier of the call and the standard price was used. Null: the standard tier, or a reported cost.',
          }),
        ),
      },
      {
        title: 'SpanCost',
        description:
          'US dollars; null if the span has no cost. Each token belongs to one part; unknown parts are null.',
      },
    ),
  ),
};

type Used = Pick<StoredSpan, 'input_tokens' | 'output_tokens' | 'total_tokens' | 'cost_usd'> &
  Pick<SpanDetails, 'call'>;

export function serializeUsage({
  input_tokens: input,
  output_tokens: output,
  total_tokens: total,
  cost_usd,
  call,
}: Used) {
  const { usage = null, cost = null, time_to_first_chunk_ms = null } = call ?? {};
  const hasUsage = input !== null || output !== null || total !== null || usage !== null;
  return {
    time_to_first_chunk_ms,
    usage: hasUsage ? { input, output, ...printed(USAGE_PARTS, (part) => usage?.[part]), total } : null,
    cost:
      cost_usd === null
        ? null
        : {
            ...printed(COST_PARTS, (part) => dollars(cost?.[part])),
            total: moneyToNumber(cost_usd),
            source: cost?.source ?? 'reported',
            rule: cost?.rule ?? null,
            tier: cost?.tier ?? null,
          },
  };
}

function dollars(nanos: number | undefined): number | undefined {
  return nanos === undefined ? undefined : moneyToNumber(nanos);
}

function printed<Part extends string>(
  parts: readonly Part[],
  figure: (part: Part) => number | undefined,
): Record<Part, number | null> {
  return Object.fromEntries(parts.map((part) => [part, figure(part) ?? null])) as Record<Part, number | null>;
}

function schemasOf<Part extends string, Schema extends TSchema>(
  descriptions: Readonly<Record<Part, string>>,
  schema: (description: string) => Schema,
) {
  return Object.fromEntries(
    Object.entries<string>(descriptions).map(([part, description]) => [part, nullable(schema(description))]),
  ) as Record<Part, ReturnType<typeof nullable<Schema>>>;
}
