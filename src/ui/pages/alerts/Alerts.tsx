import { Plus } from 'lucide-react';
import { Link } from 'wouter';
import { cx } from '../../parts/cx.js';
import { DataTable } from '../../parts/DataTable.js';
import parts from '../../parts/parts.module.css';
import { TableSkeleton } from '../../parts/Skeleton.js';
import { Empty, Failure } from '../../parts/states.js';
import { ZoneNote } from '../../parts/ZoneNote.js';
import { useMe } from '../../shell/Session.js';
import { integer, oneOf } from '../../state/codec.js';
import { useUrlState } from '../../state/use-url-state.js';
import { AlertSecret } from './AlertSecret.js';
import { FiringPages } from './Firings.js';
import { mayManage, useAlertUpdates, useRules } from './load.js';
import { RULE_COLUMNS } from './rule-columns.js';

const STATE = { show: oneOf(['all', 'firing', 'paused'], 'all'), page: integer(1, 1) };
const SHOWN = { all: 'All', firing: 'Firing', paused: 'Paused' } as const;

/** All rules with their state, and recent firings. */
export default function Alerts() {
  const [{ show, page }, change] = useUrlState(STATE);
  const { scopes } = useMe();
  const rules = useRules();
  useAlertUpdates();
  const shown = rules.data?.filter(
    (rule) => show === 'all' || (show === 'paused' ? !rule.is_active : rule.is_firing),
  );
  const canManage = mayManage(scopes);
  return (
    <div className={parts['page']}>
      <title>Alerts · Jackdaw</title>
      <div className={parts['head']}>
        <h1>Alerts</h1>
        <ZoneNote />
        <div role="group" aria-label="Show" className={parts['label']}>
          {(['all', 'firing', 'paused'] as const).map((each) => (
            <button
              key={each}
              type="button"
              className={parts['button']}
              aria-pressed={each === show}
              onClick={() => {
                change({ show: each });
              }}
            >
              {SHOWN[each]}
            </button>
          ))}
        </div>
        {canManage && (
          <Link href="/alerts/new" className={cx(parts['button'], parts['primary'])}>
            <Plus size={14} aria-hidden="true" /> New alert
          </Link>
        )}
      </div>
      {rules.error && !rules.data ? (
        <Failure error={rules.error} retry={() => void rules.refetch()} />
      ) : shown === undefined ? (
        <TableSkeleton rows={4} />
      ) : rules.data?.length === 0 ? (
        <Empty title="No alerts yet">
          <p>
            An alert notifies you when an agent or a service fails, slows down, costs too much or becomes
            inactive.{' '}
            {canManage ? (
              <Link href="/alerts/new">Create an alert</Link>
            ) : (
              'Creating alerts requires the manage scope.'
            )}
          </p>
        </Empty>
      ) : shown.length === 0 ? (
        <Empty title={show === 'firing' ? 'No alert is firing' : 'No alert is paused'} />
      ) : (
        <DataTable
          label="Alerts"
          items={shown}
          columns={RULE_COLUMNS}
          keyOf={({ id }) => id}
          hrefOf={({ id }) => `/alerts/${id}`}
        />
      )}
      <FiringPages
        withRule
        filter={{}}
        page={page}
        onPage={(next) => {
          change({ page: next });
        }}
        empty={
          <Empty title="No alert has fired yet">
            <p>Firings are listed here with the measured value and related runs.</p>
          </Empty>
        }
      />
      <AlertSecret canManage={canManage} />
    </div>
  );
}
