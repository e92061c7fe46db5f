import { ChevronDown, ChevronRight, Repeat2, TriangleAlert } from 'lucide-react';
import { memo } from 'react';
import { formatDuration } from '../format/duration.js';
import { formatCount, formatCounted, formatMoney } from '../format/number.js';
import { cx } from '../parts/cx.js';
import { Missing } from '../parts/Missing.js';
import { TypeIcon, TYPE_LABELS } from '../parts/TypeIcon.js';
import { formatRepeated, formatUsage, formatRepeat, formatSameArguments } from './format-repeat.js';
import type { Row } from './rows.js';
import { SpanRow, type RowPlace } from './SpanGrid.js';
import { hasFailed, type RunSpan } from './span.js';
import type { TraceView } from './use-trace-view.js';
import parts from '../parts/parts.module.css';
import styles from './trace.module.css';
import { percent } from './TimeAxis.js';

/** More repeats would look like one block; of more, every second or third is drawn. */
const MAX_BARS = 60;

/** When a span, or each of several repeats, ran. */
function Bar({ row, view }: { readonly row: Row; readonly view: TraceView }) {
  const { node } = row;
  const spans =
    row.kind === 'repeat' && !row.isOpen
      ? evenly(row.repeat.members).flatMap((at) => view.nodes[at]?.span ?? [])
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

/** At most `MAX_BARS` items from the whole list. */
function evenly(members: readonly number[]): readonly number[] {
  const step = Math.ceil(members.length / MAX_BARS);
  return members.filter((_, at) => at % step === 0);
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

interface Props extends RowPlace {
  readonly row: Row;
  readonly view: TraceView;
  readonly isHit: boolean;
}

const ROOT_LABELS = {
  orphan: 'Parent span missing',
  cycle: 'Parent spans form a cycle',
} as const;

/** A row of the grid. */
export const TraceRow = memo(function TraceRow({ row, view, isHit, ...place }: Props) {
  const { node, level } = row;
  const { span } = node;
  const canOpen = row.kind === 'repeat' || node.children.length > 0;
  const Chevron = row.isOpen ? ChevronDown : ChevronRight;
  const { cost, tokens } = row.kind === 'repeat' ? row.repeat.all : node;
  const end = row.kind === 'repeat' ? row.repeat.end : span.end;
  return (
    <SpanRow
      place={place}
      level={level}
      aria-posinset={node.position}
      aria-setsize={node.siblings}
      aria-expanded={canOpen ? row.isOpen : undefined}
      className={cx(styles['row'], isHit && styles['hit'])}
      name={
        <>
          {canOpen ? (
            <span
              className={styles['chevron']}
              onClick={(event) => {
                event.stopPropagation();
                view.toggle(row, !row.isOpen);
              }}
            >
              <Chevron size={14} aria-hidden="true" />
            </span>
          ) : (
            <span className={styles['chevron']} />
          )}
          <TypeIcon type={span.type} />
          {row.kind === 'repeat' ? <RepeatName row={row} nodes={view.nodes} /> : <SpanName row={row} />}
        </>
      }
    >
      <span role="none" className={styles['rest']}>
        <span role="gridcell" className={styles['figure']}>
          {end === null ? (
            <span className={styles['running']}>{formatDuration(Math.max(0, view.now - span.start))}</span>
          ) : (
            formatDuration(end - span.start)
          )}
        </span>
        <span role="gridcell" className={cx(styles['figure'], styles['tokens'])}>
          {tokens === null ? <Missing reason="No tokens reported" /> : formatCount(tokens)}
        </span>
        <span role="gridcell" className={cx(styles['figure'], styles['cost'])}>
          {cost === null ? <Missing reason="No cost known" /> : formatMoney(cost)}
        </span>
        <span role="gridcell" className={styles['bars']}>
          <Bar row={row} view={view} />
        </span>
      </span>
    </SpanRow>
  );
});

function SpanName({ row: { node, isOpen } }: { readonly row: Row }) {
  const { span, failedBelow, rootReason } = node;
  const isBad = hasFailed(span);
  return (
    <>
      <span className={cx(styles['label'], isBad && styles['bad'])} title={span.name}>
        {span.name === '' ? TYPE_LABELS[span.type] : span.name}
      </span>
      {span.model !== null && span.model !== span.name && (
        <span className={styles['model']}>{span.model}</span>
      )}
      {!span.counted && (
        <span className={styles['note']} title="Duplicate of a call counted on another span">
          duplicate
        </span>
      )}
      {rootReason && (
        <span className={styles['note']} title={ROOT_LABELS[rootReason]}>
          {rootReason === 'orphan' ? 'no parent' : 'cycle'}
        </span>
      )}
      {isBad && (
        <span className={styles['failed']} title={span.error ?? 'Failed'}>
          <TriangleAlert size={13} aria-hidden="true" />
          {span.status === 'timed_out' ? 'timed out' : 'failed'}
        </span>
      )}
      {failedBelow > 0 && !isOpen && (
        <span className={styles['failed']}>{formatCount(failedBelow)} failed below</span>
      )}
      {failedBelow > 0 && isOpen && !isBad && (
        <span className={styles['raised']} title={`${formatCounted(failedBelow, 'span')} below failed`}>
          <span aria-hidden="true">●</span>
          <span className={parts['unseen']}>{formatCounted(failedBelow, 'span')} below failed</span>
        </span>
      )}
    </>
  );
}

function RepeatName({
  row: { node, repeat },
  nodes,
}: {
  readonly row: Extract<Row, { readonly kind: 'repeat' }>;
  readonly nodes: TraceView['nodes'];
}) {
  const steps = repeat.members.slice(0, repeat.steps).flatMap((at) => nodes[at]?.span ?? []);
  const name = steps.map(({ name: each, type }) => (each === '' ? TYPE_LABELS[type] : each)).join(' → ');
  const same = formatSameArguments(repeat);
  return (
    <>
      <span className={styles['repeat']}>
        <Repeat2 size={13} aria-hidden="true" />
        {formatCount(repeat.rounds)}×
      </span>
      <span className={styles['label']} title={steps.length > 1 ? name : node.span.name}>
        {name}
      </span>
      {repeat.again && (
        <span className={styles['note']} title={formatRepeat(repeat)}>
          <span className={styles['whole']}>
            {same}: {formatUsage(repeat.again)} again
          </span>
          <span className={styles['short']}>{formatRepeated(repeat.again)}</span>
        </span>
      )}
      {repeat.failed > 0 && <span className={styles['failed']}>{formatCount(repeat.failed)} failed</span>}
    </>
  );
}
