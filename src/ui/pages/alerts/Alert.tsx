import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import { Link, useLocation } from 'wouter';
import { api, ApiError, bodyOf } from '../../api/client.js';
import { formatDuration } from '../../format/duration.js';
import { formatCounted } from '../../format/number.js';
import { Choice } from '../../parts/Choice.js';
import { ConfirmButton } from '../../parts/ConfirmButton.js';
import { Time } from '../../parts/figures.js';
import { ActionProblem } from '../../parts/FormField.js';
import { Missing } from '../../parts/Missing.js';
import parts from '../../parts/parts.module.css';
import { TableSkeleton } from '../../parts/Skeleton.js';
import { Empty, Failure } from '../../parts/states.js';
import { ZoneNote } from '../../parts/ZoneNote.js';
import { useMe } from '../../shell/Session.js';
import { integer, oneOf } from '../../state/codec.js';
import { useUrlState } from '../../state/use-url-state.js';
import { fromRule } from './draft.js';
import { EditAlert } from './EditAlert.js';
import { FiringPages } from './Firings.js';
import { mayManage, useAlertUpdates, useFirings } from './load.js';
import { PastChart, PastFirings, SPANS, usePast } from './Past.js';
import { RuleState } from './RuleState.js';
import { Target } from './Target.js';
import { CHANNELS, formatFound, formatRule, ruleName, WINDOWED, type Rule } from './labels.js';
import styles from './alerts.module.css';

const STATE = { hours: oneOf(['6', '24', '72', '168'], '24'), page: integer(1, 1) };

/** An alert rule: history, firings and their causes. */
export default function Alert({ id }: { readonly id: string }) {
  const { data, error, refetch } = useQuery({
    queryKey: ['alert', id],
    queryFn: ({ signal }) =>
      bodyOf(api.GET('/api/v1/alerts/{alert_id}', { params: { path: { alert_id: id } }, signal })),
  });
  useAlertUpdates();
  if (error instanceof ApiError && [404, 422].includes(error.status))
    return (
      <Empty title="Alert not found" isPage>
        <title>No such alert · Jackdaw</title>
        <p>
          It was deleted, or it belongs to another user. <Link href="/alerts">All alerts</Link>
        </p>
      </Empty>
    );
  if (error && !data) return <Failure isPage error={error} retry={() => void refetch()} />;
  return (
    <div className={parts['page']}>
      {data ? (
        <Loaded rule={data} />
      ) : (
        <>
          <title>Alert · Jackdaw</title>
          <TableSkeleton />
        </>
      )}
    </div>
  );
}

function Loaded({ rule }: { readonly rule: Rule }) {
  const [{ hours, page }, change] = useUrlState(STATE);
  const { scopes } = useMe();
  const [isEdited, setEdited] = useState(false);
  const filter = { alert_id: rule.id };
  const firings = useFirings(filter, page);
  const tried = useMemo(() => fromRule(rule), [rule]);
  const past = usePast(tried, Number(hours));
  return (
    <>
      <title>{`${ruleName(rule)} · Jackdaw`}</title>
      <div className={parts['head']}>
        <h1>{ruleName(rule)}</h1>
        <RuleState isActive={rule.is_active} isFiring={rule.is_firing} />
        <ZoneNote />
        {mayManage(scopes) && (
          <Actions
            rule={rule}
            firings={firings.data?.count ?? 0}
            onEdit={() => {
              setEdited(!isEdited);
            }}
          />
        )}
      </div>
      {isEdited && (
        <EditAlert
          rule={rule}
          canMail={past.data?.now.can_mail}
          onDone={() => {
            setEdited(false);
          }}
        />
      )}
      <Facts rule={rule} now={past.data?.now} />
      <div className={styles['preview']}>
        <div className={parts['head']}>
          <h2 className={styles['spread']}>History</h2>
          <Choice
            label="Period"
            value={hours}
            options={SPANS}
            onChange={(value) => {
              change({ hours: value as keyof typeof SPANS });
            }}
          />
        </div>
        {past.error ? (
          <Failure error={past.error} retry={() => void past.refetch()} />
        ) : past.data === undefined ? (
          <TableSkeleton rows={5} />
        ) : (
          <>
            <PastChart past={past.data} type={rule.type} />
            <PastFirings past={past.data} hours={Number(hours)} />
          </>
        )}
      </div>
      <FiringPages
        filter={filter}
        page={page}
        onPage={(next) => {
          change({ page: next });
        }}
        empty={
          <Empty title="Never fired">
            <p>Firings appear here with the measured value, related runs and notifications.</p>
          </Empty>
        }
      />
    </>
  );
}

