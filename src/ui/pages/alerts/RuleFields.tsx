import { ActionProblem, SelectField, TextField } from '../../parts/FormField.js';
import { ConditionFields } from './ConditionFields.js';
import { LIMITS, type Draft } from './draft.js';
import { NoticeFields } from './NoticeFields.js';
import type { useTargets } from './use-targets.js';
import { TYPES, type RuleType } from './words.js';

interface Props {
  readonly draft: Draft;
  readonly targets: ReturnType<typeof useTargets>;
  /** By the names of fields. */
  readonly problems: Readonly<Record<string, string | undefined>>;
  readonly onChange: (some: Partial<Draft>) => void;
}

/** What a rule is made of. */
export function RuleFields({ draft, targets, problems, onChange }: Props) {
  const { type, limit } = draft;
  return (
    <>
      <TargetFields draft={draft} targets={targets} problems={problems} onChange={onChange} />
      <SelectField
        label="Fires for"
        value={type}
        options={TYPES}
        problem={problems['type']}
        onText={(text) => {
          onChange({ type: text as RuleType });
        }}
      />
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
      <NoticeFields draft={draft} problems={problems} onChange={onChange} />
    </>
  );
}

function TargetFields({ draft: { of, agent, service }, targets, problems, onChange }: Props) {
  const { agents, services } = targets;
  const known = Object.fromEntries((agents.data ?? []).map(({ id, name }) => [id, name || '(no name)']));
  // A link may name one that is not among those.
  const named = agent === '' || agent in known ? known : { [agent]: agent, ...known };
  return (
    <>
      <SelectField
        label="About"
        value={of}
        options={{ agent: 'An agent', service: 'A service of the map' }}
        onText={(text) => {
          onChange({ of: text === 'service' ? 'service' : 'agent' });
        }}
      />
      {of === 'agent' ? (
        <SelectField
          label="Agent"
          value={agent}
          options={{ '': 'Choose…', ...named }}
          problem={problems['agent_id']}
          onText={(text) => {
            onChange({ agent: text });
          }}
        />
      ) : (
        <TextField
          label="Service"
          hint="It need not exist yet"
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
