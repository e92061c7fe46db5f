import { formatDuration } from '../format/duration.js';
import type { TraceView } from './use-trace-view.js';
import styles from './trace.module.css';

const MARKS = [0, 0.25, 0.5, 0.75] as const;

/** What the places of the time line mean, from the beginning of the run on; gaps that were made narrow are hatched. */
export function TimeAxis({ view: { line, extent } }: { readonly view: TraceView }) {
  return (
    <span className={styles['axis']}>
      {line.pieces
        .filter(({ isGap }) => isGap)
        .map(({ start, end, from, to }) => (
          <span
            key={start}
            className={styles['gap']}
            style={{ left: percent(from), width: percent(to - from) }}
            title={`Nothing for ${formatDuration(end - start)}`}
          />
        ))}
      {MARKS.map((place) => (
        <span key={place} className={styles['mark']} style={{ left: percent(place) }}>
          {formatDuration(Math.max(0, line.time(place) - extent.start))}
        </span>
      ))}
    </span>
  );
}

/** A share of the width as CSS. */
export function percent(share: number): string {
  return `${String(Number((share * 100).toFixed(3)))}%`;
}
