import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { formatCount, formatCounted } from '../../format/number.js';
import { cx } from '../../parts/cx.js';
import { Time } from '../../parts/figures.js';
import { Missing } from '../../parts/Missing.js';
import { Status } from '../../parts/Status.js';
import { TYPE_LABELS } from '../../parts/TypeIcon.js';
import parts from '../../parts/parts.module.css';
import type { DiffRow, RunDiff } from '../../trace/diff.js';
import { formatDelta, formatFigure, formatShare, type FigureName } from './figures.js';
import { durationOf, type Side } from './load.js';
import styles from './compare-runs.module.css';

const LABELS: Readonly<Record<FigureName, string>> = { duration: 'Duration', tokens: 'Tokens', cost: 'Cost' };

interface Props {
  readonly a: Side;
  readonly b: Side;
  readonly diff: RunDiff;
  readonly onSelect: (spanId: string) => void;
}

/** The totals of both runs, and the first difference. */
export function Summary({ a, b, diff, onSelect }: Props) {
  const first = diff.first === undefined ? undefined : diff.rows[diff.first];
  const { same, changed, onlyA, onlyB } = diff.counts;
  return (
    <>
      <div className={cx(parts['tableWrap'], parts['stacking'])}>
        <table className={parts['table']} aria-label="Figures of both runs">
          <thead>
            <tr>
              <th scope="col">Run</th>
              <th scope="col">Agent</th>
              <th scope="col" className={styles['aside']}>
                Started
              </th>
              <th scope="col">Status</th>
              <th scope="col" className={cx(parts['number'], parts['minor'])}>
                Spans
              </th>
              <th scope="col" className={parts['number']}>
                Duration
              </th>
              <th scope="col" className={parts['number']}>
                Tokens
              </th>
              <th scope="col" className={parts['number']}>
                Cost
              </th>
            </tr>
          </thead>
          <tbody>
            <Line name="A" side={a} />
            <Line name="B" side={b} />
            <tr>
              <th scope="row">B − A</th>
              <td />
              <td className={styles['aside']} />
              <td />
              <td className={cx(parts['number'], parts['minor'])} data-label="Spans">
                {signed(b.nodes.length - a.nodes.length)}
              </td>
              <Delta name="duration" before={durationOf(a)} after={durationOf(b)} />
              <Delta name="tokens" before={a.run.total_tokens} after={b.run.total_tokens} />
              <Delta name="cost" before={a.run.total_cost_usd} after={b.run.total_cost_usd} />
            </tr>
          </tbody>
        </table>
      </div>
      <p className={styles['verdict']}>
        {first === undefined ? (
          <>
            Both runs took the same path:{' '}
            {same === 1 ? 'the only span matches' : `all ${formatCount(same)} spans match`}.
          </>
        ) : (
          <>
            They first differ at{' '}
            <button
              type="button"
              className={styles['jump']}
              onClick={() => {
                onSelect((first.b ?? first.a)?.span.id ?? '');
              }}
            >
              {nameOf(first)}
            </button>
            : {reasonOf(first)}. {formatCounted(same, 'span')} the same, {formatCount(changed)} changed,{' '}
            {formatCount(onlyA)} only in A, {formatCount(onlyB)} only in B.
          </>
        )}
      </p>
    </>
  );
}

function Line({ name, side: { run, nodes }, side }: { readonly name: string; readonly side: Side }) {
  const duration = durationOf(side);
  return (
    <tr>
      <th scope="row">{name}</th>
      <td>
        <Link href={`/traces/${run.trace_id}`}>{run.agent_name === '' ? '(no name)' : run.agent_name}</Link>
      </td>
      <td className={styles['aside']}>
        <Time at={run.started_at} />
      </td>
      <td>
        <Status status={run.status} />
      </td>
      <td className={cx(parts['number'], parts['minor'])} data-label="Spans">
        {formatCount(nodes.length)}
      </td>
      <Figure name="duration" value={duration} missing="End time unknown" />
      <Figure name="tokens" value={run.total_tokens} missing="No span reports tokens" />
      <Figure name="cost" value={run.total_cost_usd} missing="No span has a cost" />
    </tr>
  );
}

function Figure({
  name,
  value,
  missing,
}: {
  readonly name: FigureName;
  readonly value: number | null;
  readonly missing: string;
}) {
  return (
    <td className={parts['number']} data-label={LABELS[name]}>
      {value === null ? <Missing reason={missing} /> : formatFigure(name, value)}
    </td>
  );
}

function Delta({
  name,
  before,
  after,
}: {
  readonly name: FigureName;
  readonly before: number | null;
  readonly after: number | null;
}) {
  let shown: ReactNode = <Missing reason="Not known for both runs" />;
  if (before !== null && after !== null) {
    const share = formatShare(before, after);
    shown = (
      <>
        {formatDelta(name, after - before)}
        {share !== undefined && <small className={styles['share']}> {share}</small>}
      </>
    );
  }
  return (
    <td className={parts['number']} data-label={LABELS[name]}>
      {shown}
    </td>
  );
}

function signed(delta: number): string {
  return delta === 0 ? '±0' : `${delta > 0 ? '+' : '−'}${formatCount(Math.abs(delta))}`;
}

function nameOf({ a, b }: DiffRow): string {
  const span = (b ?? a)?.span;
  return span === undefined ? '' : span.name === '' ? TYPE_LABELS[span.type] : span.name;
}

/** Why two runs differ at a row. */
function reasonOf({ a, b, differences }: DiffRow): string {
  if (a === undefined) return 'A has no such step';
  if (b === undefined) return 'B has no such step';
  if (differences.includes('name')) return `called ${a.span.name} in A`;
  if (differences.includes('input')) return 'input differs';
  if (differences.includes('model'))
    return `${a.span.model ?? 'no model'} in A, ${b.span.model ?? 'no model'} in B`;
  if (differences.includes('status'))
    return `${a.span.status.replace('_', ' ')} in A, ${b.span.status.replace('_', ' ')} in B`;
  return 'output differs';
}
