import { formatDuration } from '../format/duration.js';
import { formatCount, formatCounted, formatMoney } from '../format/number.js';
import type { Usage, Repeat } from './repeats.js';

/** How often arguments repeated; undefined if never. */
export function formatSameArguments({ isSame, rounds, members, again }: Repeat): string | undefined {
  if (again === null) return undefined;
  return isSame
    ? `same arguments ${formatCount(rounds)} times`
    : `${formatCount(again.count)} of ${formatCount(members.length)} with repeated arguments`;
}

/** `$0.50, 1,200 tokens, 3.2 s`; unknown values are omitted. */
export function formatUsage({ cost, tokens, ms }: Usage): string {
  return [
    ...(cost === null ? [] : [formatMoney(cost)]),
    ...(tokens === null ? [] : [formatCounted(tokens, 'token')]),
    formatDuration(ms),
  ].join(', ');
}

/** The repeated part in short form: `$0.50 again`. */
export function formatRepeated({ cost, count }: Usage): string {
  return `${cost === null ? formatCount(count) : formatMoney(cost)} again`;
}

/** All details of a group of repeats in sentences. */
export function formatRepeat(repeat: Repeat): string {
  const { steps, rounds, again, all, failed } = repeat;
  const same = formatSameArguments(repeat);
  const what =
    steps === 1
      ? `${formatCount(rounds)} in a row`
      : `${formatCount(rounds)} rounds of ${String(steps)} spans`;
  return [
    `${what}${same === undefined ? '' : `, ${same}`}.`,
    `Total: ${formatUsage(all)}.`,
    ...(again === null
      ? []
      : [`With repeated arguments (compared by size and beginning): ${formatUsage(again)}.`]),
    ...(failed === 0 ? [] : [`${formatCount(failed)} failed.`]),
    ...(all.cost === null ? ['No cost known.'] : []),
  ].join(' ');
}
