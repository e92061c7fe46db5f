import { formatCount, formatCounted } from '../../format/number.js';
import { ActionProblem, SelectField, TextField } from '../../parts/FormField.js';
import { ConditionFields } from './ConditionFields.js';
import { LIMITS, type Draft } from './draft.js';
import { NoticeFields } from './NoticeFields.js';
import type { useTargets } from './use-targets.js';
import { TYPES, type RuleType } from './labels.js';

interface Props {
  readonly draft: Draft;
  readonly targets: ReturnType<typeof useTargets>;
  /** By field name. */
  readonly problems: Readonly<Record<string, string | undefined>>;
  /** Text that the names of offered agents contain. */
  readonly search: string;
  readonly onSearch: (text: string) => void;
  /** Whether the daemon has a mail server; undefined while unknown. */
  readonly canMail: boolean | undefined;
  readonly onChange: (some: Partial<Draft>) => void;
}

/** The fields of a new rule. */
export function RuleFields(props: Props) {
  const { draft, targets, problems, canMail, onChange } = props;
  const { type, limit } = draft;
  return (
    <>
      <TargetFields {...props} />
      <SelectField
        label="Condition"
        value={type}
        options={TYPES}
        problem={problems['type']}
        onText={(text) => {
          onChange({ type: text as RuleType });
        }}
      />
      {type === 'score_threshold' && (
        <>
          <TextField
            label="Score"
            hint="Name of the scores, exactly"
            value={draft.score}
            problem={problems['score_config/score_name'] ?? problems['score_config']}
            onText={(text) => {
              onChange({ score: text });
            }}
          />
          <SelectField
            label="Comparison"
            value={draft.direction}
            options={{ below: 'below', above: 'above' }}
            onText={(text) => {
              onChange({ direction: text === 'above' ? 'above' : 'below' });
            }}
          />
          <TextField
            label="Minimum scores"
            hint="With fewer scores in the window, the alert does not fire"
            inputMode="numeric"
            value={draft.samples}
            problem={problems['score_config/min_samples']}
            onText={(text) => {
              onChange({ samples: text });
            }}
          />
        </>
      )}
      {type === 'composite' ? (
        <ConditionFields
          operator={draft.operator}
          conditions={draft.conditions}
          metrics={targets.metrics}
          problems={problems}
          onChange={onChange}
        />
      ) : (
        <TextField
          label={LIMITS[type]?.label ?? ''}
          hint={LIMITS[type]?.hint}
          inputMode="decimal"
          value={limit}
          problem={problems['threshold']}
          onText={(text) => {
            onChange({ limit: text });
          }}
        />
      )}
      <NoticeFields draft={draft} problems={problems} canMail={canMail} onChange={onChange} />
    </>
  );
}

function TargetFields({
  draft: { of, agent, service },
  targets: { agents, selected, services },
  problems,
  search,
  onSearch,
  onChange,
}: Props) {
  const { items = [], count = 0 } = agents.data ?? {};
  const known = Object.fromEntries(items.map(({ id, name }) => [id, name || '(no name)']));
  // The selected agent need not be among those offered.
  const named = agent === '' || agent in known ? known : { [agent]: selected?.name ?? agent, ...known };
  const isMore = count > items.length;
  return (
    <>
      <SelectField
        label="Target"
        value={of}
        options={{ agent: 'Agent', service: 'Service' }}
        onText={(text) => {
          onChange({ of: text === 'service' ? 'service' : 'agent' });
        }}
      />
      {of === 'agent' ? (
        <>
          {(isMore || search !== '') && (
            <TextField
              label="Find an agent"
              type="search"
              hint={
                isMore
                  ? `${formatCount(items.length)} of ${formatCount(count)} agents listed below`
                  : items.length === 0 && !agents.isPlaceholderData
                    ? 'No matching agents'
                    : formatCounted(items.length, 'matching agent')
              }
              value={search}
              onText={onSearch}
            />
          )}
          <SelectField
            label="Agent"
            value={agent}
            options={{ '': 'Select…', ...named }}
            problem={problems['agent_id']}
            onText={(text) => {
              onChange({ agent: text });
            }}
          />
        </>
      ) : (
        <TextField
          label="Service"
          hint="May be a service that has not sent data yet"
          options={services}
          value={service}
          problem={problems['target_service']}
          onText={(text) => {
            onChange({ service: text });
          }}
        />
      )}
      <ActionProblem error={agents.error} />
    </>
  );
}
