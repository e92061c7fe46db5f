import type { QuotaUsage, Receipt, Refusal } from '../../component/consumer.js';

/** A plausible receipt, and the problems of the plugin's original one. */
export interface MendedReceipt {
  readonly receipt: Receipt;
  readonly wrong?: string;
}

/**
 * Checks a plugin's receipt against its batch. Refusals of unknown or repeated items are ignored; items that are not refused
 * count as accepted.
 *
 * @param count number of items of the batch
 * @returns undefined if it is not a receipt: the outcome of the batch is then unknown
 */
export function mendReceipt(given: unknown, count: number): MendedReceipt | undefined {
  if (typeof given !== 'object' || given === null) return undefined;
  const { accepted, refused, usage } = given as Partial<Record<keyof Receipt, unknown>>;
  if (typeof accepted !== 'number' || !Array.isArray(refused)) return undefined;
  const problems: string[] = [];
  const known = new Set<number>();
  const kept = refused.flatMap((refusal: unknown): readonly Refusal[] => {
    const problem = problemOf(refusal, count, known);
    if (problem === undefined) return [refusal as Refusal];
    problems.push(problem);
    return [];
  });
  if (accepted + refused.length !== count)
    problems.push(`it reports ${accepted} accepted and ${refused.length} refused of ${count} items`);
  if (usage !== undefined && !isUsage(usage)) problems.push('its usage is invalid');
  const [wrong] = problems;
  if (wrong === undefined) return { receipt: given as Receipt };
  return {
    receipt: {
      accepted: count - kept.length,
      refused: kept,
      ...(isUsage(usage) ? { usage } : {}),
    },
    wrong,
  };
}

function problemOf(refusal: unknown, count: number, known: Set<number>): string | undefined {
  if (typeof refusal !== 'object' || refusal === null) return 'a refusal is not an object';
  const { index, id, reason } = refusal as Partial<Record<keyof Refusal, unknown>>;
  if (!Number.isSafeInteger(index) || (index as number) < 0 || (index as number) >= count)
    return `a refusal is for item ${String(index)} of ${count}`;
  if (known.has(index as number)) return `item ${String(index)} is refused twice`;
  if (typeof reason !== 'string' || reason === '')
    return `the refusal of item ${String(index)} has no reason`;
  if (id !== undefined && typeof id !== 'string')
    return `the id in the refusal of item ${String(index)} is not a string`;
  known.add(index as number);
  return undefined;
}

function isUsage(value: unknown): value is QuotaUsage {
  if (typeof value !== 'object' || value === null) return false;
  const { limit, used, resets_at } = value as Partial<Record<keyof QuotaUsage, unknown>>;
  return [limit, used, resets_at].every((one) => Number.isFinite(one));
}
