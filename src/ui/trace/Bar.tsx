import { cx } from '../parts/cx.js';
import type { Row } from './rows.js';
import { hasFailed, type RunSpan } from './span.js';
import { percent } from './TimeAxis.js';
import type { TraceView } from './use-trace-view.js';
import styles from './trace.module.css';

/** Repeats of one row that are drawn; more would be a block anyway. */
const MOST_BARS = 60;

/** When a span, or each of several repeats, was under way. */
export function Bar({ row, view }: { readonly row: Row; readonly view: TraceView }) {
  const { node } = row;
  const spans =
    row.kind === 'repeat' && !row.isOpen
      ? row.repeat.members.slice(0, MOST_BARS).flatMap((at) => view.nodes[at]?.span ?? [])
      : [node.span];
  return (
    <span className={styles['track']} aria-hidden="true">
      {spans.map((span) => (
        <OneBar key={span.id} span={span} view={view} />
      ))}
      {view.critical.get(node.index)?.map(({ start, end }) => {
        const [from, to] = [view.line.place(start), view.line.place(end)];
        return (
          <span
            key={start}
            className={styles['critical']}
            style={{ left: percent(from), width: percent(to - from) }}
          />
        );
      })}
    </span>
  );
}

function OneBar({ span, view: { line, now } }: { readonly span: RunSpan; readonly view: TraceView }) {
  const from = line.place(span.start);
  const to = line.place(span.end ?? now);
  return (
    <span
      className={cx(
        styles['bar'],
        styles[span.type],
        span.end === null && styles['open'],
        hasFailed(span) && styles['barFailed'],
      )}
      style={{ left: percent(from), width: percent(to - from) }}
    />
  );
}
