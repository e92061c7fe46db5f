import type { ReactNode } from 'react';
import { Link } from 'wouter';
import type { Schemas } from '../../api/client.js';
import { formatCount } from '../../format/number.js';
import { Change } from '../../parts/Change.js';
import { Count, Duration, Money, Percentage } from '../../parts/figures.js';
import { cx } from '../../parts/cx.js';
import parts from '../../parts/parts.module.css';
import styles from './CompareAgents.module.css';

type Totals = Schemas['RunTotals'];

interface Figure {
  readonly name: string;
  readonly of: (totals: Totals) => number | null;
  readonly show: (value: number | null) => ReactNode;
  /** A note if the value covers only some of the runs. */
  readonly note?: (totals: Totals) => string | undefined;
  /** Whether a higher value is worse. */
  readonly isBad: boolean;
  /** Shares differ by percentage points. */
  readonly isShare?: true;
}

const FIGURES: readonly Figure[] = [
  { name: 'Runs', of: ({ runs }) => runs, show: (value) => <Count value={value} missing="" />, isBad: false },
  {
    name: 'Failed or timed out',
    of: ({ runs, failed }) => (runs === 0 ? null : (100 * failed) / runs),
    show: (value) => <Percentage value={value} missing="No runs in this period" />,
    isBad: true,
    isShare: true,
  },
  {
    name: 'Reported as successful',
    of: ({ runs, success_count }) => (runs === 0 ? null : (100 * success_count) / runs),
    show: (value) => <Percentage value={value} missing="No runs in this period" />,
    isBad: false,
    isShare: true,
  },
  {
    name: 'p50 duration',
    of: ({ p50_ms }) => p50_ms,
    show: (value) => <Duration value={value} missing="No runs ended in this period" />,
    isBad: true,
  },
  {
    name: 'p95 duration',
    of: ({ p95_ms }) => p95_ms,
    show: (value) => <Duration value={value} missing="No runs ended in this period" />,
    isBad: true,
  },
  {
    name: 'Cost',
    of: ({ cost }) => cost,
    show: (value) => <Money value={value} missing="No run has a cost" />,
    isBad: true,
  },
  {
    name: 'Cost per run',
    of: ({ cost, priced_runs: priced }) => (cost === null || priced === 0 ? null : cost / priced),
    show: (value) => <Money value={value} missing="No run has a cost" />,
    note: ({ runs, priced_runs: priced }) =>
      priced > 0 && priced < runs ? `of ${formatCount(priced)} priced runs` : undefined,
    isBad: true,
  },
  {
    name: 'Tokens per run',
    of: ({ tokens, runs }) => (tokens === null || runs === 0 ? null : tokens / runs),
    show: (value) => (
      <Count value={value === null ? null : Math.round(value)} missing="No span reports tokens" />
    ),
    isBad: true,
  },
];

/** The totals of two agents, and the change from the first to the second. */
export function ComparedFigures({
  ids,
  names,
  totals: [one, other],
}: {
  readonly ids: readonly [string, string];
  readonly names: readonly [string, string];
  readonly totals: readonly [Totals, Totals];
}) {
  return (
    <div className={parts['tableWrap']} role="group" aria-label="Figures" tabIndex={0}>
      <table className={cx(parts['table'], styles['figures'])}>
        <thead>
          <tr>
            <th scope="col">All runs</th>
            {names.map((name, at) => (
              <th key={ids[at]} scope="col" className={parts['number']}>
                <Link href={`/agents/${ids[at] ?? ''}`}>{name}</Link>
              </th>
            ))}
            <th scope="col" className={parts['number']}>
              vs {names[0]}
            </th>
          </tr>
        </thead>
        <tbody>
          {FIGURES.map(({ name, of, show, note, isBad, isShare }) => (
            <tr key={name}>
              <th scope="row">{name}</th>
              {[one, other].map((totals, at) => (
                <td key={ids[at]} className={parts['number']}>
                  {show(of(totals))} <small className={parts['faint']}>{note?.(totals)}</small>
                </td>
              ))}
              <td className={parts['number']}>
                <Change now={of(other)} before={of(one)} isBad={isBad} isShare={isShare} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
