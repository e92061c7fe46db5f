import { Equal, Minus, Plus, PenLine } from 'lucide-react';
import type { RefObject } from 'react';
import { formatCounted } from '../../format/number.js';
import { cx } from '../../parts/cx.js';
import { Dashes, Missing } from '../../parts/Missing.js';
import { TypeIcon, TYPE_WORDS } from '../../parts/TypeIcon.js';
import { roomFor } from '../../trace/room-for.js';
import { useSeenRows } from '../../trace/use-seen-rows.js';
import { isChanged, type DiffRow } from '../../trace/diff.js';
import { hasFailed } from '../../trace/span.js';
import { figureOf, formatDelta, formatFigure, type FigureName } from './figures.js';
import styles from './compare-runs.module.css';

const INDENT_PX = 14;
/** Deeper levels are not moved further: the name would have no room. */
const MOST_INDENT = 14;
const FIGURES = ['duration', 'tokens', 'cost'] as const;
const HEADS: Readonly<Record<FigureName, string>> = { duration: 'B − A', tokens: 'Tokens', cost: 'Cost' };

/** The aligned spans, each with its figures in both runs. Only rows that are seen are in the page. */
export function DiffGrid({
  rows,
  chosen,
  grid,
  onChoose,
}: {
  readonly rows: readonly DiffRow[];
  readonly chosen: number;
  readonly grid: RefObject<HTMLDivElement | null>;
  readonly onChoose: (row: number) => void;
}) {
  const virtual = useSeenRows(rows.length, chosen, grid);
  const items = virtual.getVirtualItems();
  return (
    <Dashes value="touch">
      <div
        ref={grid}
        className={styles['grid']}
        role="treegrid"
        aria-label="Spans of both runs"
        aria-rowcount={rows.length + 1}
        aria-colcount={FIGURES.length + 2}
        aria-activedescendant={items.some(({ index }) => index === chosen) ? rowId(chosen) : undefined}
        tabIndex={0}
        style={roomFor(rows.length)}
      >
        <div role="rowgroup" className={styles['gridHead']}>
          <div role="row" aria-rowindex={1} className={styles['row']}>
            <span role="columnheader">Span</span>
            <span
              role="columnheader"
              className={styles['figure']}
              title="In B, or where it is in A only, there"
            >
              Duration
            </span>
            {FIGURES.map((name) => (
              <span
                key={name}
                role="columnheader"
                className={cx(styles['figure'], name !== 'duration' && styles['minor'])}
                title={`B less A, with all spans below; of a step in one run only what it took`}
              >
                {HEADS[name]}
              </span>
            ))}
          </div>
        </div>
        <div role="rowgroup" className={styles['body']} style={{ height: virtual.getTotalSize() }}>
          {items.map(({ key, index, start }) => {
            const row = rows[index];
            return (
              row && (
                <Row
                  key={key}
                  row={row}
                  at={index}
                  top={start}
                  isChosen={index === chosen}
                  onChoose={onChoose}
                />
              )
            );
          })}
        </div>
      </div>
    </Dashes>
  );
}

function rowId(row: number): string {
  return `diff-${String(row)}`;
}

function Row({
  row,
  at,
  top,
  isChosen,
  onChoose,
}: {
  readonly row: DiffRow;
  readonly at: number;
  readonly top: number;
  readonly isChosen: boolean;
  readonly onChoose: (row: number) => void;
}) {
  const span = (row.b ?? row.a)?.span;
  if (!span) return null;
  return (
    <div
      id={rowId(at)}
      role="row"
      aria-rowindex={at + 2}
      aria-level={row.depth + 1}
      aria-selected={isChosen}
      className={cx(
        styles['row'],
        styles['spanRow'],
        row.a === undefined && styles['onlyB'],
        row.b === undefined && styles['onlyA'],
        isChosen && styles['chosen'],
      )}
      style={{ transform: `translateY(${String(top)}px)` }}
      onClick={() => {
        onChoose(at);
      }}
    >
      <span
        role="gridcell"
        className={styles['name']}
        style={{ paddingLeft: Math.min(row.depth, MOST_INDENT) * INDENT_PX }}
      >
        <Mark row={row} />
        <TypeIcon type={span.type} />
        <span className={styles['label']} title={span.name}>
          {span.name === '' ? TYPE_WORDS[span.type] : span.name}
        </span>
        {hasFailed(span) && <span className={styles['bad']}>{span.status.replace('_', ' ')}</span>}
        {row.a && row.b && row.differences.length > 0 && (
          <span className={styles['note']}>{row.differences.join(', ')}</span>
        )}
        {!isChanged(row) && row.changedBelow > 0 && (
          <span className={styles['below']}>{formatCounted(row.changedBelow, 'difference')} below</span>
        )}
      </span>
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
    </div>
  );
}

const MARKS = {
  same: { icon: Equal, words: 'Alike' },
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
      <span className={styles['unseen']}>{words}</span>
    </span>
  );
}

function Value({ name, row }: { readonly name: FigureName; readonly row: DiffRow }) {
  const value = figureOf(name, row.b ?? row.a);
  return value === null ? <Missing reason="It is not known" /> : formatFigure(name, value);
}

/** What became of a figure; where there is nothing to compare it with, the figure. */
function Delta({ name, row }: { readonly name: FigureName; readonly row: DiffRow }) {
  if (!row.a || !row.b)
    return name === 'duration' ? <Missing reason="It is in one run only" /> : <Value name={name} row={row} />;
  const [before, after] = [figureOf(name, row.a), figureOf(name, row.b)];
  if (before === null || after === null) return <Missing reason="It is not known of both" />;
  const words = `${formatFigure(name, before)} in A, ${formatFigure(name, after)} in B`;
  return <span title={words}>{formatDelta(name, after - before)}</span>;
}
