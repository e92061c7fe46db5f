import { useState, type SyntheticEvent } from 'react';
import { Suggestions, useAgentName, useSuggestions } from '../../list/suggestions.js';
import { SelectField, TextField } from '../../parts/FormField.js';
import { useListbox } from '../../parts/use-listbox.js';
import { ConditionFields } from './ConditionFields.js';
import { LIMITS, type Draft } from './draft.js';
import { NoticeFields } from './NoticeFields.js';
import { TYPES, WINDOWED, WINDOWS, type RuleType } from './labels.js';

interface Props {
  readonly draft: Draft;
  /** Known services and metrics. */
  readonly services: readonly string[];
  readonly metrics: readonly string[];
  /** By field name. */
  readonly problems: Readonly<Record<string, string | undefined>>;
  /** Whether the daemon has a mail server; undefined while unknown. */
  readonly canMail: boolean | undefined;
  readonly onChange: (some: Partial<Draft>) => void;
}

/** The fields of a new rule. */
export function RuleFields(props: Props) {
  const { draft, metrics, problems, canMail, onChange } = props;
  const { type, limit } = draft;
  return (
    <>
      <NameField
        name={draft.name}
        problem={problems['name']}
        onName={(name) => {
          onChange({ name });
        }}
      />
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
          metrics={metrics}
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
      <WindowFields type={type} draft={draft} problems={problems} onChange={onChange} />
      <NoticeFields draft={draft} problems={problems} canMail={canMail} onChange={onChange} />
    </>
  );
}

/** The name of a rule. */
export function NameField({
  name,
  problem,
  onName,
}: {
  readonly name: string;
  readonly problem: string | undefined;
  readonly onName: (name: string) => void;
}) {
  return (
    <TextField
      label="Name"
      hint="Optional; shown in lists and notifications"
      maxLength={200}
      value={name}
      problem={problem}
      onText={onName}
    />
  );
}

function TargetFields({ draft: { of, agent, service }, services, problems, onChange }: Props) {
  return (
    <>
      <SelectField
        label="Target"
        value={of}
        options={{ agent: 'One agent', all: 'All agents together', service: 'Service' }}
        onText={(text) => {
          onChange({ of: text as Draft['of'] });
        }}
      />
      {of === 'agent' && (
        <AgentField
          agent={agent}
          problem={problems['agent_id']}
          onPick={(id) => {
            onChange({ agent: id });
          }}
        />
      )}
      {of === 'service' && (
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
    </>
  );
}

/** An agent found by part of its name. */
function AgentField({
  agent,
  problem,
  onPick,
}: {
  /** Empty for none. */
  readonly agent: string;
  readonly problem: string | undefined;
  readonly onPick: (id: string) => void;
}) {
  const name = useAgentName(agent);
  const [isOpen, setOpen] = useState(false);
  /** Undefined while the field shows the picked agent. */
  const [typed, setTyped] = useState<string>();
  const isTyped = typed !== undefined && typed.trim() !== '';
  const { found, isCurrent } = useSuggestions(isOpen ? 'agent' : undefined, typed ?? '');
  const close = (): void => {
    setOpen(false);
    setTyped(undefined);
    box.reset();
  };
  const pick = (at: number): void => {
    const picked = found[at];
    if (!picked) return;
    onPick(picked.value);
    close();
  };
  const box = useListbox(found.length, isTyped ? 0 : -1, pick, close);
  /** Opens the suggestions. The name is selected so that typing replaces it. */
  const open = ({ currentTarget }: SyntheticEvent<HTMLInputElement>): void => {
    setOpen(true);
    if (typed === undefined) currentTarget.select();
  };
  return (
    <div>
      <TextField
        {...box.field}
        label="Agent"
        hint={
          isCurrent && isTyped && found.length === 0 ? 'No agent with this name' : 'Type a part of the name'
        }
        placeholder={name}
        value={typed ?? name}
        problem={problem}
        onFocus={open}
        onClick={open}
        onBlur={close}
        onKeyDown={(event) => {
          box.field.onKeyDown(event);
          if (event.key === 'ArrowDown') setOpen(true);
          // Open suggestions: Enter without a selection must not submit the form.
          if (event.key === 'Enter' && isOpen) event.preventDefault();
        }}
        onText={(text) => {
          setOpen(true);
          setTyped(text);
          box.reset();
        }}
      />
      <Suggestions label="Agents" items={found} box={box} />
    </div>
  );
}

/** The window of a rule and the runs that it needs, if its type has them. */
export function WindowFields({
  type,
  draft: { window, minimum },
  problems,
  onChange,
}: {
  readonly type: RuleType;
  readonly draft: Pick<Draft, 'window' | 'minimum'>;
  readonly problems: Props['problems'];
  readonly onChange: (some: Partial<Pick<Draft, 'window' | 'minimum'>>) => void;
}) {
  if (!WINDOWED.has(type)) return null;
  return (
    <>
      <SelectField
        label="Window"
        hint={`${type === 'score_threshold' ? 'Scores' : 'Runs'} of this period are evaluated together`}
        value={window}
        options={{ '': 'Default of the daemon', ...WINDOWS }}
        problem={problems['window_minutes']}
        onText={(text) => {
          onChange({ window: text });
        }}
      />
      {type !== 'score_threshold' && (
        <TextField
          label="Minimum runs"
          hint="With fewer runs in the window, the alert does not fire. Empty: as configured, usually 1"
          inputMode="numeric"
          value={minimum}
          problem={problems['min_samples']}
          onText={(text) => {
            onChange({ minimum: text });
          }}
        />
      )}
    </>
  );
}
