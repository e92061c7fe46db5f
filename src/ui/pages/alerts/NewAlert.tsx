import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState, type SyntheticEvent } from 'react';
import { Link, useLocation } from 'wouter';
import { api, ApiError, bodyOf } from '../../api/client.js';
import { Choice } from '../../parts/Choice.js';
import { cx } from '../../parts/cx.js';
import { ActionProblem } from '../../parts/FormField.js';
import parts from '../../parts/parts.module.css';
import { TableSkeleton } from '../../parts/Skeleton.js';
import { Empty, Failure } from '../../parts/states.js';
import { ZoneNote } from '../../parts/ZoneNote.js';
import { useMe } from '../../shell/Session.js';
import { oneOf, text } from '../../state/codec.js';
import { useUrlState } from '../../state/use-url-state.js';
import { problemsOf, toNewRule, type Draft } from './draft.js';
import { mayManage } from './load.js';
import { PastChart, PastFirings, SPANS, usePast } from './Past.js';
import { RuleFields } from './RuleFields.js';
import styles from './alerts.module.css';

/** Form state in the URL, without webhook URLs, which contain secrets. */
const STATE = {
  of: oneOf(['agent', 'all', 'service'], 'agent'),
  agent: text(),
  service: text(),
  type: oneOf(
    ['failure_rate', 'latency_threshold', 'cost_threshold', 'inactivity', 'score_threshold', 'composite'],
    'failure_rate',
  ),
  limit: text('10'),
  score: text(),
  direction: oneOf(['below', 'above'], 'below'),
  hours: oneOf(['6', '24', '72', '168'], '24'),
};

const USUAL = {
  failure_rate: '10',
  latency_threshold: '30',
  cost_threshold: '10',
  inactivity: '6',
  score_threshold: '0.5',
};
type Local = Omit<Draft, keyof typeof STATE>;

/** Creates a rule, with a preview over past data. */
export default function NewAlert() {
  const { scopes } = useMe();
  if (!mayManage(scopes))
    return (
      <Empty title="Your key is not allowed to create alerts" isPage>
        <title>New alert · Jackdaw</title>
        <p>
          Creating alerts requires the manage scope. <Link href="/alerts">All alerts</Link>
        </p>
      </Empty>
    );
  return <Editor />;
}

function Editor() {
  const client = useQueryClient();
  const [, navigate] = useLocation();
  const [state, change] = useUrlState(STATE);
  const [local, setLocal] = useState<Local>({
    name: '',
    window: '60',
    minimum: '',
    cooldown: '60',
    channel: 'email',
    url: '',
    operator: 'and',
    samples: '5',
    conditions: [
      { type: 'failure_rate', limit: '10', metric: '', operator: 'gt' },
      { type: 'metric_threshold', limit: '', metric: '', operator: 'gt' },
    ],
  });
  const draft: Draft = { ...state, ...local };
  const rule = toNewRule(draft);
  const targets = useTargets(draft.of === 'service', draft.type === 'composite');
  const create = useMutation({
    mutationFn: () => {
      if (rule === null) throw new Error('Select an agent, all agents or a service.');
      return bodyOf(api.POST('/api/v1/alerts', { body: rule as never }));
    },
    onSuccess: ({ id }) => {
      void client.invalidateQueries({ queryKey: ['alerts'] });
      navigate(`/alerts/${id}`);
    },
  });
  const past = usePast(rule, Number(state.hours));
  const errors = [past.error, create.error].flatMap((error) =>
    error instanceof ApiError ? error.fields : [],
  );
  const problems = problemsOf(errors);
  const put = (some: Partial<Draft>): void => {
    create.reset();
    const { of, agent, service, type, limit, score, direction, ...rest } = some;
    if (Object.keys(rest).length > 0) setLocal((before) => ({ ...before, ...rest }));
    const usual = type !== undefined && type !== 'composite' ? { limit: USUAL[type] } : {};
    const linked = {
      ...(of !== undefined && { of }),
      ...(agent !== undefined && { agent }),
      ...(service !== undefined && { service }),
      ...(type !== undefined && { type, ...usual }),
      ...(limit !== undefined && { limit }),
      ...(score !== undefined && { score }),
      ...(direction !== undefined && { direction }),
    };
    if (Object.keys(linked).length > 0) change(linked, 'replace');
  };
  const submit = (event: SyntheticEvent): void => {
    event.preventDefault();
    if (!create.isPending) create.mutate();
  };
  return (
    <div className={parts['page']}>
      <title>New alert · Jackdaw</title>
      <div className={parts['head']}>
        <h1>New alert</h1>
        <ZoneNote />
      </div>
      <div className={styles['split']}>
        <form className={styles['form']} aria-label="New alert" noValidate onSubmit={submit}>
          <RuleFields
            draft={draft}
            {...targets}
            problems={problems}
            canMail={past.data?.now.can_mail}
            onChange={put}
          />
          <div className={styles['actions']}>
            <button
              type="submit"
              className={cx(parts['button'], parts['primary'])}
              disabled={create.isPending || rule === null}
            >
              Create alert
            </button>
            <Link href="/alerts" className={parts['button']}>
              Cancel
            </Link>
          </div>
          <ActionProblem
            error={create.error instanceof ApiError && create.error.fields.length > 0 ? null : create.error}
          />
        </form>
        <section className={styles['preview']} aria-label="Preview">
          <div className={parts['head']}>
            <h2 className={styles['spread']}>Preview</h2>
            <Choice
              label="Period"
              value={state.hours}
              options={SPANS}
              onChange={(value) => {
                change({ hours: value as keyof typeof SPANS }, 'replace');
              }}
            />
          </div>
          <Preview rule={rule} past={past} draft={draft} hours={Number(state.hours)} />
        </section>
      </div>
    </div>
  );
}

function Preview({
  rule,
  past,
  draft,
  hours,
}: {
  readonly rule: object | null;
  readonly past: ReturnType<typeof usePast>;
  readonly draft: Draft;
  readonly hours: number;
}) {
  if (rule === null)
    return (
      <Empty title="Select a target">
        <p>Select an agent, all agents or a service to see how often the alert would have fired.</p>
      </Empty>
    );
  if (past.error instanceof ApiError && past.error.fields.length > 0)
    return (
      <Empty title="No preview yet">
        <p>Complete the form to see a preview.</p>
      </Empty>
    );
  if (past.error) return <Failure error={past.error} retry={() => void past.refetch()} />;
  if (past.data === undefined) return <TableSkeleton rows={6} />;
  return (
    <>
      <PastChart past={past.data} type={draft.type} />
      <PastFirings past={past.data} hours={hours} />
    </>
  );
}

/** Names of services and metrics that a rule may be about. */
function useTargets(needsServices: boolean, needsMetrics: boolean) {
  const services = useQuery({
    queryKey: ['services-to-watch'],
    queryFn: async ({ signal }) => {
      const map = await bodyOf(api.GET('/api/v1/dashboard/service-map/', { signal }));
      return map.nodes.map(({ id }) => id);
    },
    enabled: needsServices,
  });
  const metrics = useQuery({
    queryKey: ['metrics-to-watch'],
    queryFn: async ({ signal }) => {
      const body = await bodyOf(api.GET('/api/v1/dashboard/metrics/', { signal }));
      return (Array.isArray(body) ? body : []).map(({ name }) => name);
    },
    enabled: needsMetrics,
  });
  return { services: services.data ?? [], metrics: metrics.data ?? [] };
}
