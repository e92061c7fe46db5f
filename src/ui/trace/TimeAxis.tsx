import { formatDuration } from '../format/duration.js';
import type { TraceView } from './use-trace-view.js';
import styles from './trace.module.css';

/** The inner marks are hidden on narrow screens. */
const MARKS = [
  { place: 0, isBetween: false },
  { place: 0.25, isBetween: true },
  { place: 0.5, isBetween: false },
  { place: 0.75, isBetween: true },
] as const;

/** The axis of the timeline, from the start of the run; collapsed gaps are hatched. */
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
            title={`Idle for ${formatDuration(end - start)}`}
          />
        ))}
      {MARKS.map(({ place, isBetween }) => (
        <span
          key={place}
          className={styles['mark']}
          data-between={isBetween}
          style={{ left: percent(place) }}
        >
          {formatDuration(Math.max(0, line.time(place) - extent.start))}
        </span>
      ))}
    </span>
  );
}

/** A fraction of the width as CSS. */
export function percent(share: number): string {
  return `${String(Number((share * 100).toFixed(3)))}%`;
}
