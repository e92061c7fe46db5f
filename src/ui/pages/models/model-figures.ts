import { formatCounted } from '../../format/number.js';

/** Numbers of calls. */
interface Calls {
  readonly calls: number;
  readonly priced_calls: number;
}

/** Display name of a model. */
export function modelName(model: string | null): string {
  return model === null || model === '' ? 'no model' : model;
}

/** Whether some calls have no cost. */
export function isUnpriced({ calls, priced_calls }: Calls): boolean {
  return priced_calls < calls;
}

/** Why calls have no cost. */
export function unpricedReason(
  why: { readonly without_tokens: number; readonly without_price: number } | undefined,
): string {
  if (why === undefined || why.without_tokens + why.without_price === 0) return 'Unknown reason';
  const { without_tokens, without_price } = why;
  if (without_tokens === 0) return 'The model has no price';
  if (without_price === 0) return 'The calls report no tokens';
  return `${formatCounted(without_tokens, 'call')} without tokens, ${formatCounted(without_price, 'call')} without a price`;
}
