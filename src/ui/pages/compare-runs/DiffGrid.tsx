import { Equal, Minus, Plus, PenLine } from 'lucide-react';
import type { RefObject } from 'react';
import { formatCounted } from '../../format/number.js';
import { cx } from '../../parts/cx.js';
import { Missing } from '../../parts/Missing.js';
import parts from '../../parts/parts.module.css';
import { TypeIcon, TYPE_LABELS } from '../../parts/TypeIcon.js';
import { isChanged, type DiffRow } from '../../trace/diff.js';
import { hasFailed } from '../../trace/span.js';
import { SpanGrid, SpanRow, type RowPlace } from '../../trace/SpanGrid.js';
import { figureOf, formatDelta, formatFigure, type FigureName } from './figures.js';
import styles from './compare-runs.module.css';

const FIGURES = ['duration', 'tokens', 'cost'] as const;
const HEADS: Readonly<Record<FigureName, string>> = { duration: 'B − A', tokens: 'Tokens', cost: 'Cost' };

/** The aligned spans with their values in both runs. */
export function DiffGrid({
  rows,
  selected,
  grid,
  onSelect,
}: {
  readonly rows: readonly DiffRow[];
  readonly selected: number;
  readonly grid: RefObject<HTMLDivElement | null>;
  readonly onSelect: (row: number) => void;
}) {
  return (
    <SpanGrid
      label="Spans of both runs"
      columns={FIGURES.length + 2}
      className={styles['grid']}
      count={rows.length}
      selected={selected}
      grid={grid}
      onSelect={onSelect}
      headClass={cx(styles['row'], styles['head'])}
      head={
        <>
          <span role="columnheader">Span</span>
          <span
            role="columnheader"
            className={styles['figure']}
            title="Duration in B (in A if the step is only there)"
          >
            Duration
          </span>
          {FIGURES.map((name) => (
            <span
              key={name}
              role="columnheader"
              className={cx(styles['figure'], name !== 'duration' && styles['minor'])}
              title={`B − A including children; the plain value if the step is in one run only`}
            >
              {HEADS[name]}
            </span>
          ))}
        </>
      }
      rowOf={(key, place) => {
        const row = rows[place.at];
        return row && <Row key={key} row={row} place={place} />;
      }}
    />
  );
}

function Row({ row, place }: { readonly row: DiffRow; readonly place: RowPlace }) {
  const span = (row.b ?? row.a)?.span;
  if (!span) return null;
  return (
    <SpanRow
      place={place}
      level={row.depth + 1}
      className={cx(
        styles['row'],
        row.a === undefined && styles['onlyB'],
        row.b === undefined && styles['onlyA'],
      )}
      name={
        <>
          <Mark row={row} />
          <TypeIcon type={span.type} />
          <span className={styles['label']} title={span.name}>
            {span.name === '' ? TYPE_LABELS[span.type] : span.name}
          </span>
          {hasFailed(span) && <span className={styles['bad']}>{span.status.replace('_', ' ')}</span>}
          {row.a && row.b && row.differences.length > 0 && (
            <span className={styles['note']}>{row.differences.join(', ')}</span>
          )}
          {!isChanged(row) && row.changedBelow > 0 && (
            <span className={styles['below']}>{formatCounted(row.changedBelow, 'difference')} below</span>
          )}
        </>
      }
    >
      <span role="gridcell" className={styles['figure']}>
        <Value name="duration" row={row} />
      </span>
      {FIGURES.map((name) => (
        <span
          key={name}
          role="gridcell"
          className={cx(styles['figure'], styles['delta'], name !== 'duration' && styles['minor'])}
        >
          <Delta name={name} row={row} />
        </span>
      ))}
    </SpanRow>
  );
}

const MARKS = {
  same: { icon: Equal, words: 'Same' },
  changed: { icon: PenLine, words: 'Changed' },
  onlyA: { icon: Minus, words: 'Only in A' },
  onlyB: { icon: Plus, words: 'Only in B' },
} as const;

function Mark({ row }: { readonly row: DiffRow }) {
  const kind =
    row.b === undefined ? 'onlyA' : row.a === undefined ? 'onlyB' : isChanged(row) ? 'changed' : 'same';
  const { icon: Icon, words } = MARKS[kind];
  return (
    <span className={cx(styles['mark'], styles[`mark_${kind}`])} title={words}>
      <Icon size={14} aria-hidden="true" />
      <span className={parts['unseen']}>{words}</span>
    </span>
  );
}

function Value({ name, row }: { readonly name: FigureName; readonly row: DiffRow }) {
  const value = figureOf(name, row.b ?? row.a);
  return value === null ? <Missing reason="Unknown" /> : formatFigure(name, value);
}

/** The change of a value, or the value if there is nothing to compare with. */
function Delta({ name, row }: { readonly name: FigureName; readonly row: DiffRow }) {
  if (!row.a || !row.b)
    return name === 'duration' ? <Missing reason="In one run only" /> : <Value name={name} row={row} />;
  const [before, after] = [figureOf(name, row.a), figureOf(name, row.b)];
  if (before === null || after === null) return <Missing reason="Not known for both runs" />;
  const words = `${formatFigure(name, before)} in A, ${formatFigure(name, after)} in B`;
  return <span title={words}>{formatDelta(name, after - before)}</span>;
}
