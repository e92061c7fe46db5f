import { formatMeasured, formatPercentage } from '../../format/number.js';
import { Missing } from '../../parts/Missing.js';
import { cx } from '../../parts/cx.js';
import parts from '../../parts/parts.module.css';
import { fillOf, type FlowEdge } from '../../graph/flow.js';
import { NO_QUEUE, NO_RATE } from './daemon-state.js';

/** `12.3/s`, with three significant digits. */
export function formatRate(perSecond: number): string {
  return formatMeasured(Number(perSecond.toPrecision(3)), '1', true);
}

/** Items per second. */
export function Rate({ value, isBad = false }: { readonly value: number | null; readonly isBad?: boolean }) {
  if (value === null) return <Missing reason={NO_RATE} />;
  return <span className={cx(isBad && value > 0 && parts['bad'])}>{formatRate(value)}</span>;
}

/** Fill level of the queue at the end of an edge. */
export function Fill({ queue }: { readonly queue: FlowEdge['queue'] }) {
  const fill = fillOf(queue);
  if (fill === null) return <Missing reason={NO_QUEUE} />;
  return <span>{formatPercentage(fill * 100)}</span>;
}