function Facts({
  rule,
  now,
}: {
  readonly rule: Rule;
  readonly now: NonNullable<ReturnType<typeof usePast>['data']>['now'] | undefined;
}) {
  const value = now?.value ?? null;
  const window = now && Date.parse(now.window.to) - Date.parse(now.window.from);
  return (
    <dl className={parts['figures']}>
      {rule.name !== null && (
        <div>
          <dt>Condition</dt>
          <dd className={styles['words']}>{formatRule(rule)}</dd>
        </div>
      )}
      <div>
        <dt>Target</dt>
        <dd className={styles['words']}>
          <Target rule={rule} />
        </dd>
      </div>
      <div>
        <dt>Now</dt>
        <dd className={now?.verdict === 'met' ? parts['bad'] : undefined}>
          {now === undefined ? (
            ' '
          ) : rule.type === 'composite' ? (
            { met: 'Met', not_met: 'Not met', no_data: 'Not enough data' }[now.verdict]
          ) : value === null ? (
            <Missing reason="Not enough data: too few runs in the window" />
          ) : (
            formatFound(rule.type, value)
          )}
          {now !== undefined && <small>{VERDICTS[now.verdict]}</small>}
        </dd>
      </div>
      {WINDOWED.has(rule.type) && (
        <div>
          <dt>Window</dt>
          <dd>
            {rule.window_minutes !== null
              ? formatDuration(rule.window_minutes * 60_000)
              : window !== undefined && rule.type !== 'composite'
                ? formatDuration(window)
                : 'Default'}
            {rule.min_samples !== null && <small>at least {formatCounted(rule.min_samples, 'run')}</small>}
          </dd>
        </div>
      )}
      <div>
        <dt>Notification</dt>
        <dd className={styles['words']}>
          {CHANNELS[rule.channel]}
          {rule.channel !== 'email' && rule.webhook_url !== null && <small>{rule.webhook_url}</small>}
          {rule.channel !== 'webhook' && now?.can_mail === false && (
            <small className={parts['bad']}>no mail server: e-mails are not sent</small>
          )}
        </dd>
      </div>
      <div>
        <dt>Cooldown</dt>
        <dd>{formatFound('inactivity', rule.cooldown_minutes / 60)}</dd>
      </div>
      <div>
        <dt>Last fired</dt>
        <dd>
          <Time at={rule.last_fired_at} relative missing="Never fired" />
        </dd>
      </div>
    </dl>
  );
}

const VERDICTS = {
  met: 'condition met',
  not_met: 'condition not met',
  no_data: 'not enough data',
} as const;

function Actions({
  rule,
  firings,
  onEdit,
}: {
  readonly rule: Rule;
  readonly firings: number;
  readonly onEdit: () => void;
}) {
  const client = useQueryClient();
  const [, navigate] = useLocation();
  const path = { alert_id: rule.id };
  const pause = useMutation({
    mutationFn: () =>
      bodyOf(
        api.PATCH('/api/v1/alerts/{alert_id}', { params: { path }, body: { is_active: !rule.is_active } }),
      ),
    onSuccess: (changed) => {
      client.setQueryData(['alert', rule.id], changed);
      for (const key of ['alerts', 'firings']) void client.invalidateQueries({ queryKey: [key] });
    },
  });
  const test = useMutation({
    mutationFn: () => bodyOf(api.POST('/api/v1/alerts/{alert_id}/send-test', { params: { path } })),
    onSuccess: () => client.invalidateQueries({ queryKey: ['firings'] }),
  });
  const remove = useMutation({
    mutationFn: () => bodyOf(api.DELETE('/api/v1/alerts/{alert_id}', { params: { path } })),
    onSuccess: () => {
      for (const key of ['alerts', 'firings']) void client.invalidateQueries({ queryKey: [key] });
      navigate('/alerts');
    },
  });
  return (
    <div className={styles['actions']}>
      <button
        type="button"
        className={parts['button']}
        disabled={pause.isPending}
        title={rule.is_active ? 'Stops evaluation until resumed and ends an ongoing firing' : undefined}
        onClick={() => {
          pause.mutate();
        }}
      >
        {rule.is_active ? 'Pause' : 'Resume'}
      </button>
      <button
        type="button"
        className={parts['button']}
        disabled={test.isPending}
        title="Sends a test through the channels; the result is below, under Firings"
        onClick={() => {
          test.mutate();
        }}
      >
        Send a test
      </button>
      <button type="button" className={parts['button']} onClick={onEdit}>
        Edit
      </button>
      <ConfirmButton
        label="Delete"
        question={firings === 0 ? 'Delete this alert?' : 'Delete this alert and its firings?'}
        confirm="Delete"
        isBusy={remove.isPending}
        onConfirm={() => {
          remove.mutate();
        }}
      />
      <ActionProblem error={pause.error ?? test.error ?? remove.error} />
    </div>
  );
}
