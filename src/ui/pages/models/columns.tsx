import type { Schemas } from '../../api/client.js';
import { formatMoney } from '../../format/number.js';
import type { Column } from '../../parts/DataTable.js';
import { Missing } from '../../parts/Missing.js';
import parts from '../../parts/parts.module.css';
import { USAGE, type Model } from './usage-columns.js';
import type { Estimate } from './use-what-if.js';
import { formatDifference, missingReason } from './what-if.js';

type ModelPrice = Schemas['ModelPrice'];

const USED = [USAGE.model, USAGE.calls, USAGE.failed, USAGE.tokens];

/**
 * Columns of the model list; estimates replace the durations.
 *
 * @param prices by model; undefined while loading
 * @param estimates by model
 * @param hasFirst whether any model has a time to the first token
 */
export function columns(
  prices: ReadonlyMap<string, ModelPrice> | undefined,
  estimates: ReadonlyMap<string, Estimate>,
  hasFirst: boolean,
): readonly Column<Model>[] {
  const price: Column<Model> = {
    name: 'price',
    header: 'Price in / out',
    hint: 'USD per million tokens, for calls that report tokens but no cost',
    isNumber: true,
    isMinor: true,
    render: ({ model }) => <Price of={prices?.get(model ?? '')} isLoading={prices === undefined} />,
  };
  if (estimates.size === 0) {
    const first = hasFirst ? [USAGE.first] : [];
    const speed = [USAGE.duration, ...first, USAGE.speed, USAGE.agents];
    return [...USED, price, USAGE.cost, USAGE.each, USAGE.unpriced, ...speed];
  }
  const of = ({ model }: Model): Estimate | undefined => estimates.get(model ?? '');
  const estimateColumns: readonly Column<Model>[] = [
    {
      name: 'as',
      header: 'Replacement',
      isCut: true,
      render: (model) => <span title={of(model)?.swap.as}>{of(model)?.swap.as}</span>,
    },
    {
      name: 'then',
      header: 'Estimate',
      hint: 'Estimated cost with the original token counts',
      isNumber: true,
      render: (model) => <Then estimates={of(model)} />,
    },
    {
      name: 'difference',
      header: 'Difference',
      hint: 'For calls with both an actual cost and an estimate',
      isNumber: true,
      render: (model) => <Difference estimates={of(model)} />,
    },
  ];
  // No room for durations.
  return [...USED, price, USAGE.cost, ...estimateColumns, USAGE.each];
}

function Price({ of, isLoading }: { readonly of: ModelPrice | undefined; readonly isLoading: boolean }) {
  if (isLoading) return null;
  if (of === undefined) return <Missing reason="No price" />;
  const { price, rule, providers, processor } = of;
  if (price === null) {
    const reason =
      providers.length === 0
        ? 'Not in the price list'
        : `Priced for these providers only: ${providers.map(({ provider }) => provider).join(', ')}`;
    return <Missing reason={reason} />;
  }
  const cached = `cache read ${formatMoney(price.cached_read)}, cache write ${formatMoney(price.cached_write)}`;
  return (
    <span title={`${processor}: ${rule ?? ''}; ${cached}`}>
      {formatMoney(price.input)} / {formatMoney(price.output)}
    </span>
  );
}

function Then({ estimates }: { readonly estimates: Estimate | undefined }) {
  if (estimates === undefined) return null;
  const { answer, error } = estimates;
  if (answer === undefined) return error ? <Missing reason={error.message} /> : <>…</>;
  const { repriced } = answer;
  const cost = repriced?.repriced_cost ?? null;
  if (repriced === null || cost === null) return <Missing reason={missingReason(answer) ?? 'Unknown'} />;
  return (
    <span
      title={`$${String(cost)}, of ${String(repriced.repriced_calls)} of ${String(repriced.calls)} calls`}
    >
      ~{formatMoney(cost)}
    </span>
  );
}

function Difference({ estimates }: { readonly estimates: Estimate | undefined }) {
  const { answer } = estimates ?? {};
  if (answer === undefined) return null;
  const now = answer.repriced?.both_cost ?? null;
  const then = answer.repriced?.both_repriced_cost ?? null;
  if (now === null || then === null)
    return <Missing reason={missingReason(answer) ?? 'No calls have both an actual cost and an estimate'} />;
  return (
    <span
      className={then > now ? parts['bad'] : undefined}
      title={`$${String(now)} and $${String(then)}, of ${String(answer.repriced?.both_calls ?? 0)} calls`}
    >
      {formatDifference(now, then)}
    </span>
  );
}
