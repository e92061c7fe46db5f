import type { ReactNode } from 'react';
import { Link } from 'wouter';
import type { Schemas } from '../../api/client.js';
import { formatDuration } from '../../format/duration.js';
import { cx } from '../../parts/cx.js';
import { Time } from '../../parts/figures.js';
import { Missing } from '../../parts/Missing.js';
import { Pager } from '../../parts/Pager.js';
import parts from '../../parts/parts.module.css';
import { TableSkeleton } from '../../parts/Skeleton.js';
import { Failure } from '../../parts/states.js';
import { Notices } from './Notices.js';
import { formatCondition, formatFound, TYPES } from './labels.js';
import { FIRINGS_ON_PAGE, useFirings } from './load.js';
import styles from './alerts.module.css';

export type Firing = Schemas['FiredAlert'];

/** The alert's page shows the rest. */
const MAX_RUNS = 5;

/**
 * Firings with value, related runs and notifications.
 *
 * @param withRule whether they belong to several alerts
 */
export function Firings({
  label,
  firings,
  withRule = false,
  withRuns = true,
}: {
  readonly label: string;
  readonly firings: readonly Firing[];
  readonly withRule?: boolean;
  /** False if all belong to one run. */
  readonly withRuns?: boolean;
}) {
  return (
    <div className={cx(parts['tableWrap'], parts['stacking'])}>
      <table className={cx(parts['table'], styles['firings'])} aria-label={label}>
        <thead>
          <tr>
            <th scope="col">Fired</th>
            {withRule && <th scope="col">Alert</th>}
            <th scope="col">Value</th>
            <th scope="col">Resolved</th>
            {withRuns && <th scope="col">Related runs</th>}
            <th scope="col">Notified</th>
          </tr>
        </thead>
        <tbody>
          {firings.map((firing) => (
            <tr key={firing.id}>
              <td>
                <Time at={firing.fired_at} /> {firing.is_test && <span className={parts['chip']}>test</span>}
              </td>
              {withRule && (
                <td>
                  <Link href={`/alerts/${firing.alert_id}`}>{firing.name ?? TYPES[firing.type]}</Link>{' '}
                  <span className={parts['faint']} title={firing.target.name}>
                    {firing.target.name}
                  </span>
                </td>
              )}
              <td>
                <Found firing={firing} />
              </td>
              <td>
                <Over firing={firing} />
              </td>
              {withRuns && (
                <td data-label="Related runs">
                  <Evidence ids={firing.trace_ids} />
                </td>
              )}
              <td>
                <Notices notices={firing.notifications} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** Firings in pages. @param filter API parameters */
export function FiringPages({
  filter,
  page,
  withRule = false,
  empty,
  onPage,
}: {
  readonly filter: Parameters<typeof useFirings>[0];
  readonly page: number;
  readonly withRule?: boolean;
  readonly empty: ReactNode;
  readonly onPage: (page: number) => void;
}) {
  const { data, error, refetch } = useFirings(filter, page);
  return (
    <section className={styles['section']}>
      <div className={parts['head']}>
        <h2>Firings</h2>
      </div>
      {error && !data ? (
        <Failure error={error} retry={() => void refetch()} />
      ) : data === undefined ? (
        <TableSkeleton rows={4} />
      ) : data.items.length === 0 ? (
        empty
      ) : (
        <>
          <Firings label="Firings" firings={data.items} withRule={withRule} />
          <Pager
            page={page}
            pageSize={FIRINGS_ON_PAGE}
            count={data.count}
            hasMore={data.has_more}
            noun={data.count === 1 ? 'firing' : 'firings'}
            onChange={onPage}
          />
        </>
      )}
    </section>
  );
}

function Found({ firing: { type, value, threshold, conditions } }: { readonly firing: Firing }) {
  if (value !== null)
    return (
      <>
        <strong>{formatFound(type, value)}</strong>{' '}
        <span className={parts['faint']}>
          threshold <span className={parts['time']}>{formatFound(type, threshold)}</span>
        </span>
      </>
    );
  if (conditions.length === 0) return <Missing reason="Value not recorded" />;
  return (
    <ul>
      {conditions.map((condition, at) => (
        <li key={at}>
          {formatCondition(condition)}:{' '}
          {condition.observed === null ? (
            <Missing reason="Not enough data" />
          ) : (
            <strong>{formatFound(condition.type, condition.observed)}</strong>
          )}
        </li>
      ))}
    </ul>
  );
}

function Over({ firing: { fired_at, resolved_at, is_test } }: { readonly firing: Firing }) {
  if (is_test) return <Missing reason="A test of the notification: the alert did not fire" />;
  if (resolved_at === null) return <span className={parts['bad']}>ongoing</span>;
  return (
    <>
      <Time at={resolved_at} />{' '}
      <span className={parts['faint']}>
        after {formatDuration(Date.parse(resolved_at) - Date.parse(fired_at))}
      </span>
    </>
  );
}

function Evidence({ ids }: { readonly ids: readonly string[] }) {
  if (ids.length === 0) return <Missing reason="None: caused by inactivity or a metric, or deleted" />;
  const link = (id: string) => (
    <Link key={id} href={`/traces/${id}`} title={id}>
      {id.slice(0, 8)}
    </Link>
  );
  const rest = ids.slice(MAX_RUNS);
  return (
    <div className={styles['evidence']}>
      {ids.slice(0, MAX_RUNS).map(link)}
      {rest.length > 0 && (
        <details>
          <summary>{rest.length} more</summary>
          {rest.map(link)}
        </details>
      )}
    </div>
  );
}
